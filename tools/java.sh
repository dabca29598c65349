#!/bin/sh
# See that the tests on a Spark cluster have their Java. Exit 1, with the cure in one line, when it is missing and may
# not be installed.
set -eu
cd "$(dirname "$0")/.."
command -v java >/dev/null || [ -n "${JAVA_HOME:-}" ] || sh tools/apt.sh openjdk-17-jre-headless || {
  echo "tests on a Spark cluster need Java; cure: sudo apt-get install openjdk-17-jre-headless" >&2
  exit 1
}
