"""A ledger goes by its file: what is written is read back, and what does not fit is named."""

from pathlib import Path
from typing import Any

import pytest
from tests.ledger.books import ledger

from noren.data.schema import Schema
from noren.errors import FileError, NorenError, ParameterError, SchemaError
from noren.ledger import Ledger
from noren.ledger.settings import USUAL_ATTACKS, LedgerSettings, chain_of
from noren.methods.chain import Chain

CHAIN: list[Any] = [{"method": "thin", "share": 0.2}, "perturb", "monthly-pseudonyms"]


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    made = ledger(tmp_path / "l", chain=CHAIN, period="quarter", budget={"um": 0.5, "emm": 1}, attacks=["s1", "s8"])
    read = Ledger.open(tmp_path / "l").settings
    assert read == made.settings
    assert read.attacks == ("s1", "s8")
    assert read.budget == {"um": 0.5, "emm": 1.0}
    assert [step.name for step in read.chain.steps] == ["thin", "perturb", "monthly-pseudonyms"]


def test_the_usual_attacks_are_those_of_the_paper_that_fit() -> None:
    settings = LedgerSettings.of("pwscup2017", ["pseudonymize"])
    assert settings.attacks[:8] == USUAL_ATTACKS[:8]
    assert {attack.parameters()["period"] for attack in settings.ready_attacks()[:8]} == {"month"}


def test_steps_and_attacks_go_by_the_ledgers_periods() -> None:
    settings = LedgerSettings.of("pwscup2018", CHAIN, period="week", attacks=["s1"])
    assert [getattr(step, "period", None) for step in settings.chain.steps] == [None, "week", "week"]
    assert settings.ready_attacks()[0].parameters()["period"] == "week"
    said = [{"method": "perturb", "days": 2, "period": "week"}]
    assert chain_of(said, "week").parameters() == Chain(steps=said).parameters()


def test_a_step_that_goes_by_other_periods_is_named() -> None:
    with pytest.raises(ParameterError, match=r'step 2, swap, has the period week, the ledger month; set period = "mon'):
        LedgerSettings.of("pwscup2018", ["thin", {"method": "swap", "period": "week"}])


def test_a_file_that_a_step_reads_is_found_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "groups.csv").write_text("tea,drinks\ncup,ware\n")
    monkeypatch.chdir(tmp_path)
    ledger(tmp_path / "l", chain=[{"method": "generalize-by-count", "k": 2, "categories": "groups.csv"}])
    assert f'categories = "{tmp_path / "groups.csv"}"' in (tmp_path / "l/ledger.toml").read_text()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"budget": {"risk": 0.1}}, "there is no budget 'risk'; use one of um, mm, emm"),
        ({"budget": {"emm": 1.5}}, "emm = 1.5 is out of range"),
        ({"budget": {"emm": float("nan")}}, "emm = nan is out of range"),
        ({"period": "day"}, "there is no period 'day'; use one of month, week, quarter"),
        ({"attacks": []}, "a ledger needs attacks to measure risk"),
        ({"attacks": ["s9"]}, "there is no 's9'"),
        ({"rule": "nobody"}, "there is no rule 'nobody'"),
        ({"chain": []}, "the chain has no steps"),
        ({"chain": "nowhere.toml"}, "nowhere.toml: there is no such file"),
        ({"schema": "adult"}, "a ledger records purchase histories"),
    ],
)
def test_what_does_not_fit_is_said_and_nothing_is_made(tmp_path: Path, settings: dict[str, object], said: str) -> None:
    with pytest.raises(NorenError) as error:
        ledger(tmp_path / "l", **settings)
    assert said in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_an_attack_that_needs_other_columns_is_named() -> None:
    columns = {"customer": "customer", "date": "date", "item": "item"}
    schema = Schema.of({"name": "plain", "columns": {name: {"role": role} for name, role in columns.items()}})
    with pytest.raises(ParameterError, match="s7 does not apply to data with the schema plain"):
        LedgerSettings.of(schema, ["pseudonymize"], attacks=["s7"])
    assert "s7" not in LedgerSettings.of(schema, ["pseudonymize"]).attacks


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("version = 1", "version = 2", "the ledger has version 2, this program supports 1"),
        ("version = 1", "version =", "ledger.toml: the settings cannot be read"),
        ("version = 1", "version = 1\ncolour = 3", "colour is not a setting of a ledger"),
        ('period = "month"', 'period = "day"', "ledger.toml: there is no period 'day'"),
        ("[budget]", "[budget]\nemm = 7", "emm = 7 is out of range"),
    ],
)
def test_a_file_that_was_mended_wrongly_is_named(tmp_path: Path, old: str, new: str, said: str) -> None:
    ledger(tmp_path / "l")
    file = tmp_path / "l/ledger.toml"
    content = file.read_text()
    assert old in content
    file.write_text(content.replace(old, new))
    with pytest.raises(NorenError) as error:
        Ledger.open(tmp_path / "l")
    assert said in str(error.value)


def test_a_folder_that_is_no_ledger(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="this is not a ledger; name a folder created by noren ledger init"):
        Ledger.open(tmp_path)


def test_a_schema_of_a_table_is_refused() -> None:
    with pytest.raises(SchemaError):
        LedgerSettings.of("adult", ["pseudonymize"])
