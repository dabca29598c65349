"""Nothing that identifies people leaves: every fragment through every method that fits, and the last look by itself."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.guard.fragments import FRAGMENTS

from noren import api
from noren.data.frames import History, Records, Table
from noren.data.guessing.schema_guess import guess_columns
from noren.data.public_part import identifying_in, kept_columns
from noren.data.reading import read
from noren.data.release import Release, Statement
from noren.data.schema import Kind, Role, Schema
from noren.errors import InputError, SchemaError
from noren.judgement.judging import judge
from noren.judgement.outcome import Outcome
from noren.judgement.verdict import Reason, VerdictStatus
from noren.methods import methods
from noren.papers.card import card_files
from noren.reports.report import report_html

PEOPLE = 30
GIVEN: dict[str, dict[str, Any]] = {
    "pseudo-records": {"clusters": 5},
    "generalize": {"k": 5, "effort": "quick"},
    "microaggregate": {"k": 5, "effort": "quick"},
    "generalize-by-count": {"k": 5},
    "mondrian": {"k": 5},
    "retention": {"k": 5, "domains": "data", "missing": "category", "reconstruct": "none"},
}
LEFT_OUT = {"chain", "hierarchy"}
"""A chain is made of the others; hierarchies are files of the steward's, and its rows leave as those of mondrian do."""
METHODS = [
    name
    for name in methods
    if name not in LEFT_OUT and name in {*GIVEN, "pseudonymize", "thin", "swap", "perturb", "monthly-pseudonyms"}
]


@cache
def original(number: int) -> Records:
    """Read a fragment as a steward would who answers no question."""
    fragment = FRAGMENTS[number]
    rows, customer = fragment.rows(PEOPLE), fragment.customer
    schema = guess_columns(rows, kind=None if customer else Kind(fragment.kind), customer=customer).schema
    bounds = {"minimum": 0.0, "maximum": 1e6}  # noise needs them
    columns = [c.model_copy(update=bounds if c.name in ("age", "年齢") else {}) for c in schema.columns]
    schema = schema.model_copy(update={"columns": tuple(columns)})
    return (History if schema.kind == Kind.HISTORY else Table).of(rows, schema)


def identifiers_of(data: Records) -> list[str]:
    """Return the values that must not leave: long enough not to be in a file by chance."""
    values = [data.frame[c.name].cast(pl.String).drop_nulls().unique() for c in data.schema.with_role(Role.IDENTIFIER)]
    if isinstance(data, History):
        values.append(data[Role.CUSTOMER].cast(pl.String).drop_nulls().unique())
    return [value for texts in values for value in texts.to_list() if len(value) >= 6 and not value.isdigit()]


def written(folder: Path) -> str:
    """Return everything that a published folder says, cells of the public part included."""
    texts = [path.read_text(encoding="utf-8") for path in folder.iterdir() if path.suffix != ".parquet"]
    cells = Release.load(folder).public.texts()
    return "\n".join([*texts, *("\n".join(cells[name].drop_nulls().to_list()) for name in cells.columns)])


LONG = ("generalize", "microaggregate")


