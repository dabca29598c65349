#!/bin/sh
# Build the wheel, install it with everything it needs from the package index into an empty environment, and run the demo
# there. It downloads several hundred megabytes; `make test` does the same without a network (tests/test_wheel.py).
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-.venv/bin/python}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
if command -v uv >/dev/null 2>&1; then
  uv build --quiet --out-dir "$place/dist"
else
  "$python" -m hatchling build -d "$place/dist" >/dev/null
fi
"$python" -m venv "$place/environment"
"$place/environment/bin/python" -m pip install --quiet --disable-pip-version-check "$place"/dist/*.whl
cd "$place"
HOME=$place environment/bin/noren --version
HOME=$place environment/bin/noren demo --out demo --customers 60 --rows 2000 >/dev/null
[ -s demo/report.html ] && echo "$(basename dist/*.whl): installed, and the demo ran"
