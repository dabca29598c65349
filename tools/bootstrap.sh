#!/bin/sh
# Make the environment in the folder $1: a Python 3.11 to 3.14, what $2 needs of requirements.lock (core, servers or dev,
# each with those before it), the project itself.
# $PYTHON names an interpreter to use; otherwise the first that fits is taken. Plain pip, so its settings count.
set -eu
cd "$(dirname "$0")/.."
venv=${1:-.venv}
level=${2:-dev}
log=$(mktemp)
fetched=$(mktemp -d)
trap 'rm -rf "$log" "$fetched"' EXIT
trap 'exit 130' INT TERM

fits() { "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null; }

give_up() {
  echo "setup: $1" >&2
  exit 2
}

choose_python() {
  if [ -n "${PYTHON:-}" ]; then
    fits "$PYTHON" || give_up "$PYTHON is not a Python 3.11 to 3.14; name another with make setup PYTHON=…"
    echo "$PYTHON"
    return
  fi
  for candidate in python3 python3.13 python3.12 python3.11 python3.14; do
    if fits "$candidate"; then
      echo "$candidate"
      return
    fi
  done
  found=$(python3 --version 2>/dev/null || echo "no python3")
  give_up "Noren needs Python 3.11 to 3.14 and this machine has $found; install one, or name it with make setup PYTHON=…"
}

make_venv() { "$python" -m venv --clear "$venv" >"$log" 2>&1; }

# Debian and its children ship python3 without ensurepip, and then venv cannot work.
create() {
  make_venv && return
  rm -rf "$venv"
  if "$python" -c 'import ensurepip; ensurepip.version()' >/dev/null 2>&1; then
    cat "$log" >&2
    give_up "$python -m venv failed; its own words are above"
  fi
  package=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
  echo "setup: $python comes without ensurepip; installing $package if this user may" >&2
  sh tools/apt.sh "$package" || give_up "this Python cannot make environments; cure: sudo apt-get install $package"
  make_venv && return
  rm -rf "$venv"
  cat "$log" >&2
  give_up "$python -m venv still fails after installing $package; its own words are above"
}

# Write the pins of the level that are not installed yet to $fetched/needed.txt.
list_needed() {
  case $level in
    core) grep -v '#' requirements.lock ;;
    servers) grep -v '^#\|# dev' requirements.lock ;;
    *) grep -v '^#' requirements.lock ;;
  esac >"$fetched/all.txt"
  $pip freeze --all | sed 's/+.*//' >"$fetched/there.txt"
  awk 'FNR == NR { there[$0]; next } { pin = $0; sub(/ *[;#].*/, "", pin) } !(pin in there)' \
    "$fetched/there.txt" "$fetched/all.txt" >"$fetched/needed.txt"
}

# pip fetches one file after another; six at a time take half as long. `pip wheel` also builds what has no wheel here.
fetch() {
  awk -v into="$fetched" '{ print > (into "/part" NR % 6 ".txt") }' "$fetched/needed.txt"
  workers=
  for part in "$fetched"/part*.txt; do
    $pip wheel --no-deps --wheel-dir "$fetched" -r "$part" >"$part.log" 2>&1 &
    workers="$workers $!"
  done
  failed=
  for worker in $workers; do wait "$worker" || failed=yes; done
  [ -z "$failed" ] || {
    grep -h -i -A 3 '^error' "$fetched"/*.log >&2 || cat "$fetched"/*.log >&2
    give_up "the packages of requirements.lock could not be fetched; is a package index within reach?"
  }
}

loudly() {
  "$@" >"$log" 2>&1 || {
    grep -v '^WARNING' "$log" >&2
    give_up "pip failed; its own words are above"
  }
}

pip="$venv/bin/python -m pip --quiet --no-input --disable-pip-version-check"
fits "$venv/bin/python" && $pip --version >/dev/null 2>&1 || {
  python=$(choose_python)
  echo "setup: making $venv with $("$python" --version); the first time takes a minute" >&2
  create
}
list_needed
if [ -s "$fetched/needed.txt" ]; then
  fetch
  # Byte code is written when a module is first used: most of what is installed never is.
  loudly $pip install --no-deps --no-compile --no-index --find-links "$fetched" -r "$fetched/needed.txt"
fi
# hatchling is in the lock, so the build needs no environment of its own and no network.
loudly $pip install --no-deps --no-build-isolation --no-index --editable .
# Compiled once here, kernels are not compiled on first use. Without this everything works, and a first use waits; the
# demo alone needs few of them, and is done sooner if it compiles those itself.
[ "$level" != core ] || exit 0
echo "setup: compiling kernels ahead, once; about a minute on two cores" >&2
kernels=$("$venv/bin/python" -m noren.compile_ahead 2>"$log") && echo "setup: $kernels" >&2 || {
  tail -n 3 "$log" >&2
  echo "setup: kernels could not be compiled ahead, and will be on first use; the reason is above" >&2
}
