"""The result of a run: the page, and its parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal, get_args

from fastapi import APIRouter, Form, Query
from fastapi.responses import RedirectResponse, Response
from pydantic import TypeAdapter

from noren.attacks import attacks as every_attack
from noren.drawing.bars import counts_bars, crosstab_panels, paired_histogram
from noren.drawing.base import live
from noren.errors import NorenError, listing
from noren.i18n import N_, _
from noren.judgement import sentences
from noren.judgement.numbers import count, number, percent
from noren.judgement.page_text import printable
from noren.judgement.rule import RECIPIENTS, RULES
from noren.judgement.verdict import Verdict
from noren.measures.losses import Losses
from noren.methods import methods as every_method
from noren.registry import flags
from noren.reports.run_view import ColumnCells, RowCounts, RunView, StepView
from noren.studio.actions.projects import change_project
from noren.studio.api.data import Start
from noren.studio.folders import LOSSES_FILE, STAGES_FILE, read_json
from noren.studio.forms.parameter_forms import label_of, word_of
from noren.studio.pages.frame import OfRun, ProjectRequest, RunRequest
from noren.studio.result_figures import Fact, diversity_facts, key_facts, measured, table_risk_facts, useful_facts
from noren.studio.service import pair_of
from noren.studio.store import State
from noren.studio.users import UserRole
from noren.studio.work.results import Result, engine_sentences, failures, missing_sentence
from noren.tables import Texts
from noren.web.frame import stage_rows, with_query
from noren.work.run import fitting

router = APIRouter()
say = Texts(__name__)

Column = Annotated[str | None, Query(max_length=200)]
Tab = Literal["attacks", "utility", "change", "columns", "details"]
_ROWS_SHOWN = 20
_DWARFING = 3
_NOTHING = 1e-9
_BECAME: Final = ("exact", "changed", "range", "set", "empty")


@router.get("/projects/{project}/results/{job}")
def show(
    visit: OfRun,
    tab: Tab = "attacks",
    column: Column = None,
    a: Column = None,
    b: Column = None,
    start: Start = 0,
    only_changed: bool = False,
) -> Response:
    """Show a finished run: the answer, and one of several tabs; a run under way has a page of its own."""
    if visit.run.state != State.DONE and not visit.wrong:
        return visit.to_page(f"runs/{visit.run.id}")
    studio, run, rule = visit.studio, visit.run, visit.project.rule
    view, verdict = studio.result(run.id), studio.verdict(run.id)
    untried = untried_sentence(visit, view, verdict)
    table = None if verdict.facts.proven_k is not None else verdict.facts.table
    disclosures = [] if table is None else sentences.disclosure_sentences(table)
    # the precision of each marginal, with the noise and reconstructed, where values were perturbed
    score = view.measure("l1-precision")
    marginals: dict[str, dict[str, Fact]] = {}
    for part, value in ({} if score is None else score.parts).items():
        name, mark, what = part.rpartition(", ")
        if what in ("perturbed", "reconstructed"):
            which = marginals.setdefault(name if mark else _("All columns"), {})
            which[what] = Fact(f"measures.l1-precision.{part}", name, value, f"{value:.3f}", "useful-high", "")
    return visit.page(
        "result.html.jinja",
        title=verdict.sentence,
        place="results",
        tab="details" if visit.wrong else tab,
        tabs=[(name, say(f"tabs.{name}")) for name in get_args(Tab)],
        view=view,
        verdict_of_run=verdict,
        limits=[*sentences.remarks(verdict), untried] if untried else sentences.remarks(verdict),
        rule_name=f"{rule}: {_(RECIPIENTS[rule])}" if rule in RULES else rule,
        rules=[(name, f"{name}: {_(RECIPIENTS[name])}") for name in RULES],
        own_rule="" if rule in RULES else rule,
        failed=failures(view.outcome),
        missing=missing_sentence(view.outcome),
        engines=engine_sentences(view.engines),
        cluster=stage_rows(read_json(studio.job_folder(run) / STAGES_FILE) or []),
        useful=useful_facts(view),
        risk=[*table_risk_facts(verdict), *diversity_facts(view)],
        key=key_facts(view, verdict),
        outcomes={tried.attack: sentences.attack_outcome_text(tried, verdict) for tried in verdict.evidence},
        disclosures=[*disclosures, sentences.cautions(verdict)[-1]] if disclosures else [],
        likely_disclosures=[] if table is None else sentences.guessed_sentences(table),
        summaries={name: _(every_attack[name].summary) for name in every_attack},
        measures={
            group: [measured(measure) for measure in view.measures if measure.group == group]
            for group in ("utility", "safety")
        },
        precision=[{"name": name} | facts for name, facts in marginals.items() if "perturbed" in facts],
        cells=cells_of(view),
        histogram=histogram_of(view, column),
        classes=classes_of(view),
        losses=losses_of(visit),
        change_words=change_words,
        steps=[_step(step) for step in view.statement.steps],
        crosstab=crosstab_of(visit, view, a, b),
        pairs=row_pairs_of(visit, view, start, only_changed=only_changed, address_query={"a": a, "b": b}),
    )


@router.post("/projects/{project}/results/{job}/rule")
def set_rule(
    visit: OfRun, rule: Annotated[str, Form(max_length=40)] = "", tolerance: Annotated[str, Form(max_length=40)] = ""
) -> Response:
    """Judge every release of a project by another rule; a tolerance of one's own goes before a name."""
    try:
        change_project(visit.studio, project=visit.project.id, rule=tolerance.strip() or rule)
    except NorenError as error:
        return show(visit.again(error, {"tolerance": tolerance}))
    return RedirectResponse(f"{visit.address}#rule", 303)


