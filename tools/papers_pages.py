"""Put the papers of the final data of PWS Cup 2018 into the documentation: one page for each k, in Japanese.

noren protect pwscup2018_final_T.csv --schema pwscup2018 --method generalize --k 3 --effort quick \\
  --seed 1234567890123456 --out k3
noren papers k3 --law appi --original pwscup2018_final_T.csv --schema pwscup2018 --lang ja --out papers-k3
python tools/papers_pages.py papers-k3 docs/packs/pwscup2018-k3.md 3
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

HEAD = """# 2018 年本戦データの文書一式（k = {k}）

PWS Cup 2018 本戦データを `noren protect --method generalize --k {k} --effort quick` で加工し、
`noren papers --law appi --lang ja` で作成した文書一式です（`tools/papers_pages.py` が生成）。
判定：{sentence}
"""


def lowered(document: str) -> str:
    """Return a document whose headings are those of a part of a page.

    >>> lowered("# A\\n\\n## B\\n")
    '## A\\n\\n### B\\n'
    """
    return "".join(f"#{line}" if line.startswith("#") else line for line in document.splitlines(keepends=True))


def main(made: Path, page: Path, k: str) -> None:
    """Write the page of a folder of papers."""
    listing = json.loads((made / "papers.json").read_text(encoding="utf-8"))
    parts = [HEAD.format(k=k, sentence=listing["verdict"]["sentence"])]
    parts += [lowered((made / f"{name}.md").read_text(encoding="utf-8")) for name in listing["documents"]]
    page.write_text("\n".join(parts), encoding="utf-8")
    print(f"{len(listing['documents'])} documents in {page}")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
