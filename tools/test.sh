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
# Without byte code and compiled kernels every process that a test starts would make its own. So collecting the tests and
# one small job make them once, beside the check of the types; what is wrong with tests or job is said by the tests.
unset PYTHONDONTWRITEBYTECODE
work=$(mktemp -d)
trap 'wait; rm -rf "$work"' EXIT
compile_kernels() {
  noren=.venv/bin/noren
  $noren sample --customers 30 --rows 600 --items 80 --seed 7 --schema pwscup2018 --out "$work/T.csv"
  $noren protect "$work/T.csv" --schema pwscup2018 --method generalize --k 2 --effort quick --out "$work/release"
  $noren attack "$work/T.csv" "$work/release" --schema pwscup2018 --with all --out "$work/guesses"
  $noren measure "$work/T.csv" "$work/release" --schema pwscup2018 --with all --guess "$work/guesses"
}
compile_kernels >"$work/log" 2>&1 &
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
