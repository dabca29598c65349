#!/bin/sh
# Run every test in $1 processes, with coverage. Without Chromium the browser tests stay out, and it is said;
# with CI=true that is a failure.
set -eu
cd "$(dirname "$0")/.."
selection=
if ! sh tools/chromium.sh; then
  [ "${CI:-}" != true ] || exit 1
  echo "browser tests are left out"
  selection="not browser"
fi
SHOW='^(SKIPPED|TOTAL|.*[0-9]+ passed)' \
  sh tools/quiet.sh tests .venv/bin/python -m pytest -q -n "${1:-2}" --dist worksteal -m "$selection" --cov --cov-report=term
