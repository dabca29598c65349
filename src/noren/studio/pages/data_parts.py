"""Parts of the page of a project's data: what was read, how unique people are, groups of values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

import polars as pl

from noren.data.formats.text_layout import DELIMITERS, ENCODINGS
from noren.data.frames import Table
from noren.data.guessing.column_types import guess_type
from noren.data.hierarchies.builders import builders_for
from noren.data.schema import Column, Role, Scale, ValueType
from noren.data.value_formats import NUMBER
from noren.drawing.bars import counts_bars
from noren.drawing.base import live
from noren.errors import NorenError, ParameterError, listing
from noren.i18n import _, active_language
from noren.inference.coarseness import EXACT
from noren.inference.singling_out import identifiers, population
from noren.judgement.numbers import count, percent
from noren.judgement.page_text import printable
from noren.judgement.sentences import estimates_differ
from noren.reports.unicity import singled_out_caption, unicity_lines, unicity_table
from noren.studio.folders import DATA_FILE
from noren.studio.forms.columns import TYPES, ColumnFields, answer_of, types_for
from noren.studio.hierarchies import BuilderRequest, build_hierarchy, hierarchy_facts
from noren.studio.pages.frame import ProjectRequest
from noren.tables import Texts

Facts = Mapping[str, Any]
say = Texts(__name__)
_SHOWN_NAMES = 5


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
    delimiter = form["delimiter"]
    return say(
        "form.text",
        encoding=ENCODINGS.get(form["encoding"], form["encoding"]),
        delimiter=say(f"delimiter.{DELIMITERS[delimiter]}") if delimiter in DELIMITERS else delimiter,
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
    language, given = active_language(), facts.get("answers", [])
    return [
        {
            "about": one["about"],
            "column": one["column"] or "",
            "text": printable(one["text"][language], 400),
            "stops": one["stops"],
            "answered": answer_of(one, given),
            "answers": [
                {
                    "value": answer["value"],
                    "label": printable(answer["label"][language], 120),
                    "chosen": answer["value"] == one["chosen"],
                }
                for answer in one["answers"]
            ],
        }
        for one in facts.get("questions", [])
    ]


def notices(facts: Facts) -> list[str]:
    """Return what happened on the way that a person should know."""
    unreadable = facts.get("unreadable", [])
    left = [name for name in facts.get("left_out", []) if name not in unreadable]
    told = {"unreadable": unreadable, "left_out": left, "replaced": facts.get("replaced", [])}
    return [
        say(f"notices.{what}", names=listing([printable(name, 60) for name in names], _SHOWN_NAMES))
        for what, names in told.items()
        if names
    ]


def history_context(history: Facts) -> dict[str, Any]:
    """Return how much customers buy (``rows``) and for how long (``months``), each with what half of them do."""
    about = {"customers": history["customers"], "things": history["items"], "shape": history["shape"]}
    for name, counts, label in (
        ("rows", history["rows_per_customer"], _("purchases of a customer")),
        ("months", history["months_active"], _("months in which a customer bought")),
    ):
        if counts is None:
            about[name] = None
            continue
        caption = say("half.nobody")
        if counts["total"]:
            median = f"{counts['median']:,.1f}".removesuffix(".0")
            caption = say(f"half.{name}", math.ceil(counts["median"]), median=median, most=count(counts["maximum"]))
        about[name] = {
            "caption": caption,
            "spec": live(counts_bars(counts, label_title=label, value_title=_("customers"))),
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
        return {"type": str(kind), "said": say("convert.read_as", type=_(TYPES[kind]))}
    odd = values.filter(~values.str.contains(NUMBER)) if ValueType.DECIMAL in wanted else values
    if not len(odd):
        return None
    words = {"count": count(len(odd)), "type": _(TYPES[wanted[-1]]), "example": printable(odd[0], 40)}
    return {"type": "", "said": say("convert.odd", len(odd), **words)}


def levels_sentence(about: Facts) -> str:
    """Return how a hierarchy grows wider, or why there is none."""
    if about["reason"]:
        return say(f"levels.{about['reason']}", most=count(50_000))
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
        drawn.append(
            {
                "x": round(i * step, 2),
                "y": round(high - height, 2),
                "width": round(step - gap, 2),
                "height": height,
                "said": say(
                    "bar",
                    label=printable(label, 60),
                    rows=count(round(weight)),
                    share=percent(weight / rows if rows else 0.0),
                ),
            }
        )
    return drawn


_LARGEST = 3
_MOST_COLUMNS = 60
_LONGEST_NAME = 80


def told_apart(visit: ProjectRequest, people: str) -> dict[str, Any]:
    """Return what the columns tell, each and in small sets; and who is unique among so many ``people``."""
    folder, schema = visit.studio.columns(visit.project.id)
    table = Table(pl.read_parquet(folder / DATA_FILE, columns=list(schema.names)), schema)
    names = [column.name for column in schema.columns if column.role != Role.IDENTIFIER][:_MOST_COLUMNS]
    said: dict[str, Any] = {"people": people, "rows": [], "problem": "", "unique": None}
    try:
        found = identifiers(table, columns=names, largest=_LARGEST)
        said["rows"] = [
            {"columns": " + ".join(printable(name, _LONGEST_NAME) for name in one.columns)}
            | {name: percent(getattr(one, name)) for name in ("alone", "separation", "distinction")}
            for one in (*found.columns, *found.sets)
        ]
        if people.strip():
            said["unique"] = _unique(table, people)
    except NorenError as error:
        said["problem"] = str(error)
    return said


def _unique(table: Table, people: str) -> dict[str, Any]:
    try:
        number = float(people.replace(",", "").replace("_", "").strip())
    except ValueError:
        raise ParameterError(say("no_number", text=printable(people, 40))) from None
    found = population(table, number)
    sentence = say(
        "unique",
        uniques=count(round(found.uniques)),
        people=count(found.population),
        share=percent(found.share),
        estimator=found.chosen,
        rows=count(found.rows),
        alone=count(found.alone),
    )
    told = {name: f"{count(round(n))} ({percent(n / found.population)})" for name, n in found.estimates.items()}
    others = [
        (name, told[name] if name in told else found.failed[name])
        for name in ("pitman", "zayatz", "snb")
        if name != found.chosen
    ]
    return {"sentence": sentence, "others": others, "apart": estimates_differ(found)}


def unicity_context(history: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the curve of a profile for the page; None of tables, of one customer and of profiles made before."""
    found = None if history is None else history.get("unicity")
    if found is None:
        return None
    in_words = {EXACT: _("exact")}
    words = ", ".join(f"{printable(name, 40)} ({in_words.get(word, word)})" for name, word in found["columns"].items())
    about = say("known", known=words, sampled=count(found["sampled"]), customers=count(found["customers"]))
    headings, rows = unicity_table(found["curve"])
    return {
        "caption": singled_out_caption(found),
        "about": about,
        "spec": live(unicity_lines(found["curve"])),
        "headings": headings,
        "table": rows,
    }


