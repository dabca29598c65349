"""The results as one page: self-contained, without scripts, in the language now spoken."""

from __future__ import annotations

from typing import Any

from noren.contest.results.model import Results, RoundResults
from noren.contest.stability import TeamStability
from noren.contest.standings import ERROR, Cell, Standing, below_chance
from noren.drawing.templating import house_styles, template
from noren.i18n import _, active_language, ngettext
from noren.judgement.numbers import count, decimal, percent
from noren.judgement.sentences import rule_sentence, word_text
from noren.version import __version__


def results_html(results: Results) -> str:
    """Return the page as text; the same results give the same bytes."""
    book = results.rulebook
    return template("noren.contest.results", "results.html.jinja").render(
        language=active_language(),
        css=house_styles("noren.contest.results", "results.css"),
        results=results,
        _=_,
        error=percent(ERROR),
        headline=_headline(results),
        rule=rule_sentence(book.judged_by),
        scoring=" + ".join(f"{one.weight:g} · {one.key}" for one in book.terms),
        conditions=[
            (_("{measure} is at least {limit}") if one.most is None else _("{measure} is at most {limit}")).format(
                measure=one.key, limit=f"{one.least if one.most is None else one.most:g}"
            )
            for one in book.conditions
        ],
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


def _row(one: Standing, keys: list[str]) -> dict[str, Any]:
    values, verdict = one.values or {}, one.verdict
    return {
        "standing": one,
        "rank": "–" if one.rank is None else count(one.rank),
        "values": ["–" if values.get(key) is None else decimal(values[key]) for key in keys],
        "score": "–" if one.score is None else decimal(one.score),
        "attacked": _("{effective} of {attackers}").format(
            effective=count(one.effective), attackers=count(one.attackers)
        ),
        "verdict": "" if verdict is None else word_text(verdict.word),
        "sentence": "" if verdict is None else verdict.sentence,
    }


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
