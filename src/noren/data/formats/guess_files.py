"""Guesses on disk, in the contests' formats: who an attacker thinks is behind each pseudonym.

2018 and other histories: ``pseudonym,customer``, surest first. 2017: F̂, one line per customer with the pseudonym it is
thought to have in each month (``DEL`` where none).
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from noren.data.formats.official import MONTHS, read_months, read_pairs, write_months, write_pairs
from noren.data.frames import History, Records
from noren.data.schema import Role
from noren.errors import FileError
from noren.i18n import _

__all__ = ["read_guess", "read_guesses", "write_guess"]


def write_guess(pairs: pl.DataFrame, path: Path, original: Records, public: Records) -> Path:
    """Write a guess in the format of the original's schema and return the path."""
    if original.schema.official == "pwscup2017" and isinstance(original, History) and isinstance(public, History):
        write_months(_by_month(pairs, original, public), path)
    else:
        write_pairs(pairs.select("pseudonym", "customer"), path)
    return path


def read_guess(path: Path, original: Records) -> pl.DataFrame:
    """Read a guess: ``pseudonym``, ``customer`` (2017: and ``period``), surest first."""
    if original.schema.official == "pwscup2017":
        months = read_months(path)[0].unpivot(MONTHS, index="customer", variable_name="period", value_name="pseudonym")
        pairs = months.drop_nulls("pseudonym").select("pseudonym", "customer", "period")
    else:
        pairs = read_pairs(path)[0]
    return pairs.with_columns(score=pl.lit(1.0))


def read_guesses(path: str | Path, original: Records) -> dict[str, pl.DataFrame]:
    """Read one guess, or every ``.csv`` in a folder, by the attack's name."""
    path = Path(path)
    if not path.is_dir():
        return {path.name.split(".")[0]: read_guess(path, original)}
    files = sorted(p for p in path.iterdir() if p.name.endswith((".csv", ".csv.gz")))
    if not files:
        raise FileError(_("the folder holds no guesses"), _("run noren attack with --out first"), file=path)
    return {p.name.split(".")[0]: read_guess(p, original) for p in files}


def _by_month(pairs: pl.DataFrame, original: History, public: History) -> pl.DataFrame:
    """Spread pairs over the months: as the guess says, else the months in which the pseudonym bought something."""
    if "period" not in pairs.columns:
        date = pl.col(public.schema.role(Role.DATE).name)
        month = date.dt.year().cast(pl.String) + "/" + date.dt.month().cast(pl.String)
        pseudonym = public.schema.role(Role.CUSTOMER).name
        seen = public.frame.select(pl.col(pseudonym).alias("pseudonym"), month.alias("period")).unique()
        pairs = pairs.join(seen, on="pseudonym", how="inner", maintain_order="left")
    people = original.customers if original.master is None else original.master["customer"]
    everyone = people.unique().sort().to_frame("customer")
    first = pairs.unique(["customer", "period"], keep="first", maintain_order=True)
    wide = first.pivot("period", index="customer", values="pseudonym", aggregate_function="first")
    spread = everyone.join(wide, on="customer", how="left", maintain_order="left")
    missing = [pl.lit(None, dtype=pl.String).alias(m) for m in MONTHS if m not in spread.columns]
    return spread.with_columns(missing).select("customer", *MONTHS)
