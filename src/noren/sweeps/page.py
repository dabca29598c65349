"""A study as one page for a privacy officer, its map as a picture, and the short form that a notebook shows.

The page is one HTML file. It loads nothing and runs nothing, prints well and follows the reader's light or dark theme.
It tells numbers alone: no seed, no person, no row of the original.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from noren.attacks import attacks
from noren.data.formats.files import writing_file
from noren.data.schema import Kind
from noren.drawing.base import Spec, page_styles, picture, template
from noren.drawing.risk_map import lines_of, method_shapes, risk_utility_map, use_title
from noren.i18n import _, active_language, ngettext
from noren.judgement.frontier import (
    Choice,
    RiskUtilityPoint,
    far_beyond,
    far_sentence,
    frontier_sentence,
    releasable_points,
)
from noren.judgement.glossary import GlossaryEntry, terms
from noren.judgement.numbers import count, decimal, percent
from noren.judgement.page_text import printable
from noren.judgement.rule import Rule
from noren.judgement.sentences import cautions, rule_sentence, verdict_label
from noren.judgement.verdict import VerdictStatus
from noren.measures import measures
from noren.protocols import Score
from noren.reports.run_view import measure_views, written
from noren.reports.scripts import ScriptOrder, commands
from noren.sweeps.advice import Candidate, failure_text, headline, rule_text
from noren.sweeps.plan import shared_words
from noren.sweeps.study import SettingResult, in_language
from noren.tables import Texts
from noren.work.store import code_digest

if TYPE_CHECKING:
    from noren.sweeps.study import SweepStudy

say = Texts(__name__)
_LONGEST_LABEL = 120
_WIDE, _NARROW = (640, 380), (270, 280)
_PAPER = "#fbfaf7"


def page_html(study: SweepStudy) -> str:
    """Return the page as text, in the language now spoken; the same study gives the same bytes."""
    _headline, *rest = study.answer
    safest = [study.settings[choice.safest] for choice in study.choices if choice.safest is not None]
    shown = [one for one in study.settings if one.recommended] or safest
    history = study.source.schema.kind == Kind.HISTORY
    first = ["attacks"] if history else ["classes"]
    if not history and len({choice.use_of for choice in study.choices}) > 1:
        first.append("measured_differently")
    about = ngettext(
        "{settings} setting on {rows} rows about {people} people, {runs} for each",
        "{settings} settings on {rows} rows about {people} people, {runs} for each",
        len(study.settings),
    )
    runs = ngettext("{count} run", "{count} runs", len(study.asked.seeds))
    # every number of the page with its meaning, as all pages say them
    use = use_title([one.place for one in study.settings])
    glossary = {"use": GlossaryEntry("use", use, say("glossary.use"), say("glossary.more_useful"))}
    if history:
        name, meaning = say("glossary.survival"), say("glossary.survival_meaning")
        glossary["survival"] = GlossaryEntry("survival", name, meaning, say("glossary.safer"))
    attacked = ("named", "right", "rate", "chance", "share", "best", "needed") if history else ()
    repeat = [(_("This study again, from its folder, with the same numbers:"), "noren explore --sweep sweep.toml")]
    for one in shown:
        if one.recommended:
            command = commands(ScriptOrder(one.setting.statement, study.source.schema))[0].replace(" --seed SEED", "")
            said = _("A release by {label}, with a seed of its own:").format(label=one.label)
            repeat.append((printable(said, 200), command))
    return template("noren.sweeps", "sweep.html.jinja").render(
        language=active_language(),
        headline=headline(study.settings, study.choices),
        about=about.format(
            settings=count(len(study.settings)),
            rows=count(study.source.rows),
            people=count(study.source.people),
            runs=runs.format(count=count(len(study.asked.seeds))),
        ),
        glossary=glossary | terms("risk", *attacked, *VerdictStatus, "frontier"),
        asked=_asked(study),
        rule=rule_text(study.asked.rule, study.choices),
        answer=rest,
        map=settings_map(study.settings, study.choices, study.asked.rule),
        frontier=frontier_sentence([one.place for one in study.settings if one.place.is_placed]),
        wide=Markup(_drawn(study, _WIDE)),  # noqa: S704 - the drawer escapes texts
        narrow=Markup(_drawn(study, _NARROW, narrow=True)),  # noqa: S704 - see above
        history=history,
        survival=any("survival" in one.scores for one in study.settings),
        settings=[_line(one) for one in study.settings],
        parts=[_part(one) for one in shown],
        caveats=[say(f"caveats.{name}") for name in (*first, "general", "best_of_many", "series", "law")],
        repeat=repeat,
        count=count,
        decimal=decimal,
        percent=percent,
        written=written,
        version=study.version,
        css=page_styles("noren.sweeps", "sweep.css"),
        _=_,
    )


def short_html(study: SweepStudy) -> str:
    """Return the answer and a table of the settings, for a notebook."""
    rows = "".join(
        f"<tr><td>{escape(one.label)}</td><td>{escape(one.verdict_words)}</td>"
        f"<td>{_cell(one.place.use, decimal)}</td><td>{_cell(one.place.risk, percent)}</td></tr>"
        for one in study.settings
    )
    heads = "".join(f"<th>{escape(text)}</th>" for text in (_("setting"), _("verdict"), _("utility kept"), _("risk")))
    said = "".join(f"<p>{escape(line)}</p>" for line in [*study.answer, rule_sentence(study.asked.rule)])
    return f"<div>{said}<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"


def _cell(value: float | None, written: Any) -> str:
    return "–" if value is None else str(escape(written(value)))


# --- the map ---------------------------------------------------------------------------------------------------------


def frontier_svg(study: SweepStudy) -> str:
    """Return the map as a picture that stands alone, on paper of its own."""
    head, _end, rest = _drawn(study, _WIDE).partition(">")
    return f'{head}><rect width="100%" height="100%" fill="{_PAPER}"/>{rest}'


def _drawn(study: SweepStudy, size: tuple[int, int], *, narrow: bool = False) -> str:
    """Return the map as SVG; a drawing is kept as other pieces are, for it takes longer than all other reading."""
    found = settings_map(study.settings, study.choices, study.asked.rule)
    if found is None:
        return '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"></svg>\n'
    spec = found.chart(size, narrow=narrow)
    if study.cache is None:
        return picture(spec)
    key = hashlib.sha256(json.dumps([spec, code_digest("noren.drawing.risk_map")]).encode()).hexdigest()
    path = study.cache / "charts" / f"{key}.svg"
    if not path.exists():
        with writing_file(path) as aside:
            aside.write_text(picture(spec), encoding="utf-8", newline="\n")
    return path.read_text(encoding="utf-8")


# --- parts of the page -----------------------------------------------------------------------------------------------


def _asked(study: SweepStudy) -> list[tuple[str, str]]:
    """Return what was asked, as pairs of words and an answer."""
    asked, history = study.asked, study.source.schema.kind == Kind.HISTORY
    settings = Counter(one.method.name for one in asked.settings)
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
    return [(name, printable(text, 400)) for name, text in facts]


def _line(one: SettingResult) -> dict[str, Any]:
    """Return what the table says of a setting; of one without a release, why there is none."""
    place = one.place
    if one.verdict is not None:
        why = one.verdict.sentence
    else:
        failed = "; ".join(failure_text(name, reason) for name, reason in one.failed.items())
        why = failed or one.runs[0].reason()
    return {
        "label": printable(one.label, _LONGEST_LABEL),
        "verdict": str(place.status) if one.done else "refused",
        "verdict_words": one.verdict_words,
        "use": place.use,
        "risk": place.risk,
        "survival": one.scores.get("survival"),
        "on_frontier": one.on_frontier and place.status.is_safe,
        "recommended": one.recommended,
        "why": printable(why, 400),
    }


def _part(one: SettingResult) -> dict[str, Any]:
    """Return what the page tells of the setting to take, or of the safest where none may be handed out."""
    worst, verdict, label = one.worst, one.verdict, printable(one.label, _LONGEST_LABEL)
    evidence = () if verdict is None else verdict.evidence
    classes: list[tuple[str, str]] = []  # what the classes of a table come to, and what is proved
    if verdict is not None and verdict.facts.table is not None:
        table, guarantee = verdict.facts.table, verdict.guarantee
        facts: list[tuple[str, Any]] = [
            (_("chance to find a person, proven, at most"), None if guarantee is None else guarantee.bound),
            (_("chance to find the most exposed person"), None if verdict.risk_of == "guarantee" else table.prosecutor),
            (_("chance to find a person, in the mean"), table.marketer),
            (_("share of rows in classes that are too small"), table.below),
        ]
        classes += [] if table.least is None else [(_("rows in the smallest class"), count(table.least))]
        classes += [(name, percent(value)) for name, value in facts if value is not None]
    scores = []
    for view in measure_views({name: Score(value) for name, value in one.scores.items() if value is not None}):
        known = measures[view.name] if view.name in measures else None  # noqa: SIM401 - a register has no get
        places = None if known is None or known.of_perturbed else known.utility_axis
        if view.group == "safety" or (places is not None and places.always and one.setting.method.perturbs):
            continue  # what was measured to place the point says nothing of perturbed values
        better = {"lower": _("lower is better"), "higher": _("higher is better")}.get(view.goal or "", "")
        scores.append({"name": view.name, "summary": _(view.summary), "better": better, "value": view.value})
    return {
        "verdict": str(one.place.status),
        "title": (
            _("{label}: what leaks, and what stays useful")
            if one.recommended
            else _("{label}, the safest: what leaks, and what stays useful")
        ).format(label=label),
        "attacks": [
            (one, _(attacks[one.attack].summary) if one.attack in attacks else "") for one in evidence if one.right
        ],
        "in_vain": [exhibit.attack for exhibit in evidence if not exhibit.right],
        "classes": classes,
        "cautions": [] if verdict is None else cautions(verdict),
        "scores": scores,
        "left_out": [] if worst is None else [f"{name}: {in_language(said)}" for name, said in worst.left_out.items()],
        "failed": [failure_text(name, said) for name, said in one.failed.items()],
    }


# --- the settings on one map -----------------------------------------------------------------------------------------
#
# Reports of sweeps and the studio draw the same map. What is broken far beyond the rule is told in one sentence and not
# drawn, so that the part of the map where a choice can be made has the room.

_LONGEST = 40
_NO_METHOD = "chain"
_SPOT = 0.005
"""How near to each other two settings lie on one spot, on both axes."""


@dataclass(frozen=True)
class SettingsMap:
    """A map of settings.

    Attributes
    ----------
    drawn
        The settings that are drawn, those that want a label most first; positions in the list of settings.
    labels
        What stands beside each of them: its verdict's mark, its method, and what tells it from others of its method.
    brief
        The same without the method, for a narrow map, where the shape tells it.
    shapes
        The shape of each method that is drawn, as a path between -1 and 1.
    words
        The verdicts that occur, each with its mark.
    far
        Which settings are not drawn, in a sentence; empty where all are.
    """

    places: Sequence[RiskUtilityPoint]
    drawn: Sequence[int]
    labels: Sequence[str]
    brief: Sequence[str]
    methods: Sequence[str]
    taken: Sequence[int]
    allowed: float
    shapes: Mapping[str, str]
    words: Sequence[str]
    far: str

    def chart(self, size: tuple[int, int], *, narrow: bool = False, addresses: Sequence[str] = ()) -> Spec:
        """Return the map as a chart; on a narrow one labels are brief."""
        return risk_utility_map(
            self.places,
            texts=self.brief if narrow else self.labels,
            size=size,
            near=True,
            taken=self.taken,
            lines=lines_of(self.places, releasable_points(self.places)),
            addresses=addresses,
            methods=self.methods,
            allowed=self.allowed,
        )


def settings_map(settings: Sequence[Candidate], choices: Sequence[Choice], rule: Rule) -> SettingsMap | None:
    """Return the map of settings that are judged by a rule; None where none has a place."""
    known = [i for i, one in enumerate(settings) if one.place.is_placed]
    if not known:
        return None
    least = {choice.safest for choice in choices}
    far = [i for i in known if far_beyond(settings[i].place, rule) and i not in least]
    named = [(one.chosen, one.safest, one.more_useful, one.safer) for one in choices]
    wanted = {i: rank for some in named for rank, i in enumerate(i for i in some if i is not None)}
    best = set(releasable_points([one.place for one in settings]))
    labels = _labels(settings)
    more: dict[int, int] = {}  # those to draw, and for how many more of its method on the same spot each stands
    for i in sorted((i for i in known if i not in far), key=lambda i: (wanted.get(i, 9), i not in best)):
        own = settings[i]
        same = (
            j
            for j in more
            if (settings[j].method, settings[j].place.status) == (own.method, own.place.status)
            and abs((settings[j].place.use or 0.0) - (own.place.use or 0.0)) < _SPOT
            and abs((settings[j].place.risk or 0.0) - (own.place.risk or 0.0)) < _SPOT
        )
        first = next(same, i)
        more[first] = more.get(first, -1) + 1
    drawn, texts = list(more), []
    for i in drawn:
        brief = labels[i].removeprefix(settings[i].method).strip(", ") or labels[i]
        mark = verdict_label(settings[i].place.status)[:1]
        both = [f"{mark} {printable(text, _LONGEST)}" for text in (labels[i], brief)]
        if more[i]:
            both = [_("{label} and {more} more").format(label=text, more=more[i]) for text in both]
        texts.append(both)
    chosen = {choice.chosen for choice in choices}
    places, methods = [settings[i].place for i in drawn], [settings[i].method for i in drawn]
    return SettingsMap(
        places=places,
        drawn=drawn,
        labels=[label for label, _brief in texts],
        brief=[brief for _label, brief in texts],
        methods=methods,
        taken=[at for at, i in enumerate(drawn) if i in chosen],
        allowed=float(rule.tolerance),
        shapes=method_shapes(methods),
        words=[verdict_label(word) for word in VerdictStatus if any(place.status == word for place in places)],
        far=far_sentence([settings[i].place.model_copy(update={"label": labels[i]}) for i in far], rule),
    )


def _labels(settings: Sequence[Candidate]) -> list[str]:
    """Return the method of each setting, how strong it is, and what else tells it from others of its method."""
    words = [one.label.split(", ") for one in settings]
    for one, own in zip(settings, words, strict=True):
        if one.strength and one.strength not in own and one.method != _NO_METHOD:
            own.insert(1, one.strength)
    found = []
    for one, own in zip(settings, words, strict=True):
        alike = [other for other, each in zip(words, settings, strict=True) if each.method == one.method]
        shared = set.intersection(*map(set, alike)) if len(alike) > 1 and one.method != _NO_METHOD else set()
        found.append(", ".join(word for word in own if word not in shared or word in (one.method, one.strength)))
    return found