@router.get("/projects/{project}/results/{job}/crosstab")
def show_crosstab(visit: OfRun, a: Column = None, b: Column = None) -> Response:
    """Show the cross tabulation alone, for a page that is open."""
    crosstab = crosstab_of(visit, visit.studio.result(visit.run.id), a, b)
    return visit.page("result_crosstab.html.jinja", title="", place="results", crosstab=crosstab)


@router.get("/projects/{project}/results/{job}/rows")
def show_rows(visit: OfRun, start: Start = 0, only_changed: bool = False) -> Response:
    """Show a page of rows alone, for a page that is open."""
    pairs = row_pairs_of(visit, visit.studio.result(visit.run.id), start, only_changed=only_changed, address_query={})
    return visit.page("result_rows.html.jinja", title="", place="results", pairs=pairs, change_words=change_words)


def untried_sentence(visit: ProjectRequest, view: Result, verdict: Verdict) -> str:
    """Return which attacks fit these data and were not tried against this release; nothing where all were."""
    known = {tried.attack for tried in view.facts.tried} | {part["component"] for part in failures(view.outcome)}
    names = [name for name in fitting(every_attack, visit.studio.schema(visit.project.id)) if name not in known]
    return sentences.not_tried_sentence(names, verdict) if names else ""


def _step(step: StepView) -> dict[str, Any]:
    method = every_method[step.method] if step.method in every_method else None  # noqa: SIM401 - no get
    about = {} if method is None else {flag.field: flag for flag in flags(method)}
    return {
        "method": step.method,
        "summary": "" if method is None else _(method.summary),
        "promise": _(step.promise),
        "parameters": [
            {
                "name": label_of(method, name),
                "value": word_of(method, name, value) if isinstance(value, str) else _plain(value),
                "help": about[name].help if name in about else "",
            }
            for name, value in step.parameters.items()
            if value not in (None, [], {})
        ],
        "notes": [(name.replace("_", " "), _plain(value)) for name, value in step.notes.items() if value != []],
    }


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, float | int):
        return f"{value:,.6g}"
    if isinstance(value, list):
        return ", ".join(_plain(item) for item in value)
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_plain(item)}" for name, item in value.items())
    return str(value)


