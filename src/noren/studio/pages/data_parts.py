"""Parts of the page of the data: what was read, how unique people are, hierarchies."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from noren.data.formats.text_layout import ENCODINGS
from noren.data.frames import Table
from noren.data.guessing.column_types import guess_type
from noren.data.guessing.column_words import Hint, says
from noren.data.hierarchies.builders import builders_for
from noren.data.schema import Column, Role, Scale, ValueType
from noren.data.value_formats import NUMBER
from noren.drawing.bars import counts_bars
from noren.drawing.base import live
from noren.errors import NorenError, ParameterError, listing
from noren.i18n import _, active_language, ngettext
from noren.inference.coarseness import EXACT
from noren.inference.singling_out import identifiers, population
from noren.judgement.numbers import count, percent
from noren.judgement.page_text import printable
from noren.judgement.sentences import estimates_differ
from noren.reports.unicity import singled_out_caption, unicity_lines, unicity_table
from noren.studio.folders import DATA_FILE
from noren.studio.forms.columns import TYPES, ColumnFields, answer_of, types_for
from noren.studio.hierarchies import MOST_VALUES, BuilderRequest, build_hierarchy, hierarchy_facts
from noren.studio.pages.frame import ProjectRequest
from noren.tables import Texts

Facts = Mapping[str, Any]
say = Texts(__name__)
_SHOWN_NAMES = 5
_LARGEST = 3
_MOST_COLUMNS = 60
_LONGEST_NAME = 80
_NOT_OFFERED: Final = ("usual", "widths")
"""Builders that the page offers elsewhere: as the first one, and in a field of their own."""


def finding(facts: Facts, profile: Facts) -> str:
    """Return what the data are, as one sentence."""
    rows, missing, history = count(facts["rows"]), facts["missing"], profile["history"]
    gaps = say("gaps.none") if not missing else say("gaps.some", missing, count=count(missing))
    if history:
        name = "finding.purchases" if history["first"] is None else "finding.dated"
        people = count(history["customers"])
        return say(name, rows=rows, people=people, first=history["first"], last=history["last"], gaps=gaps)
    linking = sum(column["role"] == "quasi" for column in profile["columns"])
    columns = count(len(profile["columns"]))
    return say("finding.people", rows=rows, columns=columns, linking=count(linking), gaps=gaps)


def form_sentence(form: Facts, columns: int) -> str:
    """Return how a file is laid out."""
    if form["kind"] != "text":
        kind = form["kind"] if form["kind"] in ("parquet", "excel", "sample") else "public"
        return say(f"form.{kind}", name=form.get("name"), columns=count(columns))
    return say(
        "form.text",
        encoding=ENCODINGS.get(form["encoding"], form["encoding"]),
        delimiter=form["delimiter"],
        columns=count(columns),
        header=say("form.header" if form["header"] else "form.no_header"),
    )


def size(number: int) -> str:
    """Return how large a file is, as people say it.

    >>> size(999), size(1_234_567)
    ('999 B', '1.2 MB')
    """
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= scale:
            return f"{number / scale:,.1f} {unit}"
    return f"{number} B"


def questions(facts: Facts) -> list[dict[str, Any]]:
    """Return what the guess could not decide, in the viewer's language, each with its answers and the one given."""
    language, answers = active_language(), facts.get("answers", [])
    return [
        {
            "about": question["about"],
            "column": question["column"] or "",
            "text": printable(question["text"][language], 400),
            "stops": question["stops"],
            "answered": answer_of(question, answers),
            "answers": [
                {
                    "value": answer["value"],
                    "label": printable(answer["label"][language], 120),
                    "chosen": answer["value"] == question["chosen"],
                }
                for answer in question["answers"]
            ],
        }
        for question in facts.get("questions", [])
    ]


def reason_to_leave_out(column: str) -> str:
    """Return why a column of which nobody said what it is for should be left out; nothing where its name is silent."""
    return say("open.personal") if says(column, Hint.NAME, Hint.CONTACT, Hint.ADDRESS, Hint.BIRTH) else ""


def keeping(kind: str) -> str:
    """Return what becomes of a column that is kept as it is."""
    return say(f"keeping.{kind}")


def notices(facts: Facts) -> list[str]:
    """Return notices about columns that were left out or files that were removed."""
    unreadable = facts.get("unreadable", [])
    left = [name for name in facts.get("left_out", []) if name not in unreadable]
    columns_by_notice = {"unreadable": unreadable, "left_out": left, "replaced": facts.get("replaced", [])}
    return [
        say(f"notices.{what}", names=listing([printable(name, 60) for name in names], _SHOWN_NAMES))
        for what, names in columns_by_notice.items()
        if names
    ]


