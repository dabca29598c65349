#!/bin/sh
# Run one tier of the tests: `test.sh fast|slow|all [PROCESSES]`. "all" measures coverage. Browser tests need Chromium and
# Spark tests need Java: where one is missing and cannot be installed, its tests are left out; with CI=true that is a failure.
set -eu
cd "$(dirname "$0")/.."
tier=$1
processes=${2:-2}
case $tier in
  fast) selection="not slow" profile=fast coverage= ;;
  slow) selection="(slow or hypothesis)" profile=thorough coverage= ;;
  all) selection="(slow or not slow)" profile=thorough coverage="--cov --cov-report= --cov-fail-under=0" ;;
  *) echo "test.sh: the tier is fast, slow or all, not $tier" >&2 && exit 2 ;;
esac
leave_out() {
  [ "${CI:-}" != true ] || exit 1
  echo "$1 tests are left out"
  selection="$selection and not $1"
}
sh tools/chromium.sh || leave_out browser
sh tools/java.sh || leave_out spark
# Child processes of the tests share byte code and compiled kernels instead of making their own.
unset PYTHONDONTWRITEBYTECODE
.venv/bin/python -m noren.compile_ahead >/dev/null 2>&1 || true
export SHOW='^(SKIPPED|.*[0-9]+ passed)'
sh tools/quiet.sh "$tier tests" .venv/bin/python -m pytest -q -n "$processes" --dist worksteal \
  -m "$selection" --hypothesis-profile "$profile" $coverage
[ -z "$coverage" ] || SHOW='^TOTAL' sh tools/quiet.sh coverage .venv/bin/coverage report
