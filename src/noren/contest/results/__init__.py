"""Results of a contest: leaderboards, kinds of releases, attack matrix and stability, as JSON, CSV and HTML.

Everything follows from the log, so that a replay gives the same results; their digest is in the log. The page is
self-contained, without scripts, in the active language.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any

import numpy as np

from noren.contest.phases import PRACTICE, round_label
from noren.contest.rulebook import Rulebook
from noren.contest.stability import Stability, TeamStability, stability_of
from noren.contest.standings import (
    BEST_ATTACK,
    ERROR,
    Board,
    Matrix,
    MatrixCell,
    Standing,
    below_chance,
    board,
    board_headline,
    counting_entry,
    guesses_against,
    matrix_of,
)
from noren.contest.state import Contest
from noren.data.formats.text_layout import neutral
from noren.drawing.base import render_page
from noren.i18n import use_language
from noren.judgement.evidence import AttackResult, Facts
from noren.judgement.numbers import count, percent
from noren.judgement.sentences import rule_sentence
from noren.kernels.judging.statistics import correlation_interval, spearman
from noren.tables import Texts
from noren.work.hash_chain import canonical, digest_of, rounded

say = Texts(__name__)
MANY_UNIQUE = 0.25
"""Share of unique pseudonyms from which a release has too many unique histories."""
_FEWEST = 4
_KEPT = 16


@dataclass(frozen=True)
class ReleaseKind:
    """Releases of one kind, by how many pseudonyms share a public history (S0, Table 5).

    Attributes
    ----------
    unique
        Whether many, some or none of the pseudonyms have a unique history.
    k
        The smallest class of two or more; None where there is none.
    survived
        Number of releases that break no condition.
    """

    unique: str
    k: int | None
    teams: tuple[str, ...]
    survived: int

    @property
    def label(self) -> str:
        """The name of the kind in the active language."""
        return say(f"unique.{self.unique}", k=count(self.k or 0))


@dataclass(frozen=True)
class AttackPrediction:
    """Rank correlation, over releases, between the success of the baseline attacks and of the teams.

    Attributes
    ----------
    r, low, high
        Spearman's correlation and its 95 per cent interval; None where fewer than four releases were attacked by both,
        or all fared alike.
    """

    releases: int
    r: float | None
    low: float | None
    high: float | None

    @property
    def sentence(self) -> str:
        """The correlation as a sentence in the active language."""
        if self.r is None or self.low is None or self.high is None:
            return say("prediction.unknown", releases=count(self.releases))
        r, low, high = (f"{value:.2f}".replace("-", "−") for value in (self.r, self.low, self.high))
        return say("prediction.known", r=r, low=low, high=high, releases=count(self.releases))


@dataclass(frozen=True)
class RoundResults:
    """The results of one round; ``flags`` are nearly identical files of different teams."""

    round: str
    data: str
    rows: int
    people: int
    board: Board
    kinds: tuple[ReleaseKind, ...]
    matrix: Matrix
    stability: Stability | None
    prediction: AttackPrediction
    flags: tuple[Mapping[str, Any], ...]

    def as_dict(self) -> dict[str, Any]:
        """Return them as plain data."""
        data = vars(self) | {"standings": self.board.as_dict()["standings"]}
        del data["board"]
        return data


@dataclass(frozen=True)
class Results:
    """The results of a contest."""

    contest: Contest
    rounds: tuple[RoundResults, ...]

    @cached_property
    def teams(self) -> Mapping[str, str]:
        """The names of the teams."""
        return {team.id: team.name for team in self.contest.teams.values()}

    def as_dict(self) -> dict[str, Any]:
        """Return them as plain data, with English sentences and numbers to ten decimals."""
        contest, book = self.contest, self.contest.rulebook
        data: dict[str, Any] = {"contest": contest.id, "salt": contest.salt or "", "rounds": self.rounds}
        data |= {name: getattr(contest, name) for name in ("title", "scorer", "versions", "commitment", "rescorings")}
        data |= {"teams": self.teams, "refunds": contest.refunds}
        data["rulebook"] = {"name": book.name, "version": book.version, "digest": book.digest}
        with use_language("en"):
            plain: dict[str, Any] = _plain(data | {"rule": book.judged_by().as_dict()})
        return plain

    @cached_property
    def digest(self) -> str:
        """The digest of the results, as the log holds it."""
        return digest_of(canonical(self.as_dict()))


def _plain(value: Any) -> Any:
    """Return plain data with every number rounded as the log rounds."""
    if is_dataclass(value):
        value = value.as_dict() if hasattr(value, "as_dict") else vars(value)
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return rounded(value) if isinstance(value, float) else value


# --- making them -----------------------------------------------------------------------------------------------------


_known: dict[str, Results] = {}


def results_of(contest: Contest) -> Results:
    """Return the results of a contest; before the salt is published, without the stability of ranks.

    They are cached by the digest of the log's head, which determines them.
    """
    if contest.digest in _known:
        return _known[contest.digest]
    if len(_known) >= _KEPT:
        _known.clear()
    _known[contest.digest] = Results(
        contest, tuple(_round(contest, name) for name in contest.rounds if name != PRACTICE)
    )
    return _known[contest.digest]


def _round(contest: Contest, name: str) -> RoundResults:
    final = board(contest, name, contest.time, kind="final")
    about = contest.rounds[name]
    flags = []
    for flag in contest.flags:
        first, second = (contest.submissions[submission] for submission in flag["submissions"])
        if first.round == name:
            pair = {"teams": (first.team, second.team), "submissions": (first.id, second.id)}
            flags.append(pair | {"kind": first.kind, "share": float(flag["share"])})
    by_kind: dict[tuple[str, int | None], list[Standing]] = {}
    for standing in final.standings:
        release = contest.submissions.get(standing.submission or "")
        sizes = ((release and release.judged) or {}).get("classes") or {}
        classes = {int(size): int(many) for size, many in sizes.items() if many}
        if classes:
            by_kind.setdefault(_kind(classes), []).append(standing)
    order = ("many", "some", "none")  # those with most unique histories first, then by k
    kinds = sorted(by_kind.items(), key=lambda kind_: (order.index(kind_[0][0]), kind_[0][1] or 0))
    return RoundResults(
        round=name,
        data=about.data,
        rows=about.rows,
        people=about.people,
        board=final,
        kinds=tuple(
            ReleaseKind(unique, k, tuple(kind_.team for kind_ in those), sum(not kind_.broken for kind_ in those))
            for (unique, k), those in kinds
        ),
        matrix=matrix_of(contest, name),
        stability=stability_of(contest, name),
        prediction=_prediction(contest, name),
        flags=tuple(flags),
    )


def _kind(classes: Mapping[int, int]) -> tuple[str, int | None]:
    """Return the kind of a release as in S0: too many unique, some unique and otherwise k-anonymous, or k-anonymous.

    >>> _kind({1: 100, 2: 200}), _kind({1: 2, 2: 398}), _kind({3: 400})
    (('many', None), ('some', 2), ('none', 3))
    """
    alone, others = classes.get(1, 0), [size for size in classes if size > 1]
    if not others or alone >= MANY_UNIQUE * sum(classes.values()):
        return "many", None
    return ("some" if alone else "none"), min(others)


def _prediction(contest: Contest, round_: str) -> AttackPrediction:
    by_baseline, by_teams = [], []
    for team in contest.teams:
        entry = counting_entry(contest, team, round_)
        if entry is None or not entry.counts or entry.judged is None:
            continue
        baseline = Facts.model_validate(entry.judged["facts"]).tried
        tried = [
            AttackResult.model_validate(guess.judged["tried"])
            for guess in guesses_against(contest, round_, entry.id)
            if guess.judged
        ]
        if baseline and tried:
            by_baseline.append(max(result.customers for result in baseline))
            by_teams.append(max(result.customers for result in tried))
    many = len(by_baseline)
    r = spearman(np.array(by_baseline, float), np.array(by_teams, float)) if many >= _FEWEST else None
    if r is None:
        return AttackPrediction(many, None, None, None)
    return AttackPrediction(many, r, *correlation_interval(r, many))


def results_json(results: Results) -> str:
    """Return the results as JSON; their digest is that of the same data in canonical form."""
    return (
        json.dumps(results.as_dict() | {"digest": results.digest}, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    )


def standings_csv(results: Results) -> str:
    """Return one line per team and round, in English."""
    book = results.contest.rulebook
    keys = list(dict.fromkeys([*(term.key for term in book.terms), *(condition.key for condition in book.conditions)]))
    header = ["round", "rank", "team", "score", *keys, "broken", "attackers", "effective_attackers"]
    header += [*BEST_ATTACK, "verdict", "why", "submission"]
    with use_language("en"):
        rows = [
            [
                each.round,
                standing.rank,
                standing.name,
                standing.score,
                *(standing.values.get(key) for key in keys),
                " ".join(standing.broken),
                standing.attackers,
                standing.effective,
                *(standing.best_attack and getattr(standing.best_attack, name) for name in BEST_ATTACK),
                None if standing.verdict is None else str(standing.verdict.status),
                standing.why,
                standing.submission,
            ]
            for each in results.rounds
            for standing in each.board.standings
        ]
    return _csv(header, rows)


def matrix_csv(results: Results) -> str:
    """Return one line per attacker and target."""
    values = ("named", "right", "needed", "rate", "low", "high", "chance", "customers", "exceeds")
    header = ["round", "attacker", "target", "guesses", *values, "breaks", "side"]
    rows = [
        [
            each.round,
            results.teams[cell.attacker],
            results.teams[cell.target],
            cell.guesses,
            *(getattr(cell.evidence, name) for name in values),
            cell.breaks,
            cell.side,
        ]
        for each in results.rounds
        for cell in each.matrix.cells
    ]
    return _csv(header, rows)


def stability_csv(results: Results) -> str:
    """Return the stability of ranks, one line per ranked team and round."""
    rows = [
        [each.round, *(vars(team) | {"team": results.teams[team.team]}).values(), each.stability.draws]
        for each in results.rounds
        if each.stability is not None
        for team in each.stability.teams
    ]
    return _csv(["round", *(field.name for field in fields(TeamStability)), "draws"], rows)


def _csv(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    def cell(value: Any) -> Any:
        if isinstance(value, bool):
            return int(value)
        if isinstance(value, float):
            return round(value, 10)
        return neutral(value) if isinstance(value, str) else value

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows([cell(value) for value in row] for row in rows)
    return out.getvalue()


def results_html(results: Results) -> str:
    """Return the page as text; the same results give the same bytes."""
    book, headline = results.contest.rulebook, results.contest.title
    if results.rounds:
        headline = f"{headline}: {board_headline(results.rounds[-1].board)}"
    return render_page(
        "noren.contest.results",
        "results.html.jinja",
        "results.css",
        results=results,
        best_attack=best_attack,
        matrix_cell=matrix_cell,
        round_label=round_label,
        otherwise=condition_sentence(book),
        below_chance=below_chance,
        error=percent(ERROR),
        headline=headline,
        rule=rule_sentence(book.judged_by()),
        scoring=" + ".join(f"{term.weight:g} · {term.key}" for term in book.terms),
        conditions=[
            f"{condition.key} ≥ {condition.least:g}"
            if condition.most is None
            else f"{condition.key} ≤ {condition.most:g}"
            for condition in book.conditions
        ],
    )


def condition_sentence(book: Rulebook) -> str:
    """Return what follows for a release that breaks a condition."""
    return say(f"otherwise.{book.otherwise}")


def best_attack(standing: Standing) -> str:
    """Return how near the best attack came to the number of right answers that the contest asks for."""
    if (attack := standing.best_attack) is None:
        return "–"
    numbers = {"right": attack.best_right, "named": attack.best_named, "needed": attack.needed}
    return say("best", **{name: count(number) for name, number in numbers.items()})


def matrix_cell(cell: MatrixCell) -> dict[str, Any]:
    """Return the texts of a cell of the attack matrix."""
    evidence = cell.evidence
    shares = {name: percent(getattr(evidence, name)) for name in ("low", "high", "chance")}
    mark = "▲" if cell.breaks else "▽" if cell.side == "below" else ""
    return {
        "text": f"{count(evidence.right)}/{count(evidence.named)}",
        "more": say("cell", needed=count(evidence.needed), best=count(evidence.best_named), **shares),
        "mark": mark,
        "style": {"▲": "breaks", "▽": "below", "": ""}[mark],
    }


RESULTS_FILES: Mapping[str, Callable[[Results], str]] = {
    "results.json": results_json,
    "standings.csv": standings_csv,
    "matrix.csv": matrix_csv,
    "stability.csv": stability_csv,
}
"""The results as files of plain data, as an archive has them."""