def history_context(history: Facts) -> dict[str, Any]:
    """Return how much customers buy (``rows``) and for how long (``months``), each with what half of them do."""
    about = {"customers": history["customers"], "things": history["items"], "shape": history["shape"]}
    for name, counts, label in (
        ("rows", history["rows_per_customer"], _("Purchases")),
        ("months", history["months_active"], _("Months")),
    ):
        if counts is None:
            about[name] = None
            continue
        caption = say("values.none")
        if counts["total"]:
            median = f"{counts['median']:,.1f}".removesuffix(".0")
            caption = say(f"half.{name}", math.ceil(counts["median"]), median=median, most=count(counts["maximum"]))
        about[name] = {
            "caption": caption,
            "spec": live(counts_bars(counts, label_title=label, value_title=_("Customers"))),
            "table": [[label, count(n)] for label, n in zip(counts["labels"], counts["counts"], strict=True)],
        }
    return about


def values_sentence(about: Facts, rows: int) -> str:
    """Return what the values of a column are: from where to where, or the commonest."""
    if about["minimum"] is not None:
        return say("values.range", low=about["minimum"], high=about["maximum"])
    bars = about["bars"]
    if not bars or not rows:
        return say("values.none")
    named = len(bars["labels"]) - (1 if bars["others"] else 0)
    if about["distinct"] == rows - about["missing"] and rows > 1:
        return say("values.once", example=printable(bars["labels"][0], 40))
    shares = [
        f"{printable(bars['labels'][i], 40)} ({percent(bars['weights'][i] / rows)})" for i in range(min(2, named))
    ]
    return say("values.mostly", values=", ".join(shares))


def conversion(visit: ProjectRequest, fields: ColumnFields) -> dict[str, str] | None:
    """Return what the texts of a column can be read as where its role needs that, for a button that does so."""
    wanted = types_for(fields.role)
    if fields.out or not wanted or fields.type in wanted or not visit.project.is_ready:
        return None
    folder, schema = visit.studio.columns(visit.project.id)
    if fields.name not in schema.names:
        return None
    values = pl.read_parquet(folder / DATA_FILE, columns=[fields.name]).to_series().drop_nulls().cast(pl.String)
    kind = guess_type(values.alias(fields.name), []).type
    if kind in wanted:
        return {"type": str(kind), "text": say("convert.read_as", type=_(TYPES[kind]))}
    odd = values.filter(~values.str.contains(NUMBER)) if ValueType.DECIMAL in wanted else values
    if not len(odd):
        return None
    words = {"count": count(len(odd)), "type": _(TYPES[wanted[-1]]), "example": printable(odd[0], 40)}
    return {"type": "", "text": say("convert.odd", len(odd), **words)}


def levels_sentence(about: Facts) -> str:
    """Return how a hierarchy grows wider, or why there is none."""
    if about["reason"]:
        return say(f"levels.{about['reason']}", most=count(MOST_VALUES))
    steps = " → ".join(count(level["labels"]) for level in about["levels"])
    return say("levels.levels", len(about["levels"]), count=len(about["levels"]), steps=steps)


def bars_drawn(about: Facts, rows: int, wide: float = 160, high: float = 40) -> list[dict[str, Any]]:
    """Return a column's small histogram as rectangles: place, size, and what each says.

    All other values of a long list are no bar: it would dwarf the rest.

    >>> about = {"bars": {"labels": ["a", "b"], "weights": [4.0, 2.0], "others": False}}
    >>> [(bar["x"], bar["width"], bar["height"]) for bar in bars_drawn(about, 6)]
    [(0.0, 78.0, 40.0), (80.0, 78.0, 20.0)]
    """
    bars = about["bars"]
    weights = (bars["weights"][:-1] if bars["others"] else bars["weights"]) if bars else []
    if not weights:
        return []
    step, top = wide / len(weights), max(weights) or 1.0
    gap = min(2.0, step / 5)
    drawn = []
    for i, (label, weight) in enumerate(zip(bars["labels"], weights, strict=False)):
        height = max(round(weight / top * high, 2), 0.8 if weight else 0.0)
        bar_rows = ngettext("{count} row", "{count} rows", round(weight)).format(count=count(round(weight)))
        drawn.append(
            {
                "x": round(i * step, 2),
                "y": round(high - height, 2),
                "width": round(step - gap, 2),
                "height": height,
                "text": f"{printable(label, 60)}: {bar_rows} ({percent(weight / rows if rows else 0.0)})",
            }
        )
    return drawn


def identifying_context(visit: ProjectRequest, people: str) -> dict[str, Any]:
    """Return how well columns and small sets of them identify people, and the estimated number of unique people."""
    folder, schema = visit.studio.columns(visit.project.id)
    table = Table(pl.read_parquet(folder / DATA_FILE, columns=list(schema.names)), schema)
    names = [column.name for column in schema.columns if column.role != Role.IDENTIFIER][:_MOST_COLUMNS]
    context: dict[str, Any] = {"people": people, "rows": [], "problem": "", "unique": None}
    try:
        sets = identifiers(table, columns=names, largest=_LARGEST)
        context["rows"] = [
            {"columns": " + ".join(printable(name, _LONGEST_NAME) for name in column_set.columns)}
            | {name: percent(getattr(column_set, name)) for name in ("alone", "separation", "distinction")}
            for column_set in (*sets.columns, *sets.sets)
        ]
        if people.strip():
            context["unique"] = _unique(table, people)
    except NorenError as error:
        context["problem"] = str(error)
    return context


