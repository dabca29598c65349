"""The results as one page: self-contained, without scripts, in the language now spoken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from noren.contest.results.model import Results, RoundResults
from noren.contest.stability import TeamStability
from noren.contest.standings import ERROR, Cell, Standing, below_chance
from noren.drawing.templating import house_styles, template
from noren.i18n import _, active_language, ngettext
from noren.judgement.numbers import count, decimal, percent
from noren.judgement.sentences import rule_sentence, word_text
from noren.version import __version__

__all__ = ["results_html"]


def results_html(results: Results) -> str:
    """Return the page as text; the same results give the same bytes."""
    book = results.rulebook
    return template("noren.contest.results", "results.html.jinja").render(
        language=active_language(),
        css=house_styles("noren.contest.results", "results.css"),
        results=results,
        words=_words(),
        headline=_headline(results),
        rule=rule_sentence(book.judged_by),
        scoring=_scoring(results),
        conditions=[_condition(one) for one in book.conditions],
        rounds=[_round(results, one) for one in reversed(results.rounds)],
        version=__version__,
    )


def _headline(results: Results) -> str:
    """Return who won the last round."""
    if not results.rounds:
        return results.title
    first = [one.name for one in results.rounds[-1].board.standings if one.rank == 1]
    if not first:
        return _("{title}: nobody has a rank").format(title=results.title)
    return ngettext("{title}: {names} wins", "{title}: {names} share the first place", len(first)).format(
        title=results.title, names=", ".join(first)
    )


def _scoring(results: Results) -> str:
    """Return the score as the sum that it is."""
    return " + ".join(f"{one.weight:g} · {one.key}" for one in results.rulebook.terms)


def _condition(one: Any) -> str:
    if one.most is not None:
        return _("{measure} is at most {limit}").format(measure=one.key, limit=f"{one.most:g}")
    return _("{measure} is at least {limit}").format(measure=one.key, limit=f"{one.least:g}")


@dataclass(frozen=True)
class _Row:
    """One team in the table of standings."""

    standing: Standing
    rank: str
    values: tuple[str, ...]
    score: str
    attacked: str
    verdict: str
    sentence: str


def _round(results: Results, one: RoundResults) -> dict[str, Any]:
    keys = [term.key for term in results.rulebook.terms]
    stability = one.stability
    return {
        "found": one,
        "title": _("Round {name}").format(name=one.round),
        "about": _("{rows} rows of {people} people").format(rows=count(one.rows), people=count(one.people)),
        "keys": keys,
        "rows": [_row(standing, keys) for standing in one.board.standings],
        "kinds": [
            {
                "words": kind.words,
                "releases": count(len(kind.teams)),
                "survived": count(kind.survived),
                "teams": ", ".join(results.teams[team] for team in kind.teams),
            }
            for kind in one.kinds
        ],
        "matrix": _matrix(results, one),
        "below": [_named(results, cell) for cell in one.matrix.cells if cell.side == "below"],
        "stability": [] if stability is None else [_firm(results, each) for each in stability.teams],
        "resampled": "" if stability is None else stability.sentence,
        "prediction": one.prediction.sentence,
        "flags": [
            _("{one} and {other}: {share} of a {kind} is the same").format(
                one=results.teams[flag.teams[0]],
                other=results.teams[flag.teams[1]],
                share=percent(flag.share),
                kind=_("release") if flag.kind == "release" else _("guess"),
            )
            for flag in one.flags
        ],
    }


def _row(one: Standing, keys: list[str]) -> _Row:
    values = one.values or {}
    verdict = one.verdict
    return _Row(
        standing=one,
        rank="–" if one.rank is None else count(one.rank),
        values=tuple("–" if values.get(key) is None else decimal(values[key]) for key in keys),
        score="–" if one.score is None else decimal(one.score),
        attacked=_("{effective} of {attackers}").format(effective=count(one.effective), attackers=count(one.attackers)),
        verdict="" if verdict is None else word_text(verdict.word),
        sentence="" if verdict is None else verdict.sentence,
    )


def _matrix(results: Results, one: RoundResults) -> dict[str, Any]:
    teams = one.matrix.teams
    known = {(cell.attacker, cell.target): cell for cell in one.matrix.cells}
    return {
        "columns": [results.teams[team] for team in teams],
        "rows": [
            {
                "name": results.teams[attacker],
                "cells": [None if attacker == target else _shown(known.get((attacker, target))) for target in teams],
            }
            for attacker in teams
        ],
    }


def _shown(cell: Cell | None) -> dict[str, str]:
    if cell is None:
        return {"text": "", "more": "", "mark": "", "style": ""}
    one = cell.found
    mark = "▲" if cell.breaks or one.exceeds else "▽" if cell.side == "below" else ""
    return {
        "text": f"{count(one.right)}/{count(one.named)}",
        "more": _("needed {needed}; {low} to {high}; chance {chance}").format(
            needed=count(one.needed), low=percent(one.low), high=percent(one.high), chance=percent(one.chance)
        ),
        "mark": mark,
        "style": "breaks" if mark == "▲" else "below" if mark == "▽" else "",
    }


def _named(results: Results, cell: Cell) -> str:
    one = cell.found
    return _("{attacker} against {target}: {right} of {named} right where chance gives {chance}; {meaning}.").format(
        attacker=results.teams[cell.attacker],
        target=results.teams[cell.target],
        right=count(one.right),
        named=count(one.named),
        chance=percent(one.chance),
        meaning=below_chance(),
    )


def _firm(results: Results, one: TeamStability) -> dict[str, str]:
    ends = ["–" if end is None else count(end) for end in (one.best, one.worst)]
    mean = one.mean, one.mean_low, one.mean_high
    return {
        "name": results.teams[one.team],
        "rank": count(one.rank),
        "kept": percent(one.kept),
        "interval": f"{percent(one.low)} – {percent(one.high)}",
        "between": ends[0] if ends[0] == ends[1] else f"{ends[0]} – {ends[1]}",
        "mean": "–" if None in mean else "{:.2f} ({:.2f} – {:.2f})".format(*mean),
    }


def _words() -> dict[str, str]:
    return {
        "results": _("Results of a contest"),
        "score": _("score"),
        "how": _("How ranks came about"),
        "sum": _("Score, less being better: {sum}."),
        "must": _("Conditions:"),
        "otherwise": _("Who breaks one is ranked after all who keep them."),
        "none": _("Who breaks one has no rank."),
        "rank": _("rank"),
        "team": _("team"),
        "attacked": _("effective attackers"),
        "verdict": _("verdict"),
        "standings": _("Standings"),
        "kinds": _("By kind of release"),
        "kind": _("kind"),
        "releases": _("releases"),
        "survived": _("break no condition"),
        "teams": _("teams"),
        "matrix": _("Who broke whom"),
        "matrix_note": _(
            "Rows attack columns: right names of all names in the most damaging valid guess, the right ones that were "
            "needed to break the release, the 95 per cent interval of the rate, and the rate of somebody who draws "
            "lots. ▲ breaks a condition or exceeds the rule; ▽ is far below chance ({error} shared by all cells)."
        ).format(error=percent(ERROR)),
        "attacker": _("attacker"),
        "stability": _("How firm ranks are"),
        "kept": _("keeps its rank"),
        "interval": _("95 per cent interval"),
        "between": _("ranks in 95 per cent of draws"),
        "mean": _("mean rank (its 95 per cent interval)"),
        "house": _("What the house’s attacks predicted"),
        "flags": _("Nearly equal files of different teams"),
        "refunds": _("Tries given back"),
        "rescorings": _("Judged again"),
        "lots": _("Lots"),
        "lots_note": _("Row order, pseudonyms and numbers follow from the salt, whose digest was published before."),
        "commitment": _("commitment"),
        "salt": _("salt"),
        "rulebook": _("rulebook"),
        "scorer": _("scorer"),
        "digest": _("digest of these results"),
    }
