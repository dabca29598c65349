"""Read the papers of ten releases back against their public parts, in both laws and both languages.

python tools/papers_readback.py

Every document is read as Markdown: which columns it says are contained, empty or deleted, how many cells are of which
kind, how wide ranges are, how many rows, pseudonyms and empty cells there are, how many people are alike, and whose
unicity a number is. The same is counted here from ``public.parquet`` alone, by other means. Prints each contradiction,
and exits with 1 if there is one.
"""

from __future__ import annotations

import datetime as dt
import re
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

import noren
from noren.data.frames import History, Records
from noren.data.release import Release
from noren.i18n import LANGUAGES, use_language
from noren.inference.unicity import UnicityStep
from noren.judgement.numbers import number, percent
from noren.judgement.sentences import verdict_label
from noren.papers.card import card_files
from noren.papers.case import Case, case_of
from noren.papers.pack import Law, pack_files, pack_of

LAWS: tuple[Law, ...] = ("appi", "gdpr")
SAYS = {
    "en": {
        "contains": "The categories of information about individuals",
        "pseudonym": "pseudonym in place of the customer",
        "emptied": r"every cell of them is empty, so they contain no information: (.*)\.$",
        "counts": r"Public part: ([\d,]+) rows, ([\d,]+) columns with values, ([\d,]+) columns without any; "
        r"([\d,]+) empty cells; pseudonyms: ([\d,]+|none)\.",
        "deleted": "deleted: the release has no such column",
        "empty": "every cell is empty: the column says nothing",
        "replaced": "replaced by pseudonyms",
        "nothing": "the release has no row",
        "interval": r"([\d,]+) cells \([^)]*\) are ranges \(median width ([\d.,<]+)",
        "set": r"([\d,]+) cells \([^)]*\) are sets \(median ([\d.,<]+)",
        "suppressed": r"([\d,]+) cells \([^)]*\) are empty",
        "exact": r"([\d,]+) cells \([^)]*\) say one value",
        "invoice": " (invoice) is released",
        "register": r"pseudonyms in the public part: ([\d,]+|none)\)",
        "rows_deleted": r"([\d,]+) of ([\d,]+) rows were deleted",
        "least": r"(?:released of them, counted: |smallest class, counted: )([\d,]+)",
        "of_original": "In the original, before it was processed: ",
        "of_release": "In the release ",
        "unicity": r"known purchases? (?:single|leave)s?\b.*%",
        "none": "none",
        "promises": r"(?:nobody|no one) can be (?:re-)?identified|cannot be (?:re-)?identified|"
        r"(?<!whether the data )(?:is|are) (?:anonymous|safe)\b",
    },
    "ja": {
        "contains": "個人に関する情報の項目",
        "pseudonym": "顧客に代わる仮名（仮ID）",
        "emptied": r"全セルが空欄で、情報は含まれません：(.*)$",
        "counts": r"公開部分：([\d,]+) 行、値のある項目 ([\d,]+) 件、全セルが空欄の項目 ([\d,]+) 件。"
        r"空欄のセル：([\d,]+) 個。仮名：([\d,]+|なし)。",
        "deleted": "削除（リリースにこの項目はない）",
        "empty": "全セルが空欄（この項目は何も示さない）",
        "replaced": "仮名に置換",
        "nothing": "リリースに行がない",
        "interval": r"([\d,]+) セル（[^）]*）は区間（幅の中央値 ([\d.,<]+)",
        "set": r"([\d,]+) セル（[^）]*）は集合（要素数の中央値 ([\d.,<]+)",
        "suppressed": r"([\d,]+) セル（[^）]*）は空欄",
        "exact": r"([\d,]+) セル（[^）]*）は単一の値",
        "invoice": "（伝票）がリリースに含まれる",
        "register": r"公開部分の仮名：([\d,]+|なし)）",
        "rows_deleted": r"元の ([\d,]+) 行のうち ([\d,]+) 行を削除",
        "least": r"(?:数え上げ）：(?:準識別子がすべて同じ )?)([\d,]+) 人",
        "of_original": "加工前の元データでは：",
        "of_release": "リリースでは",
        "unicity": r"件の購買が知られると",
        "none": "なし",
        "promises": r"特定(?:でき|され)(?:ない|ません)|識別(?:でき|され)(?:ない|ません)(?!こと)|匿名です|安全です",
    },
}
"""What papers say, as patterns; ``promises`` are claims that no paper about an unsafe release may make."""


