#!/bin/sh
# Run a step: `quiet.sh LABEL COMMAND…`. One line when it works, all it said when it fails.
# Lines that match $SHOW are shown even then.
set -u
label=$1
shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT
start=$(date +%s)
"$@" >"$log" 2>&1
status=$?
if [ $status -ne 0 ]; then
  cat "$log"
  printf '%-14s failed\n' "$label"
  exit $status
fi
[ -z "${SHOW:-}" ] || grep -E "$SHOW" "$log"
printf '%-14s ok, %d s\n' "$label" $(($(date +%s) - start))
