#!/bin/sh
# Gather the marked text of the package, merge it into each language's catalogue and compile that.
# Sorted by message and without places, so that moving code changes no catalogue.
set -eu
cd "$(dirname "$0")/.."
babel=.venv/bin/pybabel
locale=src/noren/locale
template=$(mktemp)
trap 'rm -f "$template"' EXIT
PYTHONPATH=. "$babel" extract --mapping tools/babel.cfg --no-location --sort-output --project noren \
  --copyright-holder "The Noren authors" -o "$template" src/noren
for language in ja; do
  catalogue=$locale/$language/LC_MESSAGES/noren.po
  if [ -e "$catalogue" ]; then
    "$babel" update --no-fuzzy-matching --ignore-obsolete --ignore-pot-creation-date \
      -i "$template" -d "$locale" -D noren -l "$language"
  else
    "$babel" init -i "$template" -d "$locale" -D noren -l "$language"
  fi
done
# not `pybabel compile`: it takes the "% i" of "95 % interval" for a placeholder; the tests compare the real ones
.venv/bin/python - "$locale"/*/LC_MESSAGES/noren.po <<'END'
import sys
from pathlib import Path
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
for name in sys.argv[1:]:
    catalogue = Path(name)
    with catalogue.open("rb") as texts, catalogue.with_suffix(".mo").open("wb") as compiled:
        write_mo(compiled, read_po(texts, locale=catalogue.parts[-3]))
END
