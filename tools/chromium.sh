#!/bin/sh
# See that the browser tests have their browser, and a font with Japanese for the pictures they take.
# Exit 1, with the cure in one line, when something is missing and may not be installed.
set -eu
cd "$(dirname "$0")/.."
missing=
command -v chromium >/dev/null || missing="chromium"
fc-list :lang=ja 2>/dev/null | grep -q . || missing="$missing fonts-ipafont-gothic"
[ -z "$missing" ] || sh tools/apt.sh $missing || {
  echo "browser tests need what is missing here; cure: sudo apt-get install" $missing >&2
  exit 1
}