_NOT_OFFERED: Final = ("usual", "widths")
"""Builders that the page offers elsewhere: as the first one, and in a field of their own."""


@dataclass(frozen=True)
class HierarchyDraft:
    """What a person asked for one column: as it was typed, with what was built to look at, or what was wrong."""

    place: int
    asked: BuilderRequest
    about: Mapping[str, Any] | None = None
    said: str = ""
    kept: bool = False


def try_hierarchy(visit: ProjectRequest, posted: Mapping[str, str]) -> HierarchyDraft:
    """Do what a form asks: keep widths, the first one again or what a builder makes, or only look at that."""
    folder, schema = visit.studio.columns(visit.project.id)
    names = schema.names
    index = posted.get("column", "")
    place = int(index) if index.isdigit() and int(index) < len(names) else 0
    builds = "by" in posted
    text = posted.get("with" if builds else "widths", "").replace("\r\n", "\n")
    asked = BuilderRequest(posted.get("by", "widths"), text, posted.get("other", "").strip())
    keep = not builds or posted.get("act") == "keep"
    try:
        if not builds and "first" not in posted and not text.strip():
            raise ParameterError(_("no width is given; write them like 5, 10, 20"))
        wanted = None if "first" in posted else asked
        about = build_hierarchy(folder, schema, names[place], wanted, keep=keep)
    except NorenError as error:
        return HierarchyDraft(place, asked, said=str(error))
    return HierarchyDraft(place, asked, about, kept=keep)


def hierarchies_context(visit: ProjectRequest, tried: HierarchyDraft | None) -> list[dict[str, Any]]:
    """Return what the page shows of each column that could link a person."""
    folder, schema = visit.studio.columns(visit.project.id)
    numbered = {name: i for i, name in enumerate(schema.names)}
    return [
        _shown(about, schema[about["name"]], numbered[about["name"]], tried)
        for about in hierarchy_facts(folder)
        if about["name"] in numbered and schema[about["name"]].role == Role.QUASI
    ]


def _shown(about: Mapping[str, Any], column: Column, place: int, tried: HierarchyDraft | None) -> dict[str, Any]:
    mine = tried if tried is not None and tried.place == place else None
    said, seen = (mine.said, mine.about) if mine is not None else ("", None)
    own = about["asked"] and BuilderRequest(**about["asked"])
    builds = mine is not None and mine.asked.by != "widths"
    asked = (mine.asked if mine is not None and builds else own) or BuilderRequest("")
    widths = ", ".join(f"{width:.15g}" for width in about["widths"] or [])
    made = {
        "built": _("built by {by}").format(by=own.by if own else ""),
        "default": _("the first one, made by Noren"),
        "widths": _("by your widths"),
        "uploaded": _("your file"),
    }
    return {
        "index": place,
        "column": column.name,
        "name": printable(column.name, _LONGEST_NAME),
        "sentence": levels_sentence(about),
        "made": made[about["made"]],
        "is_first": about["made"] == "default",
        "is_number": column.scale == Scale.RATIO,
        "widths": widths if mine is None or builds else mine.asked.text,
        "has_file": bool(about["file"]),
        "levels": _levels(about),
        "builders": [
            {"by": one.by, "summary": _(one.summary), "asks": _(one.asks) if one.asks else "", "example": one.example}
            for one in builders_for(column)
            if one.by not in _NOT_OFFERED
        ],
        "asked": asdict(asked),
        "said": said,
        "wrong_widths": bool(said) and not builds,
        "wrong_builder": bool(said) and builds,
        "open": mine is not None,
        "open_builder": builds,
        "seen": _levels(seen) if mine is not None and seen is not None and not mine.kept else [],
        "seen_sentence": "" if seen is None else levels_sentence(seen),
    }


def _levels(about: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        level
        | {
            "examples": [(printable(label, 40), rows) for label, rows in level["shown"]],
            "rest": say("more", level["more"], count=count(level["more"])) if level["more"] else "",
        }
        for level in about["levels"]
    ]
