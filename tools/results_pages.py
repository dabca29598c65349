"""Put the last full reproduction into the documentation: its Markdown and its pictures.

noren reproduce all --out reproduced --force
python tools/results_pages.py reproduced docs/results
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path


def main(made: Path, pages: Path) -> None:
    """Replace the pages of the last run by those of this one."""
    files = sorted([*made.glob("*.md"), *made.glob("*.svg")])
    if (made / "index.md") not in files:
        sys.exit(f"{made} holds no reproduction; run noren reproduce all --out {made}")
    shutil.rmtree(pages, ignore_errors=True)
    pages.mkdir(parents=True)
    for file in files:
        shutil.copy(file, pages / file.name)
    print(f"{len(files)} files in {pages}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