# --- charts --------------------------------------------------------------------------------------------------


def cells_of(view: RunView) -> dict[str, Any] | None:
    """Return what became of the cells of each column, ready for the page; nothing of a result that does not tell."""
    kinds = [kind for kind in _BECAME if any(getattr(column, kind) > _NOTHING for column in view.cells)]
    lines = []
    for column in view.cells:
        shares = [round(100 * getattr(column, kind), 2) for kind in kinds]
        starts = [round(sum(shares[:at]), 2) for at in range(len(shares))]
        texts = [_tiny(share / 100) if share else "–" for share in shares]
        drawn = any(bars["column"] == column.column for bars in view.histograms)
        shares_of = list(zip(kinds, starts, shares, texts, strict=True))
        lines.append({"name": column.column, "has_chart": drawn, "shares": shares_of, "wide": how_wide(column)})
    about = {"kinds": [(kind, say(f"became.{kind}")) for kind in kinds], "lines": lines, "note": say("became.note")}
    return about if lines else None


def how_wide(column: ColumnCells) -> str:
    """Return how wide the ranges of a column are, or how large its sets; nothing where it has none."""
    if column.size is not None:
        return say("wide.sets", size=number(column.size))
    if column.width is None or column.span is None:
        return ""
    name = "wide.days" if column.is_date else "wide.ranges"
    return say(name, width=number(column.width), span=percent(min(column.span, 1.0)))


def histogram_of(view: RunView, column: str | None) -> dict[str, Any] | None:
    """Return one column before and after, ready for the page; the first one where this is not there."""
    bars = next((one for one in view.histograms if one["column"] == column), next(iter(view.histograms), None))
    if bars is None:
        return None
    sides = _sides(bars)
    drawn, left_out = bars, ""
    if bars["others"] and dwarfing([bars[side] for side in sides]):
        drawn = dict(bars) | {name: bars[name][:-1] for name in ("labels", *sides)} | {"others": False}
        left_out = _("The chart shows only the most frequent values of {columns}; the table has all of them.")
        left_out = left_out.format(columns=bars["column"])
    return {
        "name": bars["column"],
        "names": [one["column"] for one in view.histograms],
        "finding": histogram_finding(bars, next((c for c in view.cells if c.column == bars["column"]), None)),
        "spec": live(paired_histogram(drawn)),
        "note": left_out,
        "headings": [bars["column"], *map(_, sides)],
        "rows": [
            [label, *(_rows_text(bars[side][i]) for side in sides)]
            for i, label in enumerate(_labels(bars["labels"], bars))
        ],
    }


def dwarfing(sides: Sequence[Sequence[float]]) -> bool:
    """Tell whether the last bar, of all other values, is so long that nobody could see the others beside it.

    >>> dwarfing([[3, 2, 40], [2, 2, 41]]), dwarfing([[3, 2, 4]])
    (True, False)
    """
    return any(side[-1] > _DWARFING * max(side[:-1], default=0.0) for side in sides)


def _sides(counts: Mapping[str, Any]) -> list[str]:
    return [N_("original"), N_("released"), *([N_("reconstructed")] if counts["reconstructed"] is not None else [])]


def _labels(labels: Sequence[str], axis: Mapping[str, Any]) -> list[str]:
    return [*labels[:-1], _("all other values")] if axis["others"] else list(labels)


def _rows_text(rows: float) -> str:
    return f"{rows:,.1f}".removesuffix(".0")


def classes_of(view: RunView) -> dict[str, Any] | None:
    """Return how many rows or pseudonyms are alike, ready for the page."""
    sizes = view.class_sizes
    if sizes is None or view.facts.proven_k is not None:  # noise protects without making rows alike
        return None
    members = _("Rows") if sizes["of"] == "rows" else _("Pseudonyms")
    return {
        "finding": class_size_finding(sizes),
        "spec": live(
            counts_bars(sizes, label_title=_("Size of the class"), value_title=members, heights="members", risky=1)
        )
        if len(sizes["labels"]) > 1
        else None,
        "headings": [_("Size of the class"), _("Classes"), members],
        "rows": [
            [label, count(classes), count(people)]
            for label, classes, people in zip(sizes["labels"], sizes["counts"], sizes["members"], strict=True)
            if classes
        ],
    }


