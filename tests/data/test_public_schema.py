"""What is published says nothing of the original but what its rows say: planted secrets are looked for in its bytes."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest

import noren
from noren.data.frames import History, Table
from noren.data.public_part import published_schema, published_statement
from noren.data.release import Release
from noren.data.schema import PRESETS, Schema
from noren.data.statement import Statement
from noren.methods.retention import Retention, protect_file

PEOPLE = [f"Tanaka-{number}" for number in range(6)]
OWN = Schema.of(
    {
        "name": "SECRETNAME-2024",
        "title": "SECRETTITLE: of the Tanaka case",
        "kind": "history",
        "guessed": True,
        "columns": {
            "who": {"role": "customer", "domain": [*PEOPLE, "SECRETPERSON"]},
            "day": {"role": "date", "minimum": dt.date(1987, 6, 5), "maximum": dt.date(2031, 2, 3)},
            "what": {"role": "item", "domain": ["SECRETITEM", "tea", "rice", "SECRETOTHER"]},
            "price": {"role": "price", "minimum": 0.25, "maximum": 98765.5},
            "quantity": {"role": "quantity", "minimum": 1.0, "maximum": 43210.0},
        },
    }
)
SECRETS = ("SECRET", "Tanaka", "1987", "2031", "98765", "43210", "guessed")


def told(folder: Path) -> bytes:
    """Return everything a folder says: bytes as they are, and the pages of Parquet files unpacked."""
    found = b""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "secret" not in path.parts:
            found += path.read_bytes()
            if path.suffix == ".parquet":
                table = pq.read_table(path)
                found += str(table.schema.metadata).encode() + str(table.to_pydict()).encode()
                pq.write_table(table, folder.parent / "plain", compression="none")
                found += (folder.parent / "plain").read_bytes()
                meta = pq.ParquetFile(path).metadata
                for column in range(meta.num_columns):
                    statistics = meta.row_group(0).column(column).statistics  # its text names its own address
                    found += b"" if statistics is None else str(statistics.to_dict()).encode()
    return found


def purchases() -> History:
    rows = {
        "who": PEOPLE * 2,
        "day": ["2011-01-02"] * 12,
        "what": ["tea", "rice"] * 5 + ["tea", "SECRETITEM"],
        "price": [1.0] * 12,
        "quantity": [2] * 12,
    }
    return History.of(pl.DataFrame(rows), OWN)


@pytest.mark.parametrize("how", ["save", "publish"])
def test_a_history_tells_no_name_that_was_declared(tmp_path: Path, how: str) -> None:
    original = purchases()
    hidden = pl.when(pl.col("what") != "SECRETITEM").then(pl.all())
    aligned = original.frame.with_columns(who="p" + pl.int_range(pl.len()).cast(pl.String) + pl.lit("x")).with_columns(
        hidden.name.keep()
    )
    release = Release.of_aligned(original, History(aligned, OWN), Statement("by hand"), seed=1)
    folder = getattr(release, how)(tmp_path / "out")
    said = told(folder)
    for secret in SECRETS:
        assert secret.encode() not in said, secret
    loaded = Release.load(folder).public
    assert loaded.schema.names == OWN.names
    assert [c.role for c in loaded.schema.columns] == [c.role for c in OWN.columns]
    assert loaded.schema["what"].domain == ("tea", "rice")  # in the steward's order, as far as it is shown
    assert loaded.lines().to_list() == release.public.lines().to_list()


@pytest.mark.parametrize(("method", "parameters"), [("generalize-by-count", {"k": 3}), ("pseudonymize", {})])
def test_methods_tell_no_name_that_was_declared(tmp_path: Path, method: str, parameters: dict[str, Any]) -> None:
    folder = noren.protect(purchases(), method, seed=3, **parameters).publish(tmp_path / "out", override="a test")
    said = told(folder)
    for secret in ("Tanaka", "SECRETNAME", "SECRETTITLE", "SECRETPERSON", "SECRETOTHER", "1987", "98765", "guessed"):
        assert secret.encode() not in said, secret


def test_identifiers_and_values_of_a_table_are_not_told(tmp_path: Path) -> None:
    schema = Schema.of(
        {
            "kind": "table",
            "columns": {
                "name": {"role": "identifier", "domain": ["SECRETPERSON", "ann"]},
                "age": {"role": "quasi", "type": "integer", "minimum": 18.0, "maximum": 93417.0},
                "illness": {"role": "sensitive", "domain": ["SECRETILLNESS", "cold", "flu"]},
            },
        }
    )
    people = Table.of({"name": ["ann", "ann"], "age": [25, 31], "illness": ["flu", "cold"]}, schema)
    public = Table(people.frame.with_columns(pl.lit("x").alias("name")), schema)
    folder = Release.of_aligned(people, public, Statement("by hand")).publish(tmp_path / "out")
    said = told(folder)
    for secret in ("SECRET", "ann", "93417"):
        assert secret.encode() not in said, secret
    assert Release.load(folder).public.schema["illness"].domain == ("cold", "flu")


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_public(name: str) -> None:
    schema = Schema.preset(name)
    assert published_schema(schema, Statement("by hand"), pl.DataFrame()) == schema
    renamed = schema.model_copy(update={"title": "SECRETTITLE"})
    assert published_schema(renamed, Statement("by hand"), pl.DataFrame()).title == ""


def test_retention_keeps_the_domains_that_its_promise_rests_on(tmp_path: Path) -> None:
    schema = Schema.of(
        {
            "name": "SECRETNAME",
            "title": "SECRETTITLE",
            "kind": "table",
            "columns": {
                "name": {"role": "identifier", "domain": ["SECRETPERSON", "ann"]},
                "sex": {"role": "quasi", "domain": ["f", "m", "unseen"]},
            },
        }
    )
    people = Table.of({"name": ["ann", "ann"] * 20, "sex": ["f", "m"] * 20}, schema)
    release = noren.protect(people, "retention", rho=0.999, seed=1)
    folder = release.publish(tmp_path / "out", override="a test")
    assert b"SECRET" not in told(folder)
    assert Release.load(folder).public.schema["sex"].domain == ("f", "m", "unseen")
    assert list(noren.reconstruct(folder).perturbation.sizes) == [3]
    (tmp_path / "t.csv").write_text("name,sex\n" + "ann,f\nann,m\n" * 20)
    protect_file(tmp_path / "t.csv", tmp_path / "stream", Retention(rho=0.5), schema, seed=1)
    assert b"SECRET" not in told(tmp_path / "stream")


def test_a_statement_names_files_not_places(tmp_path: Path) -> None:
    single = Statement("generalize-by-count", {"k": 3, "categories": "home/SECRETUSER/cats.csv", "other": "a/b"})
    assert published_statement(single)["parameters"] == {"k": 3, "categories": "cats.csv", "other": "a/b"}
    chain = Statement.of_chain([single, Statement("thin", {"share": 0.5, "file": "/SECRETUSER/x.csv"})])
    said = json.dumps(published_statement(chain))
    assert "SECRETUSER" not in said
    assert '"file": "x.csv"' in said
    release = Release.of_aligned(purchases(), purchases(), chain)
    for folder in (release.save(tmp_path / "saved"), release.publish(tmp_path / "published")):
        assert "SECRETUSER" not in (folder / "statement.json").read_text(encoding="utf-8")


def test_the_order_of_sensitive_values_is_the_original_schemas(tmp_path: Path) -> None:
    """What classes tell of a release is the same before it is written and after, though its domain is cut."""
    columns = {
        "age": {"role": "quasi", "type": "integer"},
        "grade": {"role": "sensitive", "domain": ["low", "middle", "high"]},
    }
    schema = Schema.of({"kind": "table", "columns": columns})
    people = Table.of({"age": [1, 1, 2, 2], "grade": ["low", "high", "high", "middle"]}, schema)
    gone = pl.when(pl.col("grade") != "middle").then(pl.all()).name.keep()
    release = Release.of_aligned(people, Table(people.frame.with_columns(gone), schema), Statement("by hand"))
    loaded = Release.load(release.save(tmp_path / "out"))
    assert loaded.public.schema["grade"].domain == ("low", "high")
    before, after = (noren.measure(people, one, "classes").notes["sensitive"]["grade"] for one in (release, loaded))
    assert before == after