# --- ten releases -----------------------------------------------------------------------------------------------------


def releases() -> Iterator[tuple[str, Records, Release, bool]]:
    """Yield a name, the original, its release, and whether papers are written beside the original."""
    shop = noren.sample(customers=12, rows=120, items=20, seed=1, schema="pwscup2018")
    yield "generalize-by-count", shop, noren.protect(shop, "generalize-by-count", k=5, seed=1), True
    baskets = _baskets(shop)
    yield "empty columns", baskets, noren.protect(baskets, "generalize", k=3, effort="quick", seed=1), True
    yield "monthly pseudonyms", shop, noren.protect(shop, "monthly-pseudonyms", seed=1), True
    yield "chain", baskets, noren.protect(baskets, ["thin", "perturb", "monthly-pseudonyms"], seed=1), True
    tiny = noren.sample(customers=2, rows=7, items=5, seed=1, schema="pwscup2018")
    yield "two customers", tiny, noren.protect(tiny, "pseudonymize", seed=1), True
    yield "inserted rows, no original", shop, noren.protect(shop, "pseudo-records", clusters=3, seed=1), False
    people = _people({"name": "name", "age": "age", "town": "town", "illness": "illness"})
    yield "mondrian", people, noren.protect(people, "mondrian", k=5, l=2, seed=1), True
    yield "retention", people, noren.protect(people, "retention", rho=0.7, attributes=("age", "illness"), seed=1), True
    japanese = _people({"name": "氏名", "age": "年齢", "town": "市区町村", "illness": "病名"})
    made = noren.protect(japanese, "mondrian", k=4, quasi=("年齢",), identifiers="pseudonyms", seed=1)
    yield "Japanese names", japanese, made, True
    marked = _marked()
    yield "markup", marked, noren.protect(marked, "generalize-by-count", k=2, seed=1), True


def _baskets(shop: History) -> History:
    """Return purchases with columns that methods empty: an invoice, a shop, a note that nobody wrote."""
    rows = shop.frame.to_dict(as_series=False)
    rows |= {"basket_id": [f"B{i // 3}" for i in range(len(shop))], "shop": [f"S{i % 3}" for i in range(len(shop))]}
    rows["note"] = [None] * len(shop)
    roles = {"customer": "customer", "date": "date", "item": "item", "price": "price", "quantity": "quantity"}
    columns: dict[str, Any] = {name: {"role": role} for name, role in roles.items()}
    columns |= {
        "basket_id": {"role": "invoice"},
        "shop": {"role": "other"},
        "note": {"role": "other", "optional": True},
    }
    return History.of(rows, noren.Schema.of({"kind": "history", "columns": columns}))


