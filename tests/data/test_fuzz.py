"""Damaged files: every reader answers with a result or with a Noren error, never anything else, and leaves no file.

Small valid files are damaged by a seeded generator (bits flipped, bytes put in and taken out, slices repeated, the end
cut off, tokens that mean something to a reader spliced in). Archives are damaged inside, too: a flipped bit of a zip
archive seldom gets past its checksum.
"""

from __future__ import annotations

import datetime as dt
import gzip
import io
import random
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest

from noren.data.contest_files import read_master, read_months, read_pairs, read_rows
from noren.data.formats.source import Source
from noren.data.frames import Table
from noren.data.guessing.schema_guess import guess_schema
from noren.data.reading import convert, read, write
from noren.data.release import Release, Statement
from noren.data.schema import Schema
from noren.errors import NorenError

SHARDS = 4
TOKENS = [
    *rb"""[ ] {;} {a;b} [2;1] * *,*,*,*,* DEL , ,,, ; | = # ' " "" \"\"\" \ \u0000 [[ {} [] ^a$""".split(),
    *b"-1 1e999 nan inf 0x1F 2010/2/30 -2010/1/1 +12010/1/1 25:00 true < > &lt; PAR1".split(),
    *(b"\0", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\xe9", b"\t", b"\r", b"\n", b"\r\n", b"\n\n", b" ", b"\x1f\x8b"),
    *(b"9" * 25, b"9" * 5000, b"\xff\xff\xff\xff\x0f", b"\x80" * 9 + b"\x01", b"\x7f\xff\xff\xff", b"PK\x03\x04"),
    *("あ１\u2028".encode(), "顧客".encode("cp932"), b'r="XFD1048576"'),
]


def damaged(seed: bytes, dice: random.Random) -> bytes:
    """Return ``seed`` with one to six things wrong with it."""
    content = bytearray(seed)
    for _ in range(dice.choice((1, 1, 1, 2, 3, 6))):
        size = len(content)
        at, other = dice.randrange(size + 1), dice.randrange(size + 1)
        match dice.randrange(8):
            case 0 if size:
                content[at % size] ^= 1 << dice.randrange(8)
            case 1:
                content[at:at] = dice.randbytes(dice.randrange(1, 4))
            case 2:
                del content[at : at + dice.choice((1, 1, 2, 8, 40))]
            case 3:
                content[at:at] = bytes(content[min(at, other) : max(at, other)][:200]) * dice.choice((1, 2, 5))
            case 4:
                del content[at:]
            case 5:
                content[at:at] = dice.choice(TOKENS)
            case 6 if size:
                content[at % size] = dice.choice((0, 10, 13, 34, 44, 127, 128, 255))
            case _:
                token = dice.choice(TOKENS)
                content[at : at + len(token)] = token
    return bytes(content)


def damaged_archive(seed: bytes, dice: random.Random) -> bytes:
    """Return a zip archive with one member damaged, its checksum right again."""
    with zipfile.ZipFile(io.BytesIO(seed)) as whole:
        members = [(info.filename, whole.read(info)) for info in whole.infolist()]
    wanted = dice.choice([i for i, (name, _content) in enumerate(members) if name.startswith("xl/")])
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for i, (name, content) in enumerate(members):
            archive.writestr(name, damaged(content, dice) if i == wanted else content)
    return packed.getvalue()


# --- small valid files -----------------------------------------------------------------------------------------------

PURCHASES = Schema.of(
    {"name": "shop", "columns": {r: {"role": r} for r in ("customer", "date", "item", "price", "quantity")}}
)
ROWS_2018 = b"""12583,2010/12/1,22728,3.75,24
7,[2010/12/01;2011/1/2],{22728;85123A},[2.1;2.10],[1;12]
*,*,*,*,*
007,*,*,*,3.0
"""
ROWS_2017 = b"""12583,0,2010/12/1,8:45,22728,3.75,24
DEL,,,,,,
P7,0,2011/01/02,18:05,85,2.10,1
"""
TABLE = Schema.of(
    {
        "kind": "table",
        "columns": {
            "id": {"role": "identifier"},
            "born": {"role": "quasi", "type": "date"},
            "seen": {"role": "quasi", "type": "datetime", "optional": True},
            "at": {"role": "quasi", "type": "time", "optional": True},
            "age": {"role": "quasi", "type": "integer", "minimum": 0, "optional": True},
            "pay": {"role": "sensitive", "type": "decimal", "width": 0.01},
            "sex": {"role": "quasi", "domain": ["f", "m"]},
        },
    }
)
PEOPLE = Table.of(
    {
        "id": ["007", "7", "佐藤"],
        "born": [dt.date(1980, 1, 2)] * 3,
        "seen": [dt.datetime(2011, 1, 2, 3, 4, 5), None, dt.datetime(2011, 1, 2)],
        "at": [dt.time(8, 45), dt.time(23, 59, 59), None],
        "age": [30, None, 31],
        "pay": [1.5, 2.25, 1e6],
        "sex": ["f", "m", "f"],
    },
    TABLE,
)


@cache
def saved(ending: str) -> bytes:
    """Return a small table in the format of ``ending``."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path = Path(folder) / f"people{ending}"
        write(PEOPLE, path)
        return path.read_bytes()


@cache
def generalised_parquet() -> bytes:
    content = io.BytesIO()
    frame = pl.DataFrame(
        {
            "range": [{"lo": 1, "hi": 2}, None],
            "set": pl.Series([["a"], ["a", "b"]], dtype=pl.List(pl.Enum(["a", "b"]))),
            "kind": pl.Series(["u", "v"], dtype=pl.Categorical),
            "bytes": [b"\xff", b""],
        }
    )
    pq.write_table(frame.to_arrow(), content, compression="gzip", data_page_version="2.0")
    return content.getvalue()


@cache
def release_part(name: str) -> bytes:
    """Return one file of a small release folder."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        (Path(folder) / "T.csv").write_bytes(b"a,2010/12/1,x,1,2\n" * 4)
        (Path(folder) / "A.csv").write_bytes(ROWS_2018)
        original, aligned = (read_rows(Path(folder) / f, Schema.preset("pwscup2018")) for f in ("T.csv", "A.csv"))
        release = Release.of_aligned(original, aligned, Statement("test", {"k": 3}, "nothing"), seed=5)
        release.save(Path(folder) / "release")
        return (Path(folder) / "release" / name).read_bytes()


RELEASE_PARTS = (
    "public.parquet",
    "statement.json",
    "secret/run.json",
    "secret/pseudonyms.parquet",
    "secret/origin.parquet",
)
CSV_SEEDS = (
    b'customer,date,item,price,quantity\n007,2010/12/1,x,1.5,2\n7,2010-12-02,"y, ""z""",2,3\n',
    "customer;date;item;price;quantity\r\n顧客;2010/12/1;商品;1;2\r\nb;2011/1/2;y;3.25;1\r\n".encode("cp932"),
    "\ufeffquantity\tprice\titem\tdate\tcustomer\r1\t2.5\té\t2010/12/1\ta\r".encode(),
    b'customer|date|item|price|quantity\n\xe9a|2010/12/1|x|1.5|2\nb|2010/12/1|"x\ny"|1.5|2',
    b"7,2010/12/1,x,1.5,2\n7,2010/12/1,x,1.5,2\n",
    gzip.compress(b"customer,date,item,price,quantity\na,2010/12/1,x,1.5,2\n", mtime=0),
)


@dataclass(frozen=True)
class Reader:
    """One way in: the valid files it reads, what it is given, how the file is named, and how many to damage."""

    seeds: Callable[[], tuple[bytes, ...]]
    read: Callable[[Path], object]
    name: str
    archive: bool = False
    per_shard: int = 400


def _convert(path: Path) -> object:
    return convert(path, path.parent / "out.parquet", PURCHASES)


def _release(name: str) -> Callable[[Path], object]:
    def load(path: Path) -> object:
        folder = path.parent / "release"
        if not folder.exists():
            (folder / "secret").mkdir(parents=True)
            for part in RELEASE_PARTS:
                (folder / part).write_bytes(release_part(part))
        (folder / name).write_bytes(path.read_bytes())
        return Release.load(folder).aligned().lines()

    return load


READERS = {
    "scan": Reader(lambda: CSV_SEEDS, lambda path: Source.open(path).text_form(), "shop.csv"),
    "guess csv": Reader(lambda: CSV_SEEDS, guess_schema, "shop.csv", per_shard=60),
    "read csv": Reader(lambda: CSV_SEEDS, lambda path: read(path, PURCHASES), "shop.csv"),
    "read unknown csv": Reader(lambda: (*CSV_SEEDS, saved(".csv")), read, "shop.csv", per_shard=60),
    "convert csv": Reader(lambda: CSV_SEEDS, _convert, "shop.csv", per_shard=200),
    "rows 2016": Reader(
        lambda: (ROWS_2017.replace(b"DEL,,,,,,\n", b""),),
        lambda p: read(p, "pwscup2016").data.lines(),
        "T.csv",
        per_shard=200,
    ),
    "rows 2017": Reader(lambda: (ROWS_2017,), lambda p: read(p, "pwscup2017").data.lines(), "AT.csv", per_shard=200),
    "rows 2018": Reader(lambda: (ROWS_2018,), lambda p: read(p, "pwscup2018").data.lines(), "A.csv", per_shard=200),
    "pairs": Reader(lambda: (b"P1,12583\nP2,7\n", b"P1,12583\r\nP2,007"), read_pairs, "F.csv"),
    "months": Reader(lambda: (b"1\n7" + b",DEL" * 11 + b",P1\n", b"7" + b",P1" * 12 + b"\r\n"), read_months, "F.csv"),
    "master": Reader(lambda: ("7,f,1950/1/1,Others\n8,m,1960/01/31,日本\n".encode(),), read_master, "M.csv"),
    "read parquet": Reader(lambda: (saved(".parquet"),), lambda path: read(path, TABLE), "people.parquet"),
    "guess parquet": Reader(lambda: (saved(".parquet"), generalised_parquet()), read, "people.parquet"),
    "read excel": Reader(lambda: (saved(".xlsx"),), lambda path: read(path, TABLE), "people.xlsx"),
    "read workbook": Reader(lambda: (saved(".xlsx"),), read, "people.xlsx", archive=True, per_shard=50),
    "schema": Reader(
        lambda: (TABLE.to_toml().encode(), Schema.preset("pwscup2017").to_toml().encode()), Schema.load, "schema.toml"
    ),
    **{
        f"release {part}": Reader(lambda p=part: (release_part(p),), _release(part), "part", per_shard=120)  # type: ignore[misc]
        for part in RELEASE_PARTS
    },
}


def test_there_are_at_least_20_000_damaged_files() -> None:
    assert sum(reader.per_shard for reader in READERS.values()) * SHARDS >= 20_000


@pytest.mark.parametrize("reader", READERS)
def test_the_files_are_valid_before(reader: str, tmp_path: Path) -> None:
    for seed in READERS[reader].seeds():
        path = tmp_path / READERS[reader].name
        path.write_bytes(seed)
        if seed != generalised_parquet():  # which no table can hold
            READERS[reader].read(path)


@pytest.mark.parametrize("shard", [0, *(pytest.param(shard, marks=pytest.mark.slow) for shard in range(1, SHARDS))])
@pytest.mark.parametrize("reader", READERS)
def test_a_damaged_file_is_read_or_refused(reader: str, shard: int, tmp_path: Path) -> None:
    how = READERS[reader]
    dice = random.Random(f"{reader} {shard}")
    seeds = how.seeds()
    path = tmp_path / how.name
    read_or_refused = 0
    for _ in range(how.per_shard):
        seed = dice.choice(seeds)
        content = damaged_archive(seed, dice) if how.archive else damaged(seed, dice)
        path.write_bytes(content)
        try:
            how.read(path)
        except NorenError as error:
            said = str(error)
            assert all(line.isprintable() for line in said.split("\n  ")), (content, said)
            assert not list(tmp_path.glob("out*")), content
        except BaseException as error:
            error.add_note(f"the damaged file: {content!r}")
            raise
        for written in tmp_path.glob("out*"):
            written.unlink()
        read_or_refused += 1
        assert not list(tmp_path.glob(".*")), content
    assert read_or_refused == how.per_shard