def _unique(table: Table, people: str) -> dict[str, Any]:
    try:
        number = float(people.replace(",", "").replace("_", "").strip())
    except ValueError:
        raise ParameterError(say("no_number", text=printable(people, 40))) from None
    estimate = population(table, number)
    sentence = say(
        "unique",
        uniques=count(round(estimate.uniques)),
        people=count(estimate.population),
        share=percent(estimate.share),
        estimator=estimate.chosen,
        rows=count(estimate.rows),
        alone=count(estimate.alone),
    )
    every = estimate.population
    estimates = {name: f"{count(round(n))} ({percent(n / every)})" for name, n in estimate.estimates.items()}
    others = [
        (name, estimates[name] if name in estimates else estimate.failed[name])
        for name in ("pitman", "zayatz", "snb")
        if name != estimate.chosen
    ]
    return {"sentence": sentence, "others": others, "apart": estimates_differ(estimate)}


def unicity_context(history: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the curve of a profile for the page; None of tables, of one customer and of profiles made before."""
    unicity = None if history is None else history.get("unicity")
    if unicity is None:
        return None
    names = {EXACT: _("exact")}
    known = ", ".join(f"{printable(name, 40)} ({names.get(word, word)})" for name, word in unicity["columns"].items())
    about = say("known", known=known, sampled=count(unicity["sampled"]), customers=count(unicity["customers"]))
    headings, rows = unicity_table(unicity["curve"])
    return {
        "caption": singled_out_caption(unicity),
        "about": about,
        "spec": live(unicity_lines(unicity["curve"])),
        "headings": headings,
        "table": rows,
    }


@dataclass(frozen=True)
class HierarchyDraft:
    """The form of one column's hierarchy: as typed, with a preview or the problem."""

    place: int
    request: BuilderRequest
    about: Mapping[str, Any] | None = None
    problem: str = ""
    saved: bool = False


def try_hierarchy(visit: ProjectRequest, posted: Mapping[str, str]) -> HierarchyDraft:
    """Do what a form asks: keep widths, the first one again or what a builder makes, or only look at that."""
    folder, schema = visit.studio.columns(visit.project.id)
    names = schema.names
    index = posted.get("column", "")
    place = int(index) if index.isdigit() and int(index) < len(names) else 0
    builds = "by" in posted
    text = posted.get("with" if builds else "widths", "").replace("\r\n", "\n")
    request = BuilderRequest(posted.get("by", "widths"), text, posted.get("other", "").strip())
    keep = not builds or posted.get("act") == "keep"
    try:
        if not builds and "first" not in posted and not text.strip():
            raise ParameterError(_("no width is given; write them like 5, 10, 20"))
        wanted = None if "first" in posted else request
        about = build_hierarchy(folder, schema, names[place], wanted, keep=keep)
    except NorenError as error:
        return HierarchyDraft(place, request, problem=str(error))
    return HierarchyDraft(place, request, about, saved=keep)


def hierarchies_context(visit: ProjectRequest, tried: HierarchyDraft | None) -> list[dict[str, Any]]:
    """Return what the page shows of each column that could link a person."""
    folder, schema = visit.studio.columns(visit.project.id)
    numbered = {name: i for i, name in enumerate(schema.names)}
    return [
        _hierarchy_context(about, schema[about["name"]], numbered[about["name"]], tried)
        for about in hierarchy_facts(folder)
        if about["name"] in numbered and schema[about["name"]].role == Role.QUASI
    ]


def _hierarchy_context(about: Facts, column: Column, place: int, tried: HierarchyDraft | None) -> dict[str, Any]:
    own = about["request"] and BuilderRequest(**about["request"])
    widths = ", ".join(f"{width:.15g}" for width in about["widths"] or [])
    is_open = tried is not None and tried.place == place
    mine = tried if tried is not None and is_open else HierarchyDraft(place, BuilderRequest("widths", widths))
    builds = mine.request.by != "widths"
    built = _("built by {by}").format(by=own.by if own else "widths")
    return {
        "index": place,
        "column": column.name,
        "name": printable(column.name, _LONGEST_NAME),
        "sentence": levels_sentence(about),
        "made": _("your file") if about["made"] == "uploaded" else built,
        "is_first": about["made"] == "default",
        "is_number": column.scale == Scale.RATIO,
        "widths": widths if builds else mine.request.text,
        "has_file": bool(about["file"]),
        "levels": _levels(about),
        "builders": [way for way in builders_for(column) if way.by not in _NOT_OFFERED],
        "request": mine.request if builds else own or BuilderRequest(""),
        "problem": mine.problem,
        "wrong_widths": bool(mine.problem) and not builds,
        "wrong_builder": bool(mine.problem) and builds,
        "open": is_open,
        "open_builder": builds,
        "preview": [] if mine.about is None else _levels(mine.about),
        "preview_sentence": "" if mine.about is None else levels_sentence(mine.about),
    }


def _levels(about: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        level
        | {
            "examples": [(printable(label, 40), rows) for label, rows in level["examples"]],
            "rest": f"+{count(level['more'])}" if level["more"] else "",
        }
        for level in about["levels"]
    ]
