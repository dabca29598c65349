"""A study as one page for a privacy officer, its map as a picture, and the short form that a notebook shows.

The page is one HTML file. It loads nothing and runs nothing, prints well and follows the reader's light or dark theme.
It tells numbers alone: no seed, no person, no row of the original.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from noren.attacks import attacks
from noren.data.formats.files import writing_file
from noren.data.schema import Kind
from noren.data.statement import Statement
from noren.i18n import _, active_language, ngettext
from noren.measures import measures
from noren.study.findings import Verdict, count, decimal, percent, tenth
from noren.study.page_text import printable
from noren.study.risk_map import risk_title, use_title
from noren.study.scripts import Order, commands
from noren.study.sweep_page_words import caveats, glossary, words
from noren.study.sweep_plan import shared_words, statement_of
from noren.study.sweep_results import SettingResult, in_language
from noren.study.sweep_words import answer, chance, failure_words, frontier_words, headline, rule, setting_sentence
from noren.study.templating import house_styles, template
from noren.units.sources import code_digest

if TYPE_CHECKING:
    from noren.study.sweep_study import Study

__all__ = ["frontier_svg", "page_html", "short_html"]

_LONGEST_LABEL = 120
_WIDE, _NARROW = (640, 380), (270, 280)
_PAPER = "#fbfaf7"


def page_html(study: Study) -> str:
    """Return the page as text, in the language now spoken; the same study gives the same bytes."""
    said = answer(study)
    shown = [one for one in study.settings if one.recommended] or _safest(study)
    return template("noren.study", "sweep.html.jinja").render(
        language=active_language(),
        headline=headline(study),
        about=_about(study),
        words=words(),
        glossary=glossary(study),
        asked=_asked(study),
        rule=rule(study),
        answer=said[1:],
        map=_map(study),
        history=study.source.kind == Kind.HISTORY,
        runs=len(study.asked.seeds),
        settings=[_line(study, one) for one in study.settings],
        parts=[_part(study, one) for one in shown],
        caveats=caveats(study),
        repeat=_repeat(study, shown),
        count=count,
        decimal=decimal,
        percent=percent,
        tenth=tenth,
        chance=chance,
        version=study.version,
        css=house_styles("noren.study", "sweep.css"),
    )


def short_html(study: Study) -> str:
    """Return the answer and a table of the settings, for a notebook."""
    rows = "".join(
        f"<tr><td>{escape(one.setting.label)}</td><td>{escape(one.verdict_words)}</td>"
        f"<td>{_cell(one.point['use'], decimal)}</td><td>{_cell(one.point['risk'], percent)}</td></tr>"
        for one in study.settings
    )
    heads = "".join(f"<th>{escape(text)}</th>" for text in (_("setting"), _("verdict"), _("use kept"), _("risk")))
    said = "".join(f"<p>{escape(line)}</p>" for line in answer(study))
    return f"<div>{said}<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"


def _cell(value: float | None, written: Any) -> str:
    return "–" if value is None else str(escape(written(value)))


def _safest(study: Study) -> list[SettingResult]:
    return [study.settings[choice.safest] for choice in study.choices if choice.safest is not None]


# --- the map ---------------------------------------------------------------------------------------------------------


def frontier_svg(study: Study) -> str:
    """Return the map as a picture that stands alone, on paper of its own."""
    head, _end, rest = _drawn(study, _WIDE).partition(">")
    return f'{head}><rect width="100%" height="100%" fill="{_PAPER}"/>{rest}'


@dataclass(frozen=True)
class _Map:
    finding: str
    wide: Markup
    narrow: Markup
    untried: bool


def _map(study: Study) -> _Map | None:
    placed = _placed(study)
    if not placed:
        return None
    return _Map(
        frontier_words(sum(one.on_frontier for one in placed), len(placed)),
        Markup(_drawn(study, _WIDE)),  # noqa: S704 - the drawer escapes texts
        Markup(_drawn(study, _NARROW)),  # noqa: S704 - see above
        any(one.point["verdict"] == Verdict.UNTRIED for one in placed),
    )


def _placed(study: Study) -> list[SettingResult]:
    """Return the settings that have a place, those that want a label most first."""
    known = [one for one in study.settings if one.point["use"] is not None and one.point["risk"] is not None]
    return sorted(known, key=lambda one: (not one.recommended, not one.on_frontier))


def _drawn(study: Study, size: tuple[int, int]) -> str:
    """Return the map as SVG; a drawing is kept as other pieces are, for it takes longer than all other reading."""
    placed = _placed(study)
    if not placed:
        return '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"></svg>\n'
    points = [one.point for one in placed]
    lines: dict[Any, list[int]] = {}
    for i in sorted(range(len(placed)), key=lambda i: (points[i]["use"], points[i]["risk"])):
        if placed[i].on_frontier:
            lines.setdefault(points[i]["use_of"], []).append(i)
    facts = {
        "places": [
            [text, point["use"], point["risk"], str(_mark(point)), one.recommended]
            for one, point, text in zip(placed, points, _short_labels(placed), strict=True)
        ],
        "titles": [use_title(points), risk_title(points)],
        "lines": list(lines.values()),
        "size": size,
    }
    if study.cache is None:
        return _draw(facts)
    said = json.dumps([facts, active_language(), code_digest("noren.study.charts")], ensure_ascii=False)
    path = study.cache / "charts" / f"{hashlib.sha256(said.encode()).hexdigest()}.svg"
    if not path.exists():
        with writing_file(path) as aside:
            aside.write_text(_draw(facts), encoding="utf-8", newline="\n")
    return path.read_text(encoding="utf-8")


def _draw(facts: Mapping[str, Any]) -> str:
    from noren.study.charts import Place, risk_utility_map

    return risk_utility_map(
        [Place(text, use, risk, Verdict(mark), taken=taken) for text, use, risk, mark, taken in facts["places"]],
        width=facts["size"][0],
        height=facts["size"][1],
        titles=tuple(facts["titles"]),
        lines=facts["lines"],
        near=True,
    )


def _mark(point: Any) -> Verdict:
    if point["withstands"]:
        return Verdict.WITHSTANDS
    return Verdict.UNTRIED if point["verdict"] == Verdict.UNTRIED else Verdict.BROKEN


def _short_labels(settings: Sequence[SettingResult]) -> list[str]:
    """Return what stands beside points: of one method alone, what tells its settings apart."""
    names = {one.setting.method.name for one in settings}
    labels = [printable(one.setting.label, _LONGEST_LABEL) for one in settings]
    if len(names) > 1:
        return labels
    rests = [label.removeprefix(next(iter(names))).strip(", ").split(", ") for label in labels]
    shared = set.intersection(*map(set, rests)) if len(rests) > 1 else set()
    return [
        ", ".join(word for word in rest if word not in shared) or label
        for rest, label in zip(rests, labels, strict=True)
    ]


# --- parts of the page -----------------------------------------------------------------------------------------------


def _about(study: Study) -> str:
    words = ngettext(
        "{settings} setting on {rows} rows about {people} people, {runs} for each",
        "{settings} settings on {rows} rows about {people} people, {runs} for each",
        len(study.settings),
    )
    runs = ngettext("{count} run", "{count} runs", len(study.asked.seeds)).format(count=count(len(study.asked.seeds)))
    return words.format(
        settings=count(len(study.settings)), rows=count(study.source.rows), people=count(study.source.people), runs=runs
    )


def _asked(study: Study) -> list[tuple[str, str]]:
    """Return what was asked, as pairs of words and an answer."""
    asked, history = study.asked, study.source.kind == Kind.HISTORY
    settings: dict[str, int] = {}
    for one in asked.settings:
        settings[one.method.name] = settings.get(one.method.name, 0) + 1
    shared = shared_words(asked.settings)
    facts = [
        (_("data"), _("a purchase history") if history else _("a table of people")),
        (
            _("methods"),
            "; ".join(f"{name} ({', '.join([str(n), *shared.get(name, [])])})" for name, n in settings.items()),
        ),
    ]
    if history:
        facts.append((_("attacks tried"), ", ".join(one.name for one in asked.attacks) or _("none")))
    facts.append((_("measures"), ", ".join(one.name for one in asked.measures) or _("those of the map alone")))
    if history:
        facts.append((_("attackers to survive"), count(asked.attackers)))
        facts.append((_("chance to survive, at least"), f"{asked.require:g}"))
    if asked.most_risk is not None:
        facts.append((_("risk accepted, at most"), percent(asked.most_risk)))
    return [(name, printable(text, 400)) for name, text in facts]


def _line(study: Study, one: SettingResult) -> dict[str, Any]:
    point = one.point
    return {
        "label": printable(one.setting.label, _LONGEST_LABEL),
        "verdict": "refused" if not one.done else str(_mark(point)),
        "verdict_words": one.verdict_words,
        "use": point["use"],
        "risk": point["risk"],
        "survival": point["survival"],
        "on_frontier": one.on_frontier,
        "recommended": one.recommended,
        "why": printable(setting_sentence(study, one), 300),
    }


def _part(study: Study, one: SettingResult) -> dict[str, Any]:
    """Return what the page tells of the setting to take, or of the safest where none withstands."""
    worst = one.worst
    return {
        "label": printable(one.setting.label, _LONGEST_LABEL),
        "verdict": str(_mark(one.point)),
        "title": (
            _("{label}: what leaks, and what stays useful")
            if one.recommended
            else _("{label}, the safest: what leaks, and what stays useful")
        ).format(label=printable(one.setting.label, _LONGEST_LABEL)),
        "attacks": [] if worst is None else [_attack(facts) for facts in worst.attacks if facts["right"]],
        "in_vain": [] if worst is None else [facts["attack"] for facts in worst.attacks if not facts["right"]],
        "table_risk": _risk_facts(one),
        "scores": _scores(one),
        "left_out": [] if worst is None else [f"{name}: {in_language(said)}" for name, said in worst.left_out.items()],
        "failed": [failure_words(name, said) for name, said in one.failed.items()],
    }


def _attack(facts: Any) -> dict[str, Any]:
    best = facts["best"]["sharp"]
    name = facts["attack"]
    return {
        "name": name,
        "summary": _(attacks[name].summary) if name in attacks else "",
        "named": best["named"],
        "right": best["right"],
        "needed": best["needed"],
        "effective": best["effective"],
        "share": facts["share"],
    }


def _risk_facts(one: SettingResult) -> list[tuple[str, str]]:
    risk = None if one.worst is None else one.worst.table_risk
    if risk is None:
        return []
    facts: list[tuple[str, Any]] = [
        (_("chance to find a person, proven, at most"), risk["bound"]),
        (_("chance to find the most exposed person"), risk["prosecutor"]),
        (_("chance to find a person, in the mean"), risk["marketer"]),
        (_("share of rows in classes that are too small"), risk["below"]),
    ]
    told = [(name, percent(value)) for name, value in facts if value is not None]
    if risk["least"] is not None:
        told.insert(0, (_("rows in the smallest class"), count(risk["least"])))
    return told


def _scores(one: SettingResult) -> list[dict[str, Any]]:
    told = []
    for name in sorted({name for run in one.done for name in run.scores}):
        value = one.score(name)
        known = measures[name] if name in measures else None  # noqa: SIM401 - a register has no get
        if value is None or (known is not None and ".safety." in known.__module__):
            continue
        if name == "table-loss" and one.point["use_of"] == "l1-precision":
            continue  # it was measured to place the point, and says nothing of perturbed values
        told.append(
            {
                "name": name,
                "summary": _(known.summary) if known else "",
                "unit": _(known.unit) if known else "",
                "better": "" if known is None else _better(known.goal),
                "value": value,
                "text": count(int(value)) if float(value).is_integer() and abs(value) >= 2 else decimal(value),
            }
        )
    return told


def _better(goal: str) -> str:
    return _("lower is better") if goal == "lower" else _("higher is better")


def _repeat(study: Study, shown: Sequence[SettingResult]) -> list[tuple[str, str]]:
    """Return commands, each with what it does."""
    told = [(_("This study again, from its folder, with the same numbers:"), "noren explore --sweep sweep.toml")]
    for one in shown:
        if one.recommended:
            made: Statement = statement_of(one.setting)
            command = commands(Order(made, study.source.schema))[0].replace(" --seed SEED", "")
            said = _("A release by {label}, with a seed of its own:").format(label=one.setting.label)
            told.append((printable(said, 200), command))
    return told
