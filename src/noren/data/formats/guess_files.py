"""Guesses on disk, in the contests' formats: who an attacker thinks is behind each pseudonym.

2018 and other histories: ``pseudonym,customer``, surest first; ``pseudonym,customer,period`` where the guess tells the
periods. Tables: ``row,person``, a public row and an original one, both counted from 1. 2017: F̂, one line per customer
with the pseudonym it is thought to have in each month (``DEL`` where none).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from noren.data.cells import is_interval
from noren.data.formats.files import writing_file
from noren.data.formats.official import MONTHS, read_months, read_pairs, write_lines, write_months, write_pairs
from noren.data.frames import History, Records, Table
from noren.data.periods import periods_of
from noren.data.schema import Role
from noren.errors import FileError, ParameterError
from noren.i18n import _

__all__ = [
    "GuessFile",
    "listed_customers",
    "read_guess",
    "read_guesses",
    "write_candidates",
    "write_guess",
    "write_truth",
]


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
        raise ParameterError(
            _("{count:,} customers of the original are not in the master, the first is {customer}").format(
                count=len(unknown), customer=unknown[0]
            ),
            _("give the master of this original, or leave --master out"),
        )
    return listed.alias("customer")


# --- writing -------------------------------------------------------------------------------------------------


def write_guess(pairs: pl.DataFrame, path: Path, original: Records, public: Records) -> Path:
    """Write a guess in the format of the original's schema and return the path."""
    if original.schema.official == "pwscup2017" and isinstance(original, History) and isinstance(public, History):
        months = _by_month(pairs, public)
        others = months.filter(~pl.col("period").is_in(MONTHS))
        if len(others):
            raise ParameterError(
                _("the guess names the period {period}, and F̂ has the months {first} to {last}").format(
                    period=others["period"][0], first=MONTHS[0], last=MONTHS[-1]
                ),
                _("use another schema than pwscup2017 for other years and other periods"),
            )
        write_months(_spread(months, listed_customers(original)), path)
    elif "row" in pairs.columns:
        write_pairs(pairs.select(pl.col("row", "person").cast(pl.String)), path)
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
    dates = public[Role.DATE]
    # of an interval, the months in which it begins and ends
    ends = [dates.struct.field(end) for end in ("lo", "hi")] if is_interval(dates.dtype) else [dates]
    seen = pl.concat(pl.DataFrame({"pseudonym": public[Role.CUSTOMER], "period": periods_of(e)}) for e in ends)
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
        months = read_months(path)[0]
        everyone = listed_customers(original)
        unlisted = everyone.filter(~everyone.is_in(months["customer"].implode()))
        long = months.unpivot(MONTHS, index="customer", variable_name="period", value_name="pseudonym")
        pairs = long.drop_nulls("pseudonym").select("pseudonym", "customer", "period")
    else:
        unlisted = pl.Series([], dtype=pl.String)
        pairs = read_pairs(path)[0]
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
        raise FileError(_("the folder holds no guesses"), _("run noren attack with --out first"), file=path)
    return {p.name.split(".")[0]: read_guess(p, original) for p in files}