def losses_of(visit: RunRequest) -> dict[str, Any] | None:
    """Return what the release lost, ready for ``result_losses.html.jinja``; customers are named to stewards alone."""
    content = read_json(visit.studio.job_folder(visit.run) / LOSSES_FILE)
    if content is None:  # the run is older than this
        return None
    lost = TypeAdapter(Losses).validate_python(content)
    dearest = lost.secret.customers if visit.who.may(UserRole.STEWARD) else ()
    return {
        "finding": str(lost),
        "sentences": list(lost.sentences()),
        "customers": [[printable(one.customer), count(one.rows), count(one.lost), one.why] for one in dearest],
        "proposal": lost.proposal,
    }


def crosstab_of(visit: RunRequest, view: RunView, a: str | None, b: str | None) -> dict[str, Any] | None:
    """Return the table of two columns, the first two where these are not there; none of fewer columns."""
    tables = visit.studio.crosstabs(visit.run.id)
    names: list[str] = tables["columns"]
    if len(names) < 2:
        return None
    first_name = next((name for name in names if name == a), names[0])
    others = [name for name in names if name != first_name]
    second_name = next((name for name in others if name == b), others[0])
    pair = pair_of(tables, first_name, second_name)
    sides = _sides(pair)
    is_spread = any(one.column in (first_name, second_name) and one.range + one.set > _NOTHING for one in view.cells)
    # lines of all other values are not drawn where they are so dark that all else would be white
    drawn, gone = dict(pair), []
    if pair["axis_a"]["others"] and dwarfing([[sum(line) for line in pair[side]] for side in sides]):
        drawn |= {side: drawn[side][:-1] for side in sides}
        drawn |= {"labels_a": drawn["labels_a"][:-1], "axis_a": drawn["axis_a"] | {"others": False}}
        gone.append(first_name)
    if pair["axis_b"]["others"] and dwarfing([[sum(x) for x in zip(*pair[side], strict=True)] for side in sides]):
        drawn |= {side: [line[:-1] for line in drawn[side]] for side in sides}
        drawn |= {"labels_b": drawn["labels_b"][:-1], "axis_b": drawn["axis_b"] | {"others": False}}
        gone.append(second_name)
    notes, how = [], tables["reconstruction"]
    if gone:
        left_out = _("The chart shows only the most frequent values of {columns}; the table has all of them.")
        notes.append(left_out.format(columns=", ".join(gone)))
    if how is not None and how["model"] != "none":  # what must be known of a reconstructed table
        if pair["reconstructed"] is None:
            notes.append(_("The table of these two columns is too large to be reconstructed."))
        elif pair["model"] != how["model"]:
            notes.append(
                _("Reconstructed by a log-linear model, because the model of the release would take too long.")
            )
    return {
        "a": first_name,
        "b": second_name,
        "names": names,
        "finding": crosstab_finding(pair, is_spread=is_spread),
        "spec": live(crosstab_panels(drawn)),
        "notes": notes,
        "headings": [first_name, second_name, *map(_, sides)],
        "rows": [
            [first, second, *(_rows_text(pair[side][i][j]) for side in sides)]
            for i, first in enumerate(_labels(pair["labels_a"], pair["axis_a"]))
            for j, second in enumerate(_labels(pair["labels_b"], pair["axis_b"]))
            if any(pair[side][i][j] for side in sides)
        ],
    }


