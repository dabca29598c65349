#!/bin/sh
# Check the types, then run every test in $1 processes, with coverage. Without Chromium the browser tests stay out, and
# it is said; with CI=true that is a failure.
set -eu
cd "$(dirname "$0")/.."
selection=
if ! sh tools/chromium.sh; then
  [ "${CI:-}" != true ] || exit 1
  echo "browser tests are left out"
  selection="not browser"
fi
cluster=tests/cluster
if ! sh tools/java.sh; then
  [ "${CI:-}" != true ] || exit 1
  echo "tests on a Spark cluster are left out"
  cluster=
fi
# Without byte code and compiled kernels every process that a test starts would make its own. So they are made once, beside
# the check of the types: kernels where one was edited since the setup; what is wrong is said by the tests.
unset PYTHONDONTWRITEBYTECODE
trap wait EXIT
.venv/bin/python -m noren.compile_ahead >/dev/null 2>&1 &
.venv/bin/python -m pytest -q --collect-only >/dev/null 2>&1 &
sh tools/quiet.sh mypy .venv/bin/mypy
wait
SHOW='^(SKIPPED|.*[0-9]+ passed)'
export SHOW
sh tools/quiet.sh tests .venv/bin/python -m pytest -q -n "${1:-2}" --dist worksteal -m "$selection" \
  --ignore=tests/cluster --cov --cov-report= --cov-fail-under=0
# One process for all of these: each would start a cluster of its own.
[ -z "$cluster" ] ||
  sh tools/quiet.sh "cluster tests" .venv/bin/python -m pytest -q $cluster --cov --cov-append --cov-report= --cov-fail-under=0
SHOW='^TOTAL' sh tools/quiet.sh coverage .venv/bin/coverage report
