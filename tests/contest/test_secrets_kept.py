"""Nothing that a server sends to a team before the results tells who is behind another team's pseudonyms.

A cup is played over the interface and the pages. Every byte that each person was ever sent is searched for the salt of
the lots, for what others handed in, and for pairs of pseudonym and customer.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from tests.contest.served import Person, Served

from noren.contest.arena import target_label
from noren.contest.judging.prepared import prepare, target_names
from noren.contest.rulebook import preset
from noren.contest.state import Contest
from noren.contest.store.encryption import derive_key
from noren.work.queue import new_id

LOOKED_AT = (
    "", "/teams", "/team", "/rulebook.toml", "/submissions", "/flags", "/jobs", "/hooks", "/log", "/archive",
    "/results.json", "/results.html", "/results.csv", "/rounds/final/leaderboard", "/rounds/final/matrix",
    "/rounds/final/stability", "/rounds/final/targets", "/rounds/final/data",
)  # fmt: skip
PAGES = ("", "/board", "/results", "/team", "/protect", "/attack", "/organise", "/log")


class Played:
    """A cup of three teams that is played up to the evaluation, everybody looking at everything all the time."""

    def __init__(self, folder: Path) -> None:
        self.served = served = Served(folder)
        served.create(served.organiser())
        self.original = served.case().original.read_bytes()
        self.customers = [line.split(",")[0] for line in self.original.decode().splitlines()]
        self.teams = {name: served.person(f"{name}@example.org") for name in ("red", "blue", "green")}
        self.visitor = Person(served)
        self.sent: dict[str, bytes] = {}
        self.guesses: dict[str, list[bytes]] = {name: [] for name in self.teams}
        for name, person in self.teams.items():
            person.ask("POST", "/contests/cup/teams", json={"name": f"Team {name}"})
        served.go_to("cup", "final-protect")
        for seed, (name, person) in enumerate(self.teams.items()):
            self.sent[name] = served.case(seed).submitted.read_bytes()
            person.ask("PUT", "/contests/cup/releases", content=self.sent[name])
        served.judge()
        self.look()
        served.go_to("cup", "final-attack")
        self.look()
        self.attack()
        served.go_to("cup", "evaluation")
        self.look()

    def attack(self) -> None:
        """Hand in a guess of everybody against everybody, each name of it wrong, so that no pair in it is one."""
        before = self.teams["red"].ask("GET", "/contests/cup/rounds/final/leaderboard")["standings"]
        for name, person in self.teams.items():
            for other in self.teams.keys() - {name}:
                truth = self.pairs(other)
                wrong = dict(zip(truth, [*list(truth.values())[1:], next(iter(truth.values()))], strict=True))
                guess = "".join(f"{pseudonym},{customer}\n" for pseudonym, customer in wrong.items())
                self.guesses[name].append(guess.encode())
                said = person.ask("PUT", f"/contests/cup/guesses/{self.number(other)}", content=guess.encode())
                self.served.judge()
                found = person.ask("GET", f"/contests/cup/submissions/{said['submission']}")
                assert found["valid"], found
        # a row that moved would tell whose release a target is
        assert self.teams["red"].ask("GET", "/contests/cup/rounds/final/leaderboard")["standings"] == before

    def look(self) -> None:
        """Have everybody look at whatever there is, be it theirs or not."""
        files = [*self.state.submissions, new_id()]
        for person in (*self.teams.values(), self.visitor):
            for path in LOOKED_AT:
                person.get(f"/api/v1/contests/cup{path}")
            for number in self.state.targets.get("final", {}):
                person.get(f"/api/v1/contests/cup/rounds/final/targets/{number}")
            for path in PAGES:
                person.get(f"/contests/cup{path}")
            for one in files:
                for path in ("", "/file", "/receipt"):
                    person.get(f"/api/v1/contests/cup/submissions/{one}{path}")
                person.get(f"/contests/cup/files/{one}")

    # --- what nobody may know ----------------------------------------------------------------------------------------

    @property
    def state(self) -> Contest:
        found = self.served.arena.state("cup")
        assert found is not None
        return found

    @property
    def salt(self) -> bytes:
        found = self.served.arena.store.secret("cup", "salt")
        assert found is not None
        return found

    def number(self, name: str) -> str:
        team = self.state.team_of[self.teams[name].account]
        return next(one.id for one in self.state.targets["final"].values() if one.team == team)

    def own_pairs(self, name: str) -> dict[str, str]:
        """Return who is behind each pseudonym that a team gave: rows stand in the order of the original."""
        given = [line.split(",")[0] for line in self.sent[name].decode().splitlines()]
        return {one: customer for one, customer in zip(given, self.customers, strict=True) if one != "*"}

    def pairs(self, name: str) -> dict[str, str]:
        """Return who is behind each pseudonym of a team's target."""
        [release] = self.state.releases(self.state.team_of[self.teams[name].account], "final")
        path = self.served.folder / f"{name}.csv"
        path.write_bytes(self.sent[name])
        ready = prepare(preset("pwscup2018"), self.served.case().original, path)
        called = target_names(ready, self.salt, target_label(self.state, release))
        given = self.own_pairs(name)
        return {target: given[pseudonym] for pseudonym, target in called.select("own", "target").iter_rows()}

    def heard(self) -> Iterator[tuple[str, bytes]]:
        """Yield all that each was ever sent, but for the data that everybody has and what they said themselves."""
        for name, person in (*self.teams.items(), ("visitor", self.visitor)):
            heard = b"\n".join(person.heard)
            for known in (self.original, *self.guesses.get(name, ())):
                heard = heard.replace(known, b"")
            assert len(heard) > 100_000
            yield name, heard


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    made = Played(tmp_path_factory.mktemp("played"))
    yield made
    made.served.close()