def row_pairs_of(
    visit: RunRequest, view: RunView, start: int, *, only_changed: bool, address_query: Mapping[str, str | None]
) -> dict[str, Any] | None:
    """Return original rows and what the release says of each, cell by cell; ``address_query`` stays in its address."""
    filters = {name: value for name, value in address_query.items() if value}
    query = filters | ({"only_changed": "true"} if only_changed else {})
    page = visit.studio.row_pairs(visit.run.id, start, _ROWS_SHOWN, only_changed=only_changed)
    if view.rows.deleted is None:
        return None
    every = view.rows.original + (view.rows.added or 0)
    return {
        "finding": rows_finding(view.rows),
        "names": [name.removeprefix("change:") for name in page["columns"] if name.startswith("change:")],
        "rows": [dict(zip(page["columns"], row, strict=True)) for row in page["rows"]],
        "start": start,
        "count": _ROWS_SHOWN,
        "total": page["total"],
        "only_changed": only_changed,
        "query": filters,
        "address": with_query(f"{visit.address}#rows", tab="change", **query),
        "every": None if page["every"] >= every else page["every"],
    }


# --- what a title says ---------------------------------------------------------------------------------------


def histogram_finding(bars: Mapping[str, Any], cells: ColumnCells | None = None) -> str:
    """Return what a pair of histograms shows, as a title: what cells became, before how far counts moved."""
    shift, unsaid = bars["shift"], bars["unsaid"]
    name = "same" if shift < _NOTHING and unsaid < _NOTHING else "moved" if unsaid < _NOTHING else "unsaid"
    words = {"column": bars["column"], "shift": _tiny(shift), "unsaid": _tiny(unsaid)}
    if bars["reconstructed"] is not None:
        name, words["left"] = "reconstructed", _tiny(bars["shift_reconstructed"])
    elif cells is not None and cells.range + cells.set > _NOTHING:
        shares = [(getattr(cells, kind), say(f"share.{kind}")) for kind in _BECAME]
        name, words["became"] = "became", listing([f"{_tiny(share)} {text}" for share, text in shares if share])
    return say(f"counts.{name}", **words)


def crosstab_finding(pair: Mapping[str, Any], *, is_spread: bool = False) -> str:
    """Return how far the joint counts of two columns moved, as a title; ``is_spread``: over what cells may mean."""
    rows = max(sum(map(sum, pair["original"])) + pair["unsaid"]["original"], 1)
    shift = _moved(pair["original"], pair["released"]) / rows
    name = "spread" if is_spread else "same" if shift < _NOTHING else "moved"
    words = {"column": f"{pair['a']}, {pair['b']}", "shift": _tiny(shift)}
    if pair["reconstructed"] is not None:
        name, words["left"] = "reconstructed", _tiny(_moved(pair["original"], pair["reconstructed"]) / rows)
    return say(f"counts.{name}", **words)


def _moved(before: Sequence[Sequence[float]], after: Sequence[Sequence[float]]) -> float:
    """Return by how many rows cells grew, as the net shift of a histogram is reckoned."""
    return sum(max(0.0, y - x) for old, new in zip(before, after, strict=True) for x, y in zip(old, new, strict=True))


def class_size_finding(sizes: Mapping[str, Any]) -> str:
    """Return what the sizes of classes show, as a title."""
    name = f"classes.{sizes['of']}"
    if not sizes["total"]:
        return say("classes.none")
    if sizes["alone"]:
        return say(f"{name}.alone", sizes["alone"], count=count(sizes["alone"]))
    return say(f"{name}.least", classes=count(sizes["total"]), least=count(sizes["minimum"]))


def rows_finding(rows: RowCounts) -> str:
    """Return what became of the rows, as a title."""
    if rows.deleted is None:
        return say("rows.unknown")
    return say(
        "rows.changed" if rows.added or rows.deleted else "rows.all",
        released=count(rows.original - rows.deleted),
        rows=count(rows.original),
        deleted=count(rows.deleted),
        added=count(rows.added or 0),
    )


def change_words(change: str) -> str:
    """Return what became of a cell or a row, in a word or two."""
    return say(f"change.{change}")


def _tiny(share: float) -> str:
    return percent(0.0 if share < _NOTHING else share)