@pytest.mark.parametrize("method", [pytest.param(m, marks=pytest.mark.slow if m in LONG else ()) for m in METHODS])
def test_no_identifier_leaves(method: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    tried = 0
    for number, fragment in enumerate(FRAGMENTS):
        data = original(number)
        if not methods[method].fits(data.schema):
            continue
        try:
            release = api.protect(data, method, seed=2**40 + number, **GIVEN.get(method, {}))
        except InputError as error:  # too few people, no such column: a message, and nothing of the data in it
            said = str(error)
        else:
            tried += 1
            folder = release.publish(tmp_path / str(number), card=card_files(release))
            said = written(folder)
            if tried % 6 == 1:  # a report takes half a second
                said += report_html(data, [Outcome("by hand", release)])
        leaked = [value for value in identifiers_of(data) if value in said]
        assert not leaked, (fragment.name, leaked[:3])
    assert tried >= 8, tried
    out, err = capfd.readouterr()
    assert (out, err) == ("", "")


# --- the last look ---------------------------------------------------------------------------------------------------

SHOP = {
    "customer": {"role": "customer"},
    "date": {"role": "date"},
    "item": {"role": "item"},
    "Customer Name": {"role": "other"},
}
NAMES = ["Claire Gute", "Sean Miller", "Emily Burns", "Eric Hoffmann", "Linda Brown", "Paul Smith"]


def shop(**about: Any) -> History:
    rows = {
        "customer": [f"CG-{number % 6:05}" for number in range(24)],
        "date": ["2024-01-02"] * 24,
        "item": ["a", "b", "c", "d"] * 6,
        "Customer Name": [NAMES[number % 6] for number in range(24)],
    }
    return History.of(rows, Schema.of({"columns": SHOP | ({"Customer Name": about} if about else {})}))


@pytest.mark.parametrize("method", ["pseudonymize", "thin", "perturb", "swap", "monthly-pseudonyms"])
def test_a_name_of_role_other_is_refused_with_the_cure_and_no_name(method: str) -> None:
    with pytest.raises(SchemaError) as caught:
        api.protect(shop(), method, seed=2**40)
    said = str(caught.value)
    assert "column Customer Name: it would be published and identifies people" in said
    assert 'role = "identifier"' in said
    assert '--keep "Customer Name"' in said
    assert not any(name in said for name in NAMES)


def test_an_identifier_of_a_history_is_dropped_by_whoever_makes_the_release() -> None:
    data = shop(role="identifier")
    aligned = replace(data, frame=data.frame.with_columns(customer=pl.lit("p")))
    release = Release.of_aligned(data, aligned, Statement("by hand"))
    assert "Customer Name" not in release.public.schema.names
    assert "Customer Name" not in release.public.frame.columns
    assert release.secret.digest == data.digest()


def test_a_column_kept_by_name_is_released_and_said() -> None:
    release = api.protect(shop(role="identifier"), "pseudonymize", seed=2**40, keep=["Customer Name"])
    assert release.public.frame["Customer Name"].n_unique() == 6
    assert kept_columns(release.statement) == {"Customer Name"}
    assert "Published although it identifies people: Customer Name." in judge(Outcome("", release)).sentence


def test_a_method_cannot_keep_a_name_by_its_own_statement() -> None:
    data = shop()
    with pytest.raises(SchemaError, match="identifies people"):
        Release.of_aligned(data, data, Statement("by hand", notes={"kept": ["Customer Name"]}))


def test_published_names_break_a_release_that_somebody_else_made() -> None:
    data = shop()
    release = Release.of_aligned(data, data, Statement("by hand"), scan=False)
    assert set(identifying_in(release.public)) == {"Customer Name"}
    found = judge(Outcome("", release, people=6))
    assert (found.status, found.reason) == (VerdictStatus.BROKEN, Reason.IDENTIFIED)
    with pytest.raises(SchemaError, match="identifies people"):
        release.publish(Path("nowhere"))


def test_a_cell_that_holds_the_name_of_its_own_row_is_found() -> None:
    data = shop(role="identifier")
    texts = pl.format("for {}, with love", pl.col("Customer Name")).alias("item")
    data = replace(data, frame=data.frame.with_columns(texts))
    with pytest.raises(SchemaError, match="22 of 22 cells contain the Customer Name of their row"):
        api.protect(data, "thin", seed=2**40)


def test_sets_of_names_of_a_table_are_refused() -> None:
    """COMPAS: first and last names repeat, and were released as sets of names that could be put together."""
    rows = {
        "first": [name.split()[0] for name in NAMES] * 4,
        "last": [name.split()[1] for name in reversed(NAMES)] * 4,
        "age": [str(20 + number % 3) for number in range(24)],
    }
    roles = {name: {"role": "quasi"} for name in rows}
    with pytest.raises(SchemaError, match="identifies people"):
        api.protect(Table.of(rows, Schema.of({"kind": "table", "columns": roles})), "mondrian", k=4, seed=2**40)


def test_a_file_with_names_goes_from_the_command_to_a_public_folder_without_them(noren: Any, tmp_path: Path) -> None:
    frame = shop().frame.rename({"customer": "Customer ID", "date": "Order Date", "item": "Product"})
    frame.write_csv(tmp_path / "orders.csv")
    assert read(tmp_path / "orders.csv").data.schema["Customer Name"].role == Role.IDENTIFIER
    words = ("--method", "generalize-by-count", "--k", 5, "--out", tmp_path / "release", "--json")
    made = noren("protect", tmp_path / "orders.csv", *words)
    assert made.json["left_out"] == ["Customer Name"]
    shown = noren("publish", tmp_path / "release", "--out", tmp_path / "public", "--json")
    assert shown.code == 0, shown.err
    said = written(tmp_path / "public") + made.out + made.err + shown.out + shown.err
    assert not any(name in said for name in NAMES)
