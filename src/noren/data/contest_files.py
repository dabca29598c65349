"""The official text formats of PWS Cup 2016, 2017 and 2018, read into columns and written back byte for byte.

======  =======================================================================================================
2018    ``T`` purchases; ``A`` released cells in T's row order (``[a;b]``, ``{a;b}``, ``*``, a deleted row is all
        ``*``); ``A'`` what is published: deleted rows gone, lines sorted by code point; ``F``, ``F'`` pseudonym and
        customer; ``R`` the number of hits that makes a guess effective
2017    ``T`` purchases; ``M`` customers; ``AT`` released rows in T's order (deleted: ``DEL,,,,,,``); ``S`` what is
        published; ``F``, ``F̂`` customer and its pseudonym in each of twelve months (``DEL``: none), with or without the
        number of lines above; ``Tα`` what an attacker knows: some rows of T, items cut to two characters
2016    ``T`` purchases; ``M`` customers
======  =======================================================================================================

No header, no quotes, comma-separated.

Guesses of 2018 and about other histories: ``pseudonym,customer``, surest first; ``pseudonym,customer,period`` where
the guess tells the periods. Guesses about tables: ``row,person``, a public row and an original one, both counted from
1. Guesses of 2017: F̂, one line per customer with the pseudonym it is thought to have in each month.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from noren.data.cells import cell_ends
from noren.data.formats.files import writing_file
from noren.data.formats.parse import CellPlace, parse_cells, parse_values
from noren.data.formats.render import Spelling, cell_text, file_text, lines_of
from noren.data.formats.source import Source, SourceLike
from noren.data.formats.text_files import arrangement, text_blocks
from noren.data.formats.text_layout import TextForm, neutral_cells
from noren.data.frames import History, Records, Table
from noren.data.periods import periods_of
from noren.data.schema import Column, Role, Schema, TextLayout
from noren.errors import FileError, FormatError, ParameterError, ValueInCellError
from noren.tables import Texts

say = Texts(__name__)

MONTHS = ("2010/12", *(f"2011/{m}" for m in range(1, 12)))
_LAYOUT = TextLayout(delimiter=",", header=False, encoding="utf-8")
SUPPRESSED = "*"
DELETED = "DEL"
"""The customer cell of a deleted row in the formats of 2016 and 2017."""
_PLAIN = Spelling()
_BIRTHDAY = {"type": "date", "format": "%Y/%m/%d"}
_MASTER = Schema.of(
    {"name": "master", "kind": "table", "columns": {"customer": {}, "sex": {}, "birthday": _BIRTHDAY, "country": {}}}
)


# --- rows: T, A, A', AT, S, Tα ------------------------------------------------------------------------------


def read_rows(source: SourceLike, schema: Schema) -> History:
    """Read ``T``, ``A``, ``A'``, ``AT``, ``S`` or ``Tα``.

    Columns that hold a generalised cell anywhere become typed generalised columns, the others stay exact. Deleted rows
    are rows of nulls.
    """
    source = Source.open(source)
    text, form = _texts(source, schema.names, schema)
    starred = schema.official == "pwscup2018"
    deleted = text[schema.role(Role.CUSTOMER).name] == DELETED
    if starred:
        deleted = text.select(pl.all_horizontal(pl.all() == "*")).to_series()
    columns: dict[str, pl.Series] = {}
    plain: list[Column] = []
    for column in schema.columns:
        values = text[column.name]
        if column.role != Role.CUSTOMER and starred and values.str.contains(r"^[*\[{]").any():
            columns[column.name] = parse_cells(values, column, source.path)
        else:
            plain.append(column)
    if plain:
        # of exact values only deleted rows may lack some
        some = schema.model_copy(update={"columns": tuple(c.model_copy(update={"optional": True}) for c in plain)})
        blank = text.select(
            pl.when(pl.lit(deleted)).then(pl.lit("")).otherwise(pl.col(c.name)).alias(c.name) for c in plain
        )
        columns |= parse_values(blank, some, CellPlace(source.path)).to_dict()
        empty = blank.select(pl.any_horizontal(pl.all() == "")).to_series() & ~deleted
        for at in empty.arg_true()[:1]:
            name = next(c.name for c in plain if blank[c.name][at] == "")
            raise ValueInCellError(say("value_missing"), file=source.path, row=at + 1, column=name)
    frame = pl.DataFrame([columns[name] for name in schema.names])
    history = History(frame, schema)
    spelling = Spelling.of(text, _canonical(history), form.newline, final_newline=form.final_newline)
    return replace(history, spelling=spelling)


def write_rows(history: History, path: str | Path) -> None:
    """Write a history in its official format, spelled as it was read."""
    write_lines(history.spelling.apply(_canonical(history)), path, history.spelling)


def published(history: History) -> History:
    """Return what the contest publishes of ``A``: deleted rows removed, lines sorted by code point (``A'``)."""
    rows = lines_of(history.spelling.apply(_canonical(history))).to_frame().with_row_index("row")
    live = rows.filter(history[Role.CUSTOMER].is_not_null()).sort("line", maintain_order=True)
    remaining = history.take(live["row"])
    return replace(remaining, spelling=replace(remaining.spelling, newline="\n", final_newline=True))


def _canonical(history: History) -> pl.DataFrame:
    """Return every cell's canonical text; a suppressed cell is ``*`` (2018), a deleted row ``DEL,,,,,,`` (2017)."""
    frame, schema = history.frame, history.schema
    texts = frame.select(cell_text(pl.col(c.name), c, frame.schema[c.name]).alias(c.name) for c in schema.columns)
    if schema.official == "pwscup2018":
        return texts.fill_null("*")
    customer = schema.role(Role.CUSTOMER).name
    return texts.with_columns(pl.col(customer).fill_null(DELETED)).fill_null("")


# --- the small files: M, F, F', F̂ ---------------------------------------------------------------------------


def read_master(source: SourceLike) -> pl.DataFrame:
    """Read ``M``: customer, sex, birthday, country."""
    source = Source.open(source)
    return parse_values(_texts(source, _MASTER.names)[0], _MASTER, CellPlace(source.path))


def read_pairs(source: SourceLike) -> pl.DataFrame:
    """Read ``F`` or ``F'`` of 2018: pseudonym, customer; a third column is the period. An empty file names nobody."""
    names, source = ("pseudonym", "customer", "period"), Source.open(source)
    if source.kind == "text" and source.size == 0:
        return pl.DataFrame(schema=dict.fromkeys(names[:2], pl.String))
    cells = len(source.text_form(_LAYOUT, quoting=False).first_line)
    return _texts(source, names if cells == 3 else names[:2])[0]


def read_months(source: SourceLike) -> pl.DataFrame:
    """Read ``F`` or ``F̂`` of 2017: customer, then a pseudonym or ``DEL`` (null here) for each month.

    The attack scripts of the contest print the number of lines above them; it is passed over.
    """
    source = Source.open(source)
    first = source.text_form(_LAYOUT, quoting=False).first_line
    counted = len(first) == 1 and re.fullmatch("[0-9]+", first[0]) is not None
    text, _form = _texts(source, ("customer", *MONTHS), skip=int(counted))
    return text.with_columns(pl.when(pl.col(m) != DELETED).then(pl.col(m)).alias(m) for m in MONTHS)


def write_pairs(pairs: pl.DataFrame, path: str | Path) -> None:
    """Write ``F`` or ``F'``: two columns as they are."""
    write_lines(pairs.select(pl.all().cast(pl.String)), path)


def write_months(months: pl.DataFrame, path: str | Path) -> None:
    """Write ``F`` or ``F̂`` of 2017."""
    write_lines(months.select("customer", pl.col(MONTHS).fill_null(DELETED)), path)


# --- lines -----------------------------------------------------------------------------------------------------------


def write_lines(texts: pl.DataFrame, path: str | Path, spelling: Spelling = _PLAIN) -> None:
    """Write text columns as comma-separated lines, whole or not at all."""
    lines = lines_of(texts.fill_null("")).to_list()
    content = spelling.newline.join(lines) + (spelling.newline if spelling.final_newline and lines else "")
    with writing_file(path) as aside:
        aside.write_bytes(content.encode())


def _texts(
    source: Source, names: Iterable[str], schema: Schema | None = None, *, skip: int = 0
) -> tuple[pl.DataFrame, TextForm]:
    """Read all cells as text, refusing a byte order mark, quotes as syntax, and ragged rows."""
    path, form = source.path, source.text_form(_LAYOUT, quoting=False, skip=skip)
    if form.encoding != "utf-8":
        raise FormatError(say("byte_order_mark"), file=path, row=1)
    if form.mixed_newlines:
        raise FormatError(say("mixed_line_ends"), file=path)
    names = tuple(names)
    expected = schema or Schema(kind="table", columns=tuple(Column(name=n) for n in names))
    arrangement(source, form, expected)
    blocks = [block for _row, block in text_blocks(source, form, empty_lines="none")]
    if not blocks:
        raise FileError(say("file_holds_no_rows"), file=path)
    text = pl.concat(blocks)
    return text.rename(dict(zip(text.columns, names, strict=True))), form


@dataclass(frozen=True)
class GuessFile:
    """A guess as a file holds it.

    Attributes
    ----------
    pairs
        ``pseudonym``, ``customer``, ``score`` (1: files do not tell) and, where the file tells it, ``period``.
    unlisted
        The customers that F̂ should have a line for and has not; the judges of 2017 refuse such a file.
    """

    pairs: pl.DataFrame
    unlisted: tuple[str, ...] = ()


def listed_customers(original: History) -> pl.Series:
    """Return the customers that a guess is about, in order of text: the master's where there is one.

    Whoever buys something must be in the master, or nobody could say whether he was named.
    """
    bought = original.customers.cast(pl.String)
    if original.master is None:
        return bought.sort().alias("customer")
    listed = original.master["customer"].cast(pl.String).drop_nulls().unique().sort()
    unknown = bought.filter(~bought.is_in(listed.implode()))
    if len(unknown):
        raise ParameterError(say("master_incomplete", count=len(unknown), customer=unknown[0]))
    return listed.alias("customer")


# --- writing -------------------------------------------------------------------------------------------------


def write_guess(pairs: pl.DataFrame, path: Path, original: Records, public: Records) -> Path:
    """Write a guess in the format of the original's schema and return the path."""
    if original.schema.official == "pwscup2017" and isinstance(original, History) and isinstance(public, History):
        months = _by_month(pairs, public)
        others = months.filter(~pl.col("period").is_in(MONTHS))
        if len(others):
            raise ParameterError(say("period_outside", period=others["period"][0], first=MONTHS[0], last=MONTHS[-1]))
        write_months(_spread(months, listed_customers(original)), path)
    elif "row" in pairs.columns:
        write_pairs(pairs.select("row", "person"), path)
    elif "period" in pairs.columns:
        write_lines(pairs.select("pseudonym", "customer", "period").drop_nulls(), path)
    else:
        write_pairs(pairs.select("pseudonym", "customer"), path)
    return path


def write_truth(pseudonyms: pl.DataFrame, path: Path, public: History) -> Path:
    """Write who is behind each pseudonym in the contest's format (F), and return the path; months that F has, alone."""
    if public.schema.official == "pwscup2017":
        months = _by_month(pseudonyms.with_columns(pl.col("pseudonym", "customer").cast(pl.String)), public)
        everyone = pseudonyms["customer"].cast(pl.String)
        if public.master is not None:
            everyone = pl.concat([everyone, public.master["customer"].cast(pl.String)])
        everyone = everyone.drop_nulls().unique().sort().alias("customer")
        write_months(_spread(months.filter(pl.col("period").is_in(MONTHS)), everyone), path)
    else:
        write_pairs(pseudonyms.select("pseudonym", "customer"), path)
    return path


def write_candidates(pairs: pl.DataFrame, path: Path) -> Path:
    """Write all candidates of a guess with their scores and ranks, which the contests' formats have no room for."""
    with writing_file(path) as aside:
        pairs.write_parquet(aside)
    return path


def _by_month(pairs: pl.DataFrame, public: History) -> pl.DataFrame:
    """Return pairs with their months: as the guess says, else the months in which the pseudonym bought something."""
    if "period" in pairs.columns:
        return pairs
    # of an interval, the months in which it begins and ends
    months = map(periods_of, cell_ends(public[Role.DATE]))
    seen = pl.concat(pl.DataFrame({"pseudonym": public[Role.CUSTOMER], "period": month}) for month in months)
    seen = seen.drop_nulls().unique().filter(pl.col("period").is_in(MONTHS))
    return pairs.join(seen, on="pseudonym", how="inner", maintain_order="left")


def _spread(pairs: pl.DataFrame, everyone: pl.Series) -> pl.DataFrame:
    """Spread pairs over the months, one line for each customer."""
    first = pairs.unique(["customer", "period"], keep="first", maintain_order=True)
    wide = first.pivot("period", index="customer", values="pseudonym", aggregate_function="first")
    spread = everyone.to_frame().join(wide, on="customer", how="left", maintain_order="left")
    missing = [pl.lit(None, dtype=pl.String).alias(m) for m in MONTHS if m not in spread.columns]
    return spread.with_columns(missing).select("customer", *MONTHS)


# --- reading -------------------------------------------------------------------------------------------------


def read_guess(path: Path, original: Records) -> GuessFile:
    """Read a guess, surest first."""
    if original.schema.official == "pwscup2017" and isinstance(original, History):
        months = read_months(path)
        everyone = listed_customers(original)
        unlisted = everyone.filter(~everyone.is_in(months["customer"].implode()))
        long = months.unpivot(MONTHS, index="customer", variable_name="period", value_name="pseudonym")
        pairs = long.drop_nulls("pseudonym").select("pseudonym", "customer", "period")
    else:
        unlisted = pl.Series([], dtype=pl.String)
        pairs = read_pairs(path)
        if isinstance(original, Table):
            pairs = pairs.rename({"pseudonym": "row", "customer": "person"})
    return GuessFile(pairs.with_columns(score=pl.lit(1.0)), tuple(unlisted))


def read_guesses(path: str | Path, original: Records) -> dict[str, GuessFile]:
    """Read one guess, or every ``.csv`` in a folder, by the attack's name."""
    path = Path(path)
    if not path.is_dir():
        return {path.name.split(".")[0]: read_guess(path, original)}
    files = sorted(p for p in path.iterdir() if p.name.endswith((".csv", ".csv.gz")))
    if not files:
        raise FileError(say("no_guesses"), file=path)
    return {p.name.split(".")[0]: read_guess(p, original) for p in files}


# --- submissions to contests ------------------------------------------------------------------------------------------


def text_file(texts: pl.DataFrame, schema: Schema) -> bytes:
    """Return cells as a file for submission or publication: without header in an official format, else CSV."""
    if schema.official is None:
        return neutral_cells(texts).write_csv().encode()
    return "".join(f"{line}\n" for line in lines_of(texts)).encode()


def spelled_as_original(rows: Records, suppressed: str) -> pl.DataFrame:
    """Return cells in the spelling of the original's file."""
    if rows.schema.official is not None:
        return rows.texts(suppressed)
    dtypes = rows.frame.schema
    cells = (cell_text(pl.col(c.name), c, dtypes[c.name], file_text).alias(c.name) for c in rows.schema.columns)
    return rows.frame.select(cells).fill_null(suppressed)
