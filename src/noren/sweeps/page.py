"""Pages of a study: an HTML report for a privacy officer, its map as a picture, and the short form for a notebook.

The report loads nothing and runs nothing, prints well and follows the reader's light or dark theme. It contains only
numbers: no seed, no person, no row of the original.
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
from noren.drawing.base import Spec, picture, render_page
from noren.drawing.risk_map import lines_of, method_shapes, risk_utility_map, use_title
from noren.i18n import _
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
from noren.sweeps.advice import Candidate, failure_text, rule_text
from noren.sweeps.plan import shared_parameters
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
    """Return the page as text, in the active language; the same study gives the same bytes."""
    _headline, *rest = study.answer
    safest = [study.settings[choice.safest] for choice in study.choices if choice.safest is not None]
    detailed = [setting for setting in study.settings if setting.recommended] or safest
    history = study.source.schema.kind == Kind.HISTORY
    first = ["attacks"] if history else ["classes"]
    if not history and len({choice.use_of for choice in study.choices}) > 1:
        first.append("measured_differently")
    about = _("settings: {settings}, rows: {rows}, people: {people}, runs per setting: {runs}")
    # every number of the page with its meaning, as on all pages
    use = use_title([setting.place for setting in study.settings])
    glossary = {"use": GlossaryEntry("use", use, say("glossary.use"), say("glossary.more_useful"))}
    if history:
        name, meaning = say("glossary.survival"), say("glossary.survival_meaning")
        glossary["survival"] = GlossaryEntry("survival", name, meaning, say("glossary.safer"))
    attacked = ("named", "right", "rate", "chance", "share", "best", "needed") if history else ()
    repeat = [(_("The same study, from its folder:"), "noren explore --sweep sweep.toml")]
    for setting in detailed:
        if setting.recommended:
            order = ScriptOrder(setting.setting.statement, study.source.schema)
            text = _("A release by {label}, with a new seed:").format(label=setting.label)
            repeat.append((printable(text, 200), commands(order)[0].replace(" --seed SEED", "")))
    return render_page(
        "noren.sweeps",
        "sweep.html.jinja",
        "sweep.css",
        headline=study.answer[0],
        about=about.format(
            settings=count(len(study.settings)),
            rows=count(study.source.rows),
            people=count(study.source.people),
            runs=count(len(study.request.seeds)),
        ),
        glossary=glossary | terms("risk", *attacked, *VerdictStatus, "frontier"),
        request=_request_facts(study),
        rule=rule_text(study.request.rule, study.choices, study.request.purpose),
        answer=rest,
        map=settings_map(study.settings, study.choices, study.request.rule),
        frontier=frontier_sentence([setting.place for setting in study.settings if setting.place.is_placed]),
        wide=Markup(_drawn(study, _WIDE)),  # noqa: S704 - the drawer escapes texts
        narrow=Markup(_drawn(study, _NARROW, narrow=True)),  # noqa: S704 - see above
        history=history,
        survival=any("survival" in setting.scores for setting in study.settings),
        settings=study.settings,
        label=lambda setting: printable(setting.label, _LONGEST_LABEL),
        why=_why,
        parts=[_part(setting) for setting in detailed],
        caveats=[say(f"caveats.{name}") for name in (*first, "general", "best_of_many", "series", "law")],
        repeat=repeat,
        written=written,
        version=study.version,
    )


def short_html(study: SweepStudy) -> str:
    """Return the answer and a table of the settings, for a notebook."""
    rows = "".join(
        f"<tr><td>{escape(setting.label)}</td><td>{escape(setting.verdict_label)}</td>"
        f"<td>{_cell(setting.place.use, decimal)}</td><td>{_cell(setting.place.risk, percent)}</td></tr>"
        for setting in study.settings
    )
    heads = "".join(f"<th>{escape(text)}</th>" for text in (_("setting"), _("verdict"), _("utility kept"), _("risk")))
    paragraphs = "".join(f"<p>{escape(line)}</p>" for line in [*study.answer, rule_sentence(study.request.rule)])
    return f"<div>{paragraphs}<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"


def _cell(value: float | None, written: Any) -> str:
    return "–" if value is None else str(escape(written(value)))


# --- the map ---------------------------------------------------------------------------------------------------------


def frontier_svg(study: SweepStudy) -> str:
    """Return the map as a picture of its own, with a background."""
    head, _end, rest = _drawn(study, _WIDE).partition(">")
    return f'{head}><rect width="100%" height="100%" fill="{_PAPER}"/>{rest}'


def _drawn(study: SweepStudy, size: tuple[int, int], *, narrow: bool = False) -> str:
    """Return the map as SVG, from the cache if possible: drawing takes longer than all the rest."""
    settings_map_ = settings_map(study.settings, study.choices, study.request.rule)
    if settings_map_ is None:
        return '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"></svg>\n'
    spec = settings_map_.chart(size, narrow=narrow)
    if study.cache is None:
        return picture(spec)
    key = hashlib.sha256(json.dumps([spec, code_digest("noren.drawing.risk_map")]).encode()).hexdigest()
    path = study.cache / "charts" / f"{key}.svg"
    if not path.exists():
        with writing_file(path) as aside:
            aside.write_text(picture(spec), encoding="utf-8", newline="\n")
    return path.read_text(encoding="utf-8")


# --- parts of the page -----------------------------------------------------------------------------------------------


def _request_facts(study: SweepStudy) -> list[tuple[str, str]]:
    """Return what was requested, as pairs of a label and a text."""
    request, history = study.request, study.source.schema.kind == Kind.HISTORY
    settings = Counter(setting.method.name for setting in request.settings)
    shared = shared_parameters(request.settings)
    facts = [
        (_("Data"), _("purchase history") if history else _("table of people")),
        (
            _("Methods"),
            "; ".join(f"{name} ({', '.join([str(n), *shared.get(name, [])])})" for name, n in settings.items()),
        ),
    ]
    if history:
        facts.append((_("Attacks"), ", ".join(component.name for component in request.attacks) or _("none")))
    facts.append((_("Measures"), ", ".join(component.name for component in request.measures) or _("none")))
    return [(name, printable(text, 400)) for name, text in facts]


def _why(setting: SettingResult) -> str:
    """Return the verdict on a setting in a sentence; of one without a release, why there is none."""
    if setting.verdict is not None:
        return printable(setting.verdict.sentence, 400)
    failed = "; ".join(failure_text(name, reason) for name, reason in setting.failed.items())
    return printable(failed or setting.runs[0].reason(), 400)


def _part(setting: SettingResult) -> dict[str, Any]:
    """Return the details of the recommended setting, or of the safest where none meets the rule."""
    worst, verdict, label = setting.worst, setting.verdict, printable(setting.label, _LONGEST_LABEL)
    evidence = () if verdict is None else verdict.evidence
    left_out = {} if worst is None else worst.left_out
    classes: list[tuple[str, str]] = []  # facts of the classes of a table, and what is proved
    if verdict is not None and verdict.facts.table is not None:
        table, guarantee = verdict.facts.table, verdict.guarantee
        facts: list[tuple[str, Any]] = [
            (_("chance to find a person, at most"), None if guarantee is None else guarantee.bound),
            (_("chance to find the most exposed person"), None if verdict.risk_of == "guarantee" else table.prosecutor),
            (_("chance to find a person, in the mean"), table.marketer),
            (_("share of rows in classes that are too small"), table.below),
        ]
        classes += [] if table.least is None else [(_("rows in the smallest class"), count(table.least))]
        classes += [(name, percent(value)) for name, value in facts if value is not None]
    scores = []
    for view in measure_views({name: Score(value) for name, value in setting.scores.items() if value is not None}):
        known = measures[view.name] if view.name in measures else None  # noqa: SIM401 - a register has no get
        axis = None if known is None or known.of_perturbed else known.utility_axis
        if view.group == "safety" or (axis is not None and axis.always and setting.setting.method.perturbs):
            continue  # what was measured to place the point says nothing about perturbed values
        better = {"lower": _("lower is better"), "higher": _("higher is better")}.get(view.goal or "", "")
        scores.append({"name": view.name, "summary": _(view.summary), "better": better, "value": view.value})
    return {
        "verdict": str(setting.place.status),
        "title": say(f"titles.{'recommended' if setting.recommended else 'safest'}", label=label),
        "attacks": [
            (exhibit, _(attacks[exhibit.attack].summary) if exhibit.attack in attacks else "")
            for exhibit in evidence
            if exhibit.right
        ],
        "unsuccessful": [exhibit.attack for exhibit in evidence if not exhibit.right],
        "classes": classes,
        "cautions": [] if verdict is None else cautions(verdict),
        "scores": scores,
        "left_out": [f"{name}: {in_language(reason)}" for name, reason in left_out.items()],
        "failed": [failure_text(name, reason) for name, reason in setting.failed.items()],
    }


# --- the settings on one map -----------------------------------------------------------------------------------------
#
# Reports of sweeps and the studio draw the same map. Settings far beyond the rule are named in a sentence, not drawn,
# so that the part of the map where a choice can be made has room.

_LONGEST = 40
_NO_METHOD = "chain"
_SPOT = 0.005
"""Within this distance on both axes, two settings share one spot."""


@dataclass(frozen=True)
class SettingsMap:
    """A map of settings."""

    places: Sequence[RiskUtilityPoint]
    drawn: Sequence[int]
    """The settings that are drawn, the most important labels first; positions in the list of settings."""
    labels: Sequence[str]
    """The label of each: its verdict's mark, its method, and what distinguishes it from others of its method."""
    brief: Sequence[str]
    """The same without the method, for a narrow map, where the shape shows it."""
    methods: Sequence[str]
    taken: Sequence[int]
    allowed: float
    shapes: Mapping[str, str]
    """The shape of each method that is drawn, as a path between -1 and 1."""
    words: Sequence[str]
    """The verdicts that occur, each with its mark."""
    far: str
    """A sentence about settings that are not drawn; empty where all are."""

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
    """Return the map of settings judged by a rule; None where none has risk and utility."""
    known = [i for i, setting in enumerate(settings) if setting.place.is_placed]
    if not known:
        return None
    least = {choice.safest for choice in choices}
    far = [i for i in known if far_beyond(settings[i].place, rule) and i not in least]
    named = [(choice.chosen, choice.safest, choice.more_useful, choice.safer) for choice in choices]
    wanted = {i: rank for some in named for rank, i in enumerate(i for i in some if i is not None)}
    best = set(releasable_points([setting.place for setting in settings]))
    labels = _labels(settings)
    more: dict[int, int] = {}  # those to draw, and how many more of the same method are on the same spot
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
    """Return the method of each setting, its strength, and what else distinguishes it from others of its method."""
    word_lists = [setting.label.split(", ") for setting in settings]
    for setting, own in zip(settings, word_lists, strict=True):
        if setting.strength and setting.strength not in own and setting.method != _NO_METHOD:
            own.insert(1, setting.strength)
    labels = []
    for setting, own in zip(settings, word_lists, strict=True):
        alike = [other for other, each in zip(word_lists, settings, strict=True) if each.method == setting.method]
        shared = set.intersection(*map(set, alike)) if len(alike) > 1 and setting.method != _NO_METHOD else set()
        always = (setting.method, setting.strength)
        labels.append(", ".join(word for word in own if word not in shared or word in always))
    return labels
