"""``noren contest`` without a server: checks at home, plans, and what is said of wrong words."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Command

from noren.cli.contest.connecting import round_of
from noren.cli.contest.organising import _phases, _plan
from noren.contest.client import Client
from noren.contest.phases import extend_phase, open_next_phase
from noren.errors import ParameterError

pytestmark = pytest.mark.usefixtures("_nobody")


@pytest.fixture
def _nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nobody is logged in anywhere."""
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    for name in ("NOREN_CONTEST_TOKEN", "NOREN_CONTEST_SERVER", "NOREN_CONTEST_PASSWORD"):
        monkeypatch.delenv(name, raising=False)


class TestCheck:
    def test_a_release_folder_is_checked_as_the_server_does(
        self, noren: Command, small_csv: Path, release: Path
    ) -> None:
        words = ("contest", "check", release, "--original", small_csv)
        answer = noren(*words)
        assert (answer.code, answer.out) == (0, "release is valid\n")
        scored = noren(*words, "--score", "--json")
        assert scored.json["valid"] is True
        told = noren("measure", small_csv, release, "--schema", "pwscup2018", "--measures", "cell-error", "--json")
        assert scored.json["values"]["cell-error"] == pytest.approx(
            told.json["results"]["cell-error"]["value"], abs=1e-9
        )
        assert set(scored.json["baseline"]) == {"item-candidates", "nearest"}

    def test_a_wrong_file_is_told_by_row_and_column(self, noren: Command, small_csv: Path, tmp_path: Path) -> None:
        wrong = tmp_path / "A.csv"
        lines = small_csv.read_text().splitlines()
        wrong.write_text("\n".join([lines[0].replace(",", ",9", 1), *lines[1:]]) + "\n")
        answer = noren("contest", "check", wrong, "--original", small_csv)
        assert answer.code == 1
        assert "A.csv, row 1, column date" in answer.out
        assert "A.csv is not valid" in answer.out

    def test_a_guess_is_checked_against_its_target(self, noren: Command, small_csv: Path, tmp_path: Path) -> None:
        first = small_csv.read_text().split(",")[0]
        target, guess = tmp_path / "07.csv", tmp_path / "guess.csv"
        target.write_text("100001,2010/12/2,20622,3.75,6\n")
        guess.write_text(f"100001,{first}\n")
        words = ("contest", "check", guess, "--original", small_csv, "--against", target, "--json")
        assert noren(*words).json["valid"] is True
        guess.write_text(f"100002,{first}\n")
        answer = noren(*words)
        assert (answer.code, answer.json["total"]) == (1, 1)

    def test_an_unknown_rulebook_is_said(self, noren: Command, small_csv: Path) -> None:
        answer = noren("contest", "check", small_csv, "--original", small_csv, "--rulebook", "pwscup2081")
        assert answer.code == 2
        assert "pwscup2018" in answer.err

    def test_a_published_folder_lacks_the_order(
        self, noren: Command, small_csv: Path, release: Path, tmp_path: Path
    ) -> None:
        assert noren("publish", release, "--out", tmp_path / "public", "--override", "a test").code == 0
        answer = noren("contest", "check", tmp_path / "public", "--original", small_csv)
        assert answer.code == 2
        assert "has no secret part" in answer.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("status",), "no server is given; name it with --server ADDRESS"),
        (("status", "cup", "--server", "ftp://cup"), "is not the address of a server"),
        (("attack", "cup", "07"), "there is no guess; name its file"),
        (("create", "cup", "--data", "T.csv"), "--data T.csv is not valid; write it like final=T.csv"),
        (("create", "cup", "--data", "final=T.csv", "--days", "1,2"), "--days 1,2 is not valid"),
        (("create", "cup", "--data", "final=T.csv", "--set", "bound"), "--set bound is not valid; write it like"),
        (("create", "cup", "--data", "final=T.csv", "--zone", "Mars/Base"), "there is no time zone"),
        (("create", "cup", "--data", "final=T.csv", "--start", "soon"), "is not a time"),
        (("results", "cup", "--out", "results.pdf"), "the file name ends in '.pdf'; use one of .html, .csv, .json"),
        (("serve", "--demo", "--data-dir", "arena"), "--demo and --data-dir, --database, --files exclude each other"),
        (("token", "--create", "a", "--revoke", "b"), "--create and --revoke exclude each other"),
        (("audit", "no/such.zip"), "there is no file"),
        (("simulate", "--rulebook", "nothing"), "there is no"),
    ],
)
def test_wrong_words_are_said_in_one_line(noren: Command, words: tuple[str, ...], said: str) -> None:
    answer = noren("contest", *words)
    assert answer.code == 2, answer
    assert said in answer.err
    assert answer.err.count("\n") == 1


