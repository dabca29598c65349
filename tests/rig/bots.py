"""Teams of bots at a server: how each protects, what it attacks with, what it does wrong first, and what it keeps.

The styles of a 2018 cup are the kinds of S0's Table 5: releases with too many unique customers, releases of pairs in
which two customers were left unprocessed, pairs, triples, and what is built on triples. One bot guesses below chance:
where every guess is wrong on purpose, the opposite is information. Same seed, same files from the same data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from tests.rig.connections import CutConnections, Cuts
from tests.rig.recomputed import ReleaseMade

from noren.api import attack as run_attack
from noren.api import protect
from noren.contest import actions
from noren.contest.client import AnsweredError, Client, create_login
from noren.contest.judging.checking import check_release
from noren.contest.judging.prepared import original_of, target_rows, write_pairs_of
from noren.contest.rulebook import Rulebook
from noren.contest.simulation import ROUNDS
from noren.data.frames import History, Records
from noren.data.release import submission_of
from noren.data.schema import Role
from noren.work.queue import new_id

PATIENCE = 300.0
"""Seconds for which bots wait for a server that is away, or for what must come."""
_SHARE_CUT = 0.08
_NAMES = ("Aoi", "Botan", "Cha", "Daidai", "Enji", "Fuji", "Gin", "Hana", "Ichou", "Kaki", "Matsu", "Nadeshiko", "Ume")
RANDOM, BELOW_CHANCE = "random", "below-chance"
"""Attacks that only bots have: names drawn by lot, and the answers of ``nearest`` shifted so that none is right."""
Spoiling = Literal["", "rows", "short", "item", "bytes"]


@dataclass(frozen=True)
class Style:
    """How a bot plays.

    Attributes
    ----------
    kind
        What sort of release it makes, in the words of S0's Table 5.
    steps
        The methods, one after another.
    unprocessed
        So many customers are left as they were, under a pseudonym.
    attacks
        What it attacks with: one after another, target by target.
    spoils
        What is wrong with the first file that it hands in.
    """

    kind: str
    steps: tuple[dict[str, Any], ...]
    attacks: tuple[str, ...] = (RANDOM,)
    unprocessed: int = 0
    spoils: Spoiling = ""


def _by_count(k: int, **more: Any) -> dict[str, Any]:
    return {"method": "generalize-by-count", "k": k, **more}


_UNIQUE, _TWO_LEFT = "too many unique customers", "two unprocessed + 2-anonymous"
_PAIRS, _TRIPLES, _ON_TRIPLES = "2-anonymous", "3-anonymous", "based on 3-anonymous"
_2018 = (
    Style(_PAIRS, ({"method": "generalize", "k": 2, "effort": "quick"},), ("nearest",)),
    Style(_UNIQUE, ({"method": "pseudonymize"},), ("item-candidates", RANDOM), spoils="item"),
    Style(_TRIPLES, (_by_count(3),), ("consistency",)),
    Style(_TWO_LEFT, (_by_count(2),), (BELOW_CHANCE,), unprocessed=2),
    Style(_PAIRS, (_by_count(2, suppress_cells=True),), ("unique-rows", "nearest"), spoils="rows"),
    Style(_UNIQUE, ({"method": "thin", "share": 0.2},), (RANDOM,)),
    Style(_ON_TRIPLES, ({"method": "thin", "share": 0.1}, _by_count(3, suppress_cells=True)), ("nearest",)),
    Style(_PAIRS, (_by_count(2),), ("item-candidates",), spoils="bytes"),
    Style(_TWO_LEFT, (_by_count(2, suppress_cells=True),), ("unique-rows",), unprocessed=2, spoils="short"),
    Style(_PAIRS, ({"method": "thin", "share": 0.1}, _by_count(2)), ("consistency", RANDOM)),
    Style(_UNIQUE, ({"method": "thin", "share": 0.4},), ("nearest", RANDOM)),
    Style(_PAIRS, ({"method": "generalize", "k": 2, "effort": "quick"},), (BELOW_CHANCE, "nearest")),
    Style(_PAIRS, ({"method": "thin", "share": 0.2}, _by_count(2)), (RANDOM, "item-candidates")),
)
_MONTHLY = {"method": "monthly-pseudonyms"}
_2017 = (
    Style("monthly pseudonyms", (_MONTHLY,), ("s1", "s6")),
    Style("perturbed, then monthly", ({"method": "perturb"}, _MONTHLY), ("s2", RANDOM), spoils="item"),
    Style("thinned, then monthly", ({"method": "thin", "share": 0.2}, _MONTHLY), ("s4", "s5"), spoils="rows"),
    Style("one pseudonym for all months", ({"method": "perturb"},), (BELOW_CHANCE, "s3")),
)
_2016 = (
    Style("pseudo records", ({"method": "pseudo-records", "clusters": 6},), ("jaccard",), spoils="item"),
    Style("perturbed", ({"method": "perturb"},), ("jaccard", RANDOM)),
    Style("thinned", ({"method": "thin", "share": 0.3},), (BELOW_CHANCE,), spoils="rows"),
    Style("pseudonyms alone", ({"method": "pseudonymize"},), ("jaccard",)),
)
_CUSTOM = (
    Style("pseudonyms alone", ({"method": "pseudonymize"},), ("nearest",)),
    Style("thinned", ({"method": "thin", "share": 0.3},), ("nearest", RANDOM), spoils="short"),
    Style("pairs", (_by_count(2),), (BELOW_CHANCE,)),
)
_STYLES = {"pwscup2018": _2018, "pwscup2017": _2017, "pwscup2016": _2016}


def styles_for(rulebook: Rulebook, teams: int) -> list[Style]:
    """Return how the teams of a cup play: the styles of its rules, in turn."""
    known = _STYLES.get(rulebook.data_schema, _CUSTOM)
    return [known[place % len(known)] for place in range(teams)]


# --- protecting ------------------------------------------------------------------------------------------------------


def release_file(rulebook: Rulebook, original: Path, style: Style, seed: int) -> bytes:
    """Return the file that a bot hands in."""
    data = original_of(rulebook, original)
    if style.unprocessed and isinstance(data, History):
        return _with_some_as_they_were(data, style, seed)
    return submission_of(protect(data, list(style.steps), seed=seed, audit=False))


def _with_some_as_they_were(data: History, style: Style, seed: int) -> bytes:
    """Protect all customers but a few, whose rows keep their values under a new name."""
    customer = data.schema.role(Role.CUSTOMER).name
    left = np.random.default_rng(seed).choice(data.customers.cast(pl.String), style.unprocessed, replace=False)
    names = data[Role.CUSTOMER].cast(pl.String)
    is_left = names.is_in(left)
    rest = data.take((~is_left).arg_true())
    lines = pl.Series(submission_of(protect(rest, list(style.steps), seed=seed, audit=False)).decode().splitlines())
    used = lines.str.split(",").list.first().cast(pl.Int64, strict=False).drop_nulls().to_numpy().max(initial=0)
    new = {name: str(int(used) + 1 + place) for place, name in enumerate(left)}
    texts = data.texts("*").filter(is_left)
    plain = texts.with_columns(pl.col(customer).replace(new)).select(pl.concat_str(pl.all(), separator=","))
    where = pl.concat([(~is_left).arg_true(), is_left.arg_true()])
    both = pl.DataFrame({"line": pl.concat([lines, plain.to_series().rename(lines.name)]), "row": where}).sort("row")
    return "".join(f"{line}\n" for line in both["line"]).encode()


def spoilt(content: bytes, how: Spoiling) -> bytes:
    """Return a release with a mistake: rows in another order, one missing, a foreign value, no text."""
    lines = content.splitlines(keepends=True)
    if how == "rows":
        return b"".join(sorted(lines, reverse=True))
    if how == "short":
        return b"".join(lines[:-1])
    if how == "bytes":
        return content[: len(content) // 2] + b"\xff\xfe\n"
    middle = len(lines) // 2
    cells = lines[middle].rstrip(b"\n").split(b",")
    cells = [b"no such thing" if place else cell for place, cell in enumerate(cells)]
    return b"".join([*lines[:middle], b",".join(cells) + b"\n", *lines[middle + 1 :]])


# --- attacking -------------------------------------------------------------------------------------------------------


def guess_file(rulebook: Rulebook, original: Path, target: Path, attack: str, seed: int, out: Path) -> int:
    """Attack a target as a bot does and write the guess; return how many it names."""
    data = original_of(rulebook, original)
    public = target_rows(target, data)
    assert isinstance(data, History)
    assert isinstance(public, History)
    if attack == RANDOM:
        pairs = _drawn(data, public, seed)
    elif attack == BELOW_CHANCE:
        named = "s1" if data.schema.official == "pwscup2017" else "nearest"
        pairs = _shifted(run_attack(data, public, named, seed=seed).answers)
    else:
        pairs = run_attack(data, public, attack, seed=seed).answers
    return write_pairs_of(pairs, out, data, public)


def _drawn(data: Records, public: Records, seed: int) -> pl.DataFrame:
    """Name customers for pseudonyms by lot."""
    draws = np.random.default_rng(seed)
    names = public[Role.CUSTOMER].cast(pl.String).drop_nulls().unique().sort()
    people = data[Role.CUSTOMER].cast(pl.String).unique().sort()
    count = min(len(names), len(people))
    return pl.DataFrame(
        {
            "pseudonym": names.gather(draws.permutation(len(names))[:count]),
            "customer": people.gather(draws.permutation(len(people))[:count]),
        }
    )


def _shifted(pairs: pl.DataFrame) -> pl.DataFrame:
    """Give each pseudonym the customer that was found for one far from it in the list: neighbours may be partners."""
    half = len(pairs) // 2
    found = pairs["customer"]
    return pairs.with_columns(pl.concat([found[half:], found[:half]]).alias("customer")) if half else pairs.head(0)


# --- playing ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """What is played.

    Attributes
    ----------
    faults
        Whether processes are killed and uploads cut off; ``kills`` says how often the former.
    targets
        How many targets each bot attacks in the preliminary round; in the final all.
    """

    rulebook: Rulebook
    teams: int = 13
    customers: int = 40
    rows: int = 400
    seed: int = 1
    workers: int = 2
    faults: bool = False
    kills: int = 8
    targets: int = 3
    rounds: tuple[str, ...] = ROUNDS
    contest: str = "rehearsal"


class Bot:
    """A team of one that plays by its style, and keeps what it handed in."""

    def __init__(
        self, number: int, style: Style, plan: Plan, folder: Path, address: str, after: Callable[[], None], cuts: Cuts
    ) -> None:
        self.number, self.style, self.plan = number, style, plan
        self.name = _NAMES[number % len(_NAMES)] + ("" if number < len(_NAMES) else f" {number // len(_NAMES) + 1}")
        self.folder = folder / f"bot-{number}"
        self.folder.mkdir()
        self._after, self._cuts = after, cuts
        self.team = ""
        self.releases: dict[str, list[ReleaseMade]] = {}
        self.guesses: dict[str, list[tuple[str, str, bytes]]] = {}
        self.receipts: dict[str, dict[str, Any]] = {}
        self.refusals = 0
        self.client = self._client(address)

    def _client(self, address: str) -> Client:
        # bots come from as many addresses as teams do, and the server believes this machine's word on it
        headers = {"X-Forwarded-For": f"10.1.{self.number // 250}.{self.number % 250 + 1}"}
        account = f"{self.plan.contest}-bot-{self.number}"
        login = create_login(address, account, new_id(), new=self.name, headers=headers, patience=PATIENCE)
        seed = self.plan.seed * 1009 + self.number
        cut = CutConnections(self._cuts, seed, _SHARE_CUT) if self.plan.faults else None
        return Client(address, login.token, headers=headers, patience=PATIENCE, transport=cut)

    def register(self, contest: str) -> None:
        """Found the team."""
        self.team = str(self.client.do(actions.register, contest, name=self.name)["team"]["id"])

    def protect(self, contest: str, round_: str) -> None:
        """Hand in a release; a bot that makes mistakes hands in a wrong one first."""
        data, book = self._data(contest, round_), self.plan.rulebook
        content = release_file(book, data, self.style, self._seed(round_, "release"))
        files = [spoilt(content, self.style.spoils), content] if self.style.spoils else [content]
        for number, one in enumerate(files):
            path = self.folder / f"{round_}-{number}.csv"
            path.write_bytes(one)
            told = check_release(book, data, path)
            assert told.valid == (one is content), (self.name, told.problems)
            got = self.client.submit(contest, path)
            self.releases.setdefault(round_, []).append(ReleaseMade(got.submission, one))
            self._kept(got.submission, got.receipt)

    def attack(self, contest: str, round_: str, most: int | None) -> None:
        """Attack targets: all, or some that the seed chooses."""
        data, book = self._data(contest, round_), self.plan.rulebook
        listed = [one.target for one in self.client.targets(contest, round_)]
        draws = np.random.default_rng(self._seed(round_, "targets"))
        chosen = sorted(draws.permutation(len(listed))[:most].tolist())
        for turn, place in enumerate(chosen):
            target = listed[place]
            public, out = self.folder / f"{round_}-{target}.csv", self.folder / f"{round_}-{target}-guess.csv"
            self.client.download("contests", contest, "rounds", round_, "targets", target, out=public)
            attack = self.style.attacks[turn % len(self.style.attacks)]
            guess_file(book, data, public, attack, self._seed(round_, target), out)
            got = self.client.submit(contest, out, target=target)
            self.guesses.setdefault(round_, []).append((got.submission, target, out.read_bytes()))
            self._kept(got.submission, got.receipt)

    def come_late(self, contest: str, round_: str) -> None:
        """Hand in a release when protecting is over, which must be refused."""
        try:
            self.client.submit(contest, self._data(contest, round_))
        except AnsweredError as refused:
            self.refusals += refused.status == 409

    def _data(self, contest: str, round_: str) -> Path:
        path = self.folder / f"{round_}-T.csv"
        if not path.exists():
            self.client.download("contests", contest, "rounds", round_, "data", out=path)
        return path

    def _seed(self, *words: str) -> int:
        drawn = np.random.SeedSequence([self.plan.seed, self.number, *(int.from_bytes(w.encode()) for w in words)])
        return int(drawn.generate_state(1)[0])

    def _kept(self, submission: str, receipt: dict[str, Any]) -> None:
        self.receipts[submission] = receipt
        self._after()
