#!/bin/sh
# Install Debian packages when this user may: as root, or by a sudo that asks nothing. Exit 1 when not.
set -eu
command -v apt-get >/dev/null || exit 1
if [ "$(id -u)" -eq 0 ]; then
  as_root=
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  as_root="sudo -n"
else
  exit 1
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install() {
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" >"$log" 2>&1
}
# A fresh machine's package lists are empty or old: refresh them only when the first try fails.
install "$@" || { $as_root apt-get update -q >"$log" 2>&1 && install "$@"; } || {
  tail -n 5 "$log" >&2
  exit 1
}