def test_every_command_has_an_example(noren: Command) -> None:
    from noren.cli.contest import app

    for command in app.registered_commands:
        assert command.help, command.name
        assert f"noren contest {command.name}" in str(command.epilog), command.name


class TestPlans:
    def test_a_file_of_phases_is_read_in_its_zone(self, tmp_path: Path) -> None:
        path = tmp_path / "plan.toml"
        path.write_text(
            '[[phases]]\nid = "protect"\nkind = "protect"\nround = "final"\n'
            'opens = "2026-04-01 09:00"\ncloses = 2026-04-08T09:00:00\n'
        )
        (found,) = _plan(path, None, "7,7,7,2,1", "Asia/Tokyo", ["final"])
        assert found["opens"] == "2026-04-01T00:00:00.000000+00:00"
        assert found["closes"] == "2026-04-08T00:00:00.000000+00:00"
        with pytest.raises(ParameterError, match="--phases and --start, --days exclude each other"):
            _plan(path, "2026-04-01", "7,7,7,2,1", "UTC", ["final"])

    def test_opening_now_moves_all_that_is_to_come_by_as_much(self) -> None:
        """Registration ends, protecting begins now and lasts as long as it would have, attacking follows."""
        phases = [
            {"id": "registration", "kind": "registration", "opens": at(0), "closes": at(10), "open": True},
            {"id": "protect", "kind": "protect", "round": "final", "opens": at(12), "closes": at(20)},
            {
                "id": "attack",
                "kind": "attack",
                "round": "final",
                "opens": at(20),
                "closes": at(25),
                "frozen_from": at(24),
            },
        ]
        moved = open_next_phase(_phases({"phases": phases}), at(5))
        assert [(one.opens, one.closes) for one in moved] == [(at(0), at(5)), (at(5), at(13)), (at(13), at(18))]
        assert moved[2].frozen_from == at(17)
        with pytest.raises(ParameterError, match="every phase of this contest has begun"):
            open_next_phase(_phases({"phases": phases}), at(30))

    def test_what_follows_an_extended_phase_moves_with_it(self) -> None:
        phases = [
            {"id": "protect", "kind": "protect", "opens": at(0), "closes": at(10)},
            {"id": "attack", "kind": "attack", "opens": at(10), "closes": at(20)},
            {"id": "results", "kind": "results", "opens": at(20)},
        ]
        moved = extend_phase(_phases({"phases": phases}), "protect", at(13))
        assert [(one.opens, one.closes) for one in moved] == [(at(0), at(13)), (at(13), at(23)), (at(23), None)]

    def test_the_round_that_is_played_is_meant(self) -> None:
        about: dict[str, Any] = {
            "now": at(15),
            "rounds": [{"id": "preliminary"}, {"id": "final"}],
            "phases": [
                {"id": "p", "kind": "protect", "round": "preliminary", "opens": at(0)},
                {"id": "f", "kind": "protect", "round": "final", "opens": at(10), "open": True},
                {"id": "a", "kind": "attack", "round": "preliminary", "opens": at(5)},
            ],
        }
        assert round_of(about, None, "protect") == "final"
        assert round_of(about, None, "attack") == "preliminary"
        assert round_of(about, "final", "attack") == "final"
        with pytest.raises(ParameterError, match="there is no 'third'; use one of preliminary, final"):
            round_of(about, "third")


def at(hours: int) -> str:
    return (dt.datetime(2026, 4, 1, tzinfo=dt.UTC) + dt.timedelta(hours=hours)).isoformat(timespec="microseconds")


def test_create_sends_what_was_said(noren: Command, small_csv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: dict[str, Any] = {}

    def create(_self: Client, contest: dict[str, Any], data: dict[str, Path]) -> dict[str, Any]:
        sent.update(contest=contest, data=data)
        return {"title": contest["title"], "phases": contest["phases"]}

    monkeypatch.setattr(Client, "create", create)
    answer = noren(
        "contest", "create", "cup-2026", "--data", f"final={small_csv}", "--set", "bound=sharp", "--set", "p=1/4",
        "--start", "2026-04-01 09:00", "--days", "1,2,3,0,1", "--zone", "Asia/Tokyo", "--invited",
        "--server", "http://cup.example", "--json",
    )  # fmt: skip
    assert answer.code == 0, answer.err
    contest = sent["contest"]
    assert contest["changes"] == {"bound": "sharp", "p": "1/4"}
    assert contest["settings"]["registration"] == "invited"
    assert [one["id"] for one in contest["phases"]] == [
        "registration", "final-protect", "final-attack", "evaluation", "results",
    ]  # fmt: skip
    assert contest["phases"][1]["opens"] == "2026-04-02T00:00:00.000000+00:00"
    assert sent["data"] == {"final": small_csv}
    assert json.loads(answer.out)["title"] == "cup-2026"