def told(pairs: Mapping[str, str], heard: bytes) -> list[tuple[str, str]]:
    """Return the pairs that stand beside one another, in whatever order and with whatever between them."""
    return [
        (pseudonym, customer)
        for pseudonym, customer in pairs.items()
        for one, other in ((pseudonym, customer), (customer, pseudonym))
        if re.search(rf"(?<!\d){one}\W{{1,12}}{other}(?!\d)".encode(), heard)
    ]


def test_the_search_finds_a_pair() -> None:
    assert told({"100": "7"}, b'{"100": "7"}') == [("100", "7")]
    assert told({"100": "7"}, b"7,100\n") == [("100", "7")]
    assert [told({"100": "7"}, other) for other in (b"1007", b"1000,7", b"100,77", b"100 and 7")] == [[]] * 4


def test_no_pair_of_another_team_is_ever_sent(played: Played) -> None:
    for name, heard in played.heard():
        for other in played.teams.keys() - {name}:
            assert len(played.pairs(other)) > 5
            assert told(played.pairs(other), heard) == [], (name, other)
            assert told(played.own_pairs(other), heard) == [], (name, other)


def test_nothing_of_what_others_handed_in_is_ever_sent(played: Played) -> None:
    for name, heard in played.heard():
        own = set(played.sent.get(name, b"").splitlines())
        guesses = {hashlib.sha256(guess).hexdigest() for guess in played.guesses.get(name, ())}
        for other in played.teams.keys() - {name}:
            rows = {line for line in played.sent[other].splitlines() if not line.startswith(b"*")} - own
            assert len(rows) > 5
            assert [row for row in rows if row in heard] == []
            assert f"{other}@example.org".encode() not in heard.lower()
            team = played.state.team_of[played.teams[other].account]
            digests = {one.digest for one in played.state.of_team(team)} - guesses  # the same guess has the same
            assert [one for one in digests if one.encode() in heard] == []


def test_no_key_salt_or_password_is_ever_sent(played: Played) -> None:
    folder = played.served.folder / "arena"
    [kept] = folder.glob("*.key")
    key = kept.read_bytes()
    keys = [played.salt, key, *(derive_key(key, use) for use in ("receipts", "pages", "secrets", "files"))]
    for _name, heard in played.heard():
        assert b"$argon2" not in heard
        for key in keys:
            for spelt in (key, key.hex().encode(), base64.b64encode(key), base64.urlsafe_b64encode(key).rstrip(b"=")):
                assert spelt not in heard


def test_what_lies_on_the_disk_is_sealed(played: Played) -> None:
    lying = b"".join(path.read_bytes() for path in (played.served.folder / "arena").rglob("*") if path.is_file())
    for name in played.teams:
        assert told(played.pairs(name), lying.replace(played.original, b"")) == []
        rows = {line for line in played.sent[name].splitlines() if not line.startswith(b"*")}
        assert [row for row in rows if row in lying] == []
    assert played.salt not in lying
    assert played.salt.hex().encode() not in lying


def test_everything_is_told_at_the_end(played: Played) -> None:
    played.served.go_to("cup", "results")
    assert played.visitor.ask("GET", "/contests/cup")["salt"] == played.salt.hex()