def _people(names: dict[str, str]) -> Records:
    """Return a table of 40 people under these names of columns."""
    rows = {
        "name": [f"person {i}" for i in range(40)],
        "age": [20 + i % 8 for i in range(40)],
        "town": [("north", "south", "east")[i % 3] for i in range(40)],
        "illness": [("flu", "cold")[i // 8 % 2] for i in range(40)],
    }
    columns = {
        "name": {"role": "identifier"},
        "age": {"role": "quasi", "type": "integer", "minimum": 0, "maximum": 99},
        "town": {"role": "quasi", "domain": ["north", "south", "east"]},
        "illness": {"role": "sensitive", "domain": ["flu", "cold"]},
    }
    schema = noren.Schema.of({"kind": "table", "columns": {names[name]: about for name, about in columns.items()}})
    return noren.Table.of({names[name]: values for name, values in rows.items()}, schema)


def _marked() -> History:
    """Return purchases whose columns have names that mean something to Markdown and HTML."""
    who, day, item, price = "_who_ #1", 'da"te | <b>{x}', "*it* [a](b)", "`price` \\ ~1~"
    columns = {who: {"role": "customer"}, day: {"role": "date"}, item: {"role": "item"}, price: {"role": "price"}}
    rows = {
        who: ["a", "a", "b", "b", "c", "c", "d"],
        day: ["2020-01-01", "2020-01-02", "2020-01-01", "2020-01-05", "2020-02-01", "2020-02-03", "2020-02-03"],
        item: ["x", "y", "x", "z", "x", "y", "y"],
        price: [1.0, 2.0, 1.5, 2.0, 1.0, 4.0, 2.5],
    }
    return History.of(rows, noren.Schema.of({"kind": "history", "columns": columns}))


# --- the public part, counted from its file ---------------------------------------------------------------------------


@dataclass(frozen=True)
class PublicFile:
    """What stands in ``public.parquet``, read by another library than the papers use."""

    columns: dict[str, list[Any]]
    roles: dict[str, str]
    pseudonymous: frozenset[str]

    @classmethod
    def of(cls, release: Release, folder: Path) -> PublicFile:
        """Write and read the public part."""
        table = pq.read_table(release.save(folder) / "public.parquet")
        roles = {column.name: str(column.role) for column in release.public.schema.columns}
        replaced = {
            "customer",
            *(["identifier"] if release.statement.parameters.get("identifiers") == "pseudonyms" else []),
        }
        pseudonymous = frozenset(name for name, role in roles.items() if role in replaced)
        return cls({name: table[name].to_pylist() for name in roles}, roles, pseudonymous)

    @cached_property
    def rows(self) -> int:
        """How many rows there are."""
        return len(next(iter(self.columns.values())))

    @cached_property
    def contained(self) -> list[str]:
        """Columns with a value."""
        return [name for name, cells in self.columns.items() if any(cell is not None for cell in cells)]

    @cached_property
    def emptied(self) -> list[str]:
        """Columns without any value."""
        return [name for name in self.columns if name not in self.contained]

    def pseudonyms(self) -> int | None:
        """Return how many different pseudonyms there are; None where no column holds any."""
        names = {cell for name in self.pseudonymous for cell in self.columns[name] if cell is not None}
        return len(names) if self.pseudonymous else None

    def kinds(self, name: str) -> tuple[Counter[str], float | None]:
        """Return how many cells are of each kind, and the median extent of those that are ranges or sets."""
        counts: Counter[str] = Counter()
        extents = []
        for cell in self.columns[name]:
            if cell is None:
                counts["suppressed"] += 1
            elif isinstance(cell, dict) and cell["lo"] != cell["hi"]:
                counts["interval"] += 1
                width = cell["hi"] - cell["lo"]
                extents.append(width / dt.timedelta(days=1) if isinstance(width, dt.timedelta) else width)
            elif isinstance(cell, list) and len(cell) != 1:
                counts["set"] += 1
                extents.append(len(cell))
            else:
                counts["exact"] += 1
        return counts, statistics.median(extents) if extents else None

    def least(self, *, table: bool) -> int:
        """Return how many people share everything released of them; of a table, its quasi-identifiers."""
        if table:
            quasi = [self.columns[name] for name, role in self.roles.items() if role == "quasi"]
            return min(Counter(map(repr, zip(*quasi, strict=True))).values())
        customer = next(name for name, role in self.roles.items() if role == "customer")
        others = [cells for name, cells in self.columns.items() if name != customer]
        histories: dict[str, list[str]] = {}
        for who, row in zip(self.columns[customer], zip(*others, strict=True), strict=True):
            histories.setdefault(who, []).append(repr(row))
        return min(Counter(tuple(sorted(rows)) for rows in histories.values()).values())


# --- reading papers back ----------------------------------------------------------------------------------------------


@dataclass
class Readback:
    """What was compared, and what contradicts the public part."""

    releases: int = 0
    documents: int = 0
    files: int = 0
    compared: int = 0
    contradictions: list[str] = field(default_factory=list)
    place: str = ""

    def same(self, what: str, paper: object, public: object) -> None:
        """Compare one statement of a paper with the public part."""
        self.compared += 1
        if paper != public:
            self.contradictions.append(f"{self.place}: {what}: the paper says {paper!r}, the public part {public!r}")

    def paper(self, text: str, language: str, public: PublicFile, original: Records, case: Case) -> None:
        """Compare one document."""
        says, lines = SAYS[language], [_plain(line) for line in text.splitlines()]
        whole = "\n".join(lines)
        self.files += 1
        if says["contains"] in whole or f"- {says['pseudonym']}" in lines:
            self._categories(lines, says, public)
        for numbers in re.findall(says["counts"], whole):
            empty = sum(cells.count(None) for cells in public.columns.values())
            counted = (public.rows, len(public.contained), len(public.emptied), empty, public.pseudonyms())
            self.same("counts", tuple(_whole(n, says) for n in numbers), counted)
        for counted_pseudonyms in re.findall(says["register"], whole):
            self.same("pseudonyms", _whole(counted_pseudonyms, says), public.pseudonyms())
        for pair in re.findall(says["rows_deleted"], whole):
            deleted, every = pair if language == "en" else pair[::-1]
            released = public.rows - case.release.inserted_rows
            self.same("rows", (_whole(deleted, says), _whole(every, says)), (len(original) - released, len(original)))
        for least in re.findall(says["least"], whole):
            table = not isinstance(original, History)
            self.same("people who are alike", _whole(least, says), public.least(table=table))
        self._tables(text, says, public, original, case)
        self._unicity(lines, says, case)
        if not case.verdict.status.is_safe:
            label = verdict_label(case.verdict.status)
            self.same("stamp", label in (lines[2] if lines[2].startswith(">") else whole), True)
            self.same("promises", re.findall(says["promises"], whole), [])

    def _categories(self, lines: list[str], says: dict[str, str], public: PublicFile) -> None:
        items = [line.removeprefix("- ") for line in lines if line.startswith("- ")]
        customers = [name for name in public.contained if public.roles[name] == "customer"]
        others = [name for name in public.contained if name not in customers]
        self.same("pseudonyms contained", items.count(says["pseudonym"]), len(customers))
        listed = [item for item in items if item != says["pseudonym"] and re.search(r"[)）]$", item)]
        duties = [item for item in listed if re.search(r"Art\. ?\d+|第\d+条", item)]
        listed = [item for item in listed if item not in duties]
        names = [next((name for name in others if item.startswith(name)), item) for item in listed]
        self.same("columns contained", names, others)
        emptied = [names for line in lines for names in re.findall(says["emptied"], line)]
        self.same("columns emptied", emptied, [", ".join(public.emptied)] if public.emptied else [])

    def _tables(self, text: str, says: dict[str, str], public: PublicFile, original: Records, case: Case) -> None:
        rows = [_cells(line) for line in text.splitlines() if line.startswith("| ")]
        dropped = [name for name in original.schema.names if name not in public.columns]
        known = case.public.dropped is not None
        grid = {row[0]: row[2] for row in rows if len(row) in (3, 4) and row[0] in (*public.columns, *dropped)}
        if not grid:
            return
        self.same(
            "columns of the table", list(grid), [*public.columns, *(dropped if known and len(rows[0]) != 4 else [])]
        )
        for name, done in grid.items():
            if name in dropped:
                self.same(f"{name} deleted", done, says["deleted"])
                continue
            self.same(f"{name} not called deleted", says["deleted"] in done, False)
            self.same(f"{name} called empty", done == says["empty"], name in public.emptied)
            if name in public.emptied:
                continue
            if name in public.pseudonymous:
                self.same(f"{name} replaced", says["replaced"] in done, True)
                continue
            counts, extent = public.kinds(name)
            for kind in ("interval", "set", "suppressed", "exact"):
                match = re.search(says[kind], done)
                self.same(f"{name}: {kind} cells", _whole(match[1], says) if match else 0, counts[kind])
                if match and kind in ("interval", "set") and extent is not None:
                    self.same(f"{name}: extent", match[2], number(extent))
        for row in (row for row in rows if len(row) == 6 and row[0].startswith(("Item", "第"))):
            for name, done in grid.items():  # the table of the standard says of a column what the table of columns says
                at = row[3].find(f"{name}: ")
                if at >= 0 and (at == 0 or row[3][at - 2 : at] in ("; ", ": ", "目：")):
                    self.same(f"{row[0][:6]}, {name}", row[3][at + len(name) + 2 :].startswith(done), True)
                if f"{name}{says['invoice']}" in row[3]:
                    self.same(f"{name} released", name in public.contained, True)
            if row[0].startswith(("Item 5", "第5号")):
                self.same("columns of item 5", row[1], ", ".join(public.contained))

    def _unicity(self, lines: list[str], says: dict[str, str], case: Case) -> None:
        for line in lines:
            if not re.search(says["unicity"], line) or case.unicity is None:
                continue
            whose = [key for key in ("of_original", "of_release") if line.startswith(says[key])]
            self.same("whose unicity", len(whose), 1)
            facts = case.unicity["curve" if whose == ["of_original"] else "release"]
            step = [UnicityStep(**step) for step in facts if step["known"] <= 4][-1]
            self.same("unicity", re.findall(r"[<>]?[\d.]+%", line)[0], percent(step.unique))


def _whole(text: str, says: dict[str, str]) -> int | None:
    return None if text == says["none"] else int(text.replace(",", ""))


def _plain(line: str) -> str:
    return re.sub(r"\\([\\`*_\[\]<>|#~])", r"\1", line.replace("<br>", "\n"))


def _cells(line: str) -> list[str]:
    """Return the cells of a row; a bar in a cell is escaped."""
    return [_plain(cell) for cell in re.split(r"(?<!\\) \| ", line.removeprefix("| ").removesuffix(" |"))]


def read_back() -> Readback:
    """Write all papers and read them back."""
    done = Readback()
    with tempfile.TemporaryDirectory() as folder:
        for at, (name, original, release, beside) in enumerate(releases()):
            done.releases += 1
            public = PublicFile.of(release, Path(folder) / str(at))
            case = case_of(release, original if beside else None)
            for language in LANGUAGES:
                for law in LAWS:
                    done.documents += 1
                    with use_language(language):
                        files = dict(pack_files(pack_of(case, law), case))
                        for file in sorted(file for file in files if file.endswith(".md")):
                            done.place = f"{name}, {law}, {language}, {file}"
                            done.paper(files[file].decode(), language, public, original, case)
                with use_language(language):
                    done.place = f"{name}, card, {language}"
                    card = card_files(release, verdict=case.verdict)[f"card.{language}.md"].decode()
                    done.paper(card, language, public, original, case)
    return done


def main() -> int:
    """Print the figures."""
    done = read_back()
    for line in done.contradictions:
        print(line)
    of = f"{done.releases} release{'s' * (done.releases != 1)} × {len(LAWS)} laws × {len(LANGUAGES)} languages"
    print(f"{of}: {done.files} files with the data cards, {done.compared:,} statements compared")
    print(f"{done.documents} documents, {len(done.contradictions)} contradictions")
    return 1 if done.contradictions else 0


if __name__ == "__main__":
    sys.exit(main())
