"""The data card published with a public part: its columns, the utility of analyses, and how to read the file.

It is made from the public part and its published statement, and takes from the verdict only what is public, so no
secret can get in. Utility is given only if the statement has it or the steward provides scores.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Final

from noren.data.formats.source import require_readable
from noren.data.frames import Records, Table
from noren.data.public_part import kept_columns, published_statement, scanned
from noren.data.reading import ENDINGS, write
from noren.data.release import TOTALS, Release
from noren.data.statement import Statement
from noren.errors import CheckFailedError, FileError, ParameterError
from noren.i18n import LANGUAGES, _, use_language
from noren.judgement.judging import deciding_measures, judge
from noren.judgement.numbers import number
from noren.judgement.outcome import Outcome
from noren.judgement.rule import Rule, get_rule
from noren.judgement.sentences import public_sentence, rule_sentence, verdict_label
from noren.judgement.verdict import Verdict, VerdictStatus
from noren.measures import measures
from noren.methods import methods
from noren.papers.case import case_in_ledger, case_of, column_text, described, treatment
from noren.papers.document import Block, Code, Document, DocumentTable
from noren.papers.parts import steps
from noren.papers.wording import Wording
from noren.papers.writers import as_html, as_markdown
from noren.progress import Progress, silent
from noren.protocols import ALIKE, MONTHS, NAMES, Evidence
from noren.tables import Texts, table_of
from noren.tabulations.questions import Grade, questions
from noren.tabulations.tabulation import Tabulation, table_files
from noren.tabulations.totals import totals as exact_totals

say = Texts("noren.papers.publishing")
LOADER = "load_public.py"
_NAMED: Final[Mapping[str, Callable[[str], str]]] = {
    "python": repr,
    "sql": lambda name: '"' + name.replace('"', '""') + '"',
    "r": lambda name: json.dumps(name, ensure_ascii=False),
}


def card_files(
    release: Release,
    scores: Mapping[str, float] | None = None,
    *,
    grades: Mapping[str, str] | None = None,
    verdict: Verdict | None = None,
    override: str = "",
    totals: Sequence[Tabulation] = (),
) -> dict[str, bytes]:
    """Return the files published with a public part: the card in both languages and two formats, a loader, and totals.

    ``grades`` are those of an analyst's questions. ``verdict`` is the one it is published by, ``override`` the reason
    for publishing it against the verdict.
    """
    statement = Statement(**published_statement(release.statement))
    made: dict[str, bytes] = {}
    for language in LANGUAGES:
        with use_language(language):
            card = data_card(release.public, statement, scores or {}, verdict, override, grades or {}, totals)
            made[f"card.{language}.html"] = as_html(card, language)
            made[f"card.{language}.md"] = as_markdown(card, language)
    made[LOADER] = (files("noren.papers") / "templates" / "load_public.py.txt").read_bytes()
    return made | ({f"{TOTALS}/{name}": content for name, content in table_files(totals).items()} if totals else {})


def data_card(
    public: Records,
    statement: Statement,
    published_scores: Mapping[str, float],
    verdict: Verdict | None = None,
    override: str = "",
    grades: Mapping[str, str] = MappingProxyType({}),
    totals: Sequence[Tabulation] = (),
) -> Document:
    """Return the card of a public part, in the active language; ``published_scores`` and ``grades`` are added to it.

    A grade tells which standard question can be answered, and no figure of the original.
    """
    wording = Wording()
    about_public = described(public, statement)
    columns = about_public.columns
    what: list[Block] = [wording.text("card.what", counts=about_public.counts(wording)), steps(statement, wording)]
    if statement.promise:
        what.append(wording.text("card.promise", promise=_(statement.promise)))
    # cells say what is so where every step only makes rows alike by widening cells, or replaces names
    if not all(
        step.is_truthful and step.method in methods and methods[step.method].promises in (ALIKE, NAMES, MONTHS)
        for step in statement.steps
    ):
        what.append(wording.text("card.untrue"))
    sections = [wording.section("card.what_title", *what)]
    if verdict is not None:
        texts = (verdict_label(verdict.status), public_sentence(verdict), rule_sentence(verdict.rule))
        reason = [wording.text("card.override", reason=override)] if override else []
        sections.append(wording.section("card.verdict_title", *((text,) for text in texts), *reason))
    heads = [*wording.words("common.", "column", "role", "done"), wording.word("card.form")]
    cells = [
        (
            column_text(c.name),
            wording.word(f"common.role_{c.role}"),
            treatment(c, wording),
            wording.word(f"card.form_{c.form if c.has_values else 'empty'}", type=str(c.type)),
        )
        for c in columns
    ]
    people = [
        wording.text("card.pseudonym", column=column_text(c.name)) for c in about_public.contained if c.pseudonyms
    ]
    about: list[Block] = [DocumentTable.of(heads, cells), *people]
    if any(column.suppressed for column in columns):
        about.append(wording.text("card.empty"))
    error_u, scores = statement.steps[-1].notes.get("U"), []
    if isinstance(error_u, int | float) and len(statement.steps) == 1:
        scores.append(("U", number(error_u), wording.word("card.lower"), wording.word("card.u_means")))
    for name, value in published_scores.items():
        goal = wording.word(f"card.{measures[name].goal}")
        scores.append((name, number(value), goal, _(measures[name].summary)))
    analyses: list[Block] = [wording.text("card.kept_intro" if scores else "card.kept_none")]
    if scores:
        analyses.append(DocumentTable.of(wording.words("card.", "measure", "value", "direction", "means"), scores))
    if grades:
        graded = [(_(question.title), _(grades[name])) for name, question in questions().items() if name in grades]
        table = DocumentTable.of(wording.words("card.", "question", "grade"), graded)
        analyses += [wording.text("card.grades"), table]
    # how to read the first column of ranges and the first of sets
    names = {column.form: column.name for column in reversed(about_public.contained)}
    first = [(form, names[form]) for form in ("range", "set") if form in names]
    use: list[Block] = [wording.text("card.use_intro" if first else "card.use_plain"), wording.text("card.loader")]
    for language, lines in table_of(__name__).items():
        examples = [lines[f"{form}s"].replace("NAME", _NAMED[language](name)) for form, name in first]
        use.append(Code(language, "\n".join([lines["first"], *examples])))
    sections += [
        wording.section("card.columns_title", *about),
        wording.section("card.kept_title", *analyses),
        wording.section("card.use_title", *use),
    ]
    if totals:  # each with the rule that it satisfies
        rows = []
        for tabulation in totals:
            notes = tabulation.notes
            numbers = {name: f"{value:g}" for name, value in notes.items() if isinstance(value, int | float)}
            protection = wording.word(f"card.totals_{notes['kind']}", **numbers)
            rows.append((tabulation.name, ", ".join(tabulation.keys), ", ".join(tabulation.values), protection))
        listed = DocumentTable.of(wording.words("card.totals_", "name", "keys", "values", "rule"), rows)
        sections.insert(-1, wording.section("card.totals_title", wording.text("card.totals"), listed))
    title, audience = wording.word("card.card_name"), wording.word("card.audience")
    return Document(name="card", title=title, audience=audience, basis="", sections=tuple(sections))


def read_scores(path: str | Path) -> dict[str, float]:
    """Read the output of ``noren measure --json``; only measures of utility are returned, because a card is public."""
    path = require_readable(path)
    try:
        results = json.loads(path.read_text(encoding="utf-8"))["results"]
        scores = {str(name): float(score["value"]) for name, score in results.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise FileError(_("the file has no scores; give the output of noren measure --json"), file=path) from None
    return {name: value for name, value in scores.items() if name in measures and measures[name].side == "utility"}


def read_grades(path: str | Path) -> dict[str, str]:
    """Read the grades of an analyst's questions from the output of ``noren measure --json``, and nothing else."""
    read_scores(path)
    results = json.loads(require_readable(path).read_text(encoding="utf-8"))["results"]
    try:
        about = results["analyst"]["notes"]["questions"]
        return {name: str(Grade(about[name]["grade"])) for name in questions() if name in about}
    except (KeyError, TypeError, ValueError):
        return {}


# --- publishing -------------------------------------------------------------------------------------------------------

_LONGEST = 500


def publish(
    release: Release | Path,
    out: Path,
    original: Records | None = None,
    *,
    rule: Rule | str | None = None,
    override: str = "",
    keep: Sequence[str] = (),
    official: bool = False,
    force: bool = False,
    scores: Mapping[str, float] | None = None,
    grades: Mapping[str, str] | None = None,
    totals: Sequence[Tabulation] | int = (),
    progress: Progress = silent,
) -> Verdict:
    """Write the public part of a release to ``out`` with its statement and a card, if the verdict allows it.

    Parameters
    ----------
    release, out
        A release or its folder, and the folder to write; a file such as ``orders.csv`` gets the public rows alone.
    original
        What was protected; needed where nothing is proved, for attacks then decide.
    override
        Why a release is published that is broken or untried, or whose seed could be tried out; the card says it.
    keep
        Columns to publish although they identify people; statement and card say so.
    scores, grades
        Measures of utility to publish in the card, and grades of an analyst's questions.
    totals
        Public tables to publish beside the release, or the k of exact totals of the original.
    """
    tables = _publishable(totals, original, get_rule(rule), out)
    override = " ".join(override.split())
    if len(override) > _LONGEST or not override.isprintable():
        raise ParameterError(say("too_long", name="--override", most=_LONGEST))
    in_ledger = None if isinstance(release, Release) else case_in_ledger(release, rule)
    release = release if isinstance(release, Release) else Release.load(release)
    if kept_names := {release.public.schema[name].name for name in keep}:
        notes = {**release.statement.notes, "kept": sorted(kept_names | kept_columns(release.statement))}
        release = replace(release, statement=replace(release.statement, notes=notes))
    verdict = _own_verdict(release, original, get_rule(rule), progress) if in_ledger is None else in_ledger.verdict
    refused = verdict.facts.chosen_seed or not verdict.status.is_safe
    if refused and not override:
        why = say("chosen_seed") if verdict.status.is_safe else verdict.sentence
        is_untried = original is None and verdict.status == VerdictStatus.UNTRIED
        raise CheckFailedError(say("untried" if is_untried else "refused", why=why))
    if out.suffix.lower() in ENDINGS:
        scanned(release.public, release.statement)
        write(release.public, out)
        return verdict
    why = override if refused else ""
    card = card_files(release, scores, grades=grades, verdict=verdict, override=why, totals=tables)
    release.publish(out, official=official, replace_existing=force, card=card)
    return verdict


def _publishable(
    totals: Sequence[Tabulation] | int, original: Records | None, rule: Rule, out: Path
) -> list[Tabulation]:
    """Return the tables to publish; stop where fewer customers may make up a cell than must be alike in a release."""
    if totals and (out.suffix.lower() in ENDINGS or (isinstance(totals, int) and original is None)):
        raise ParameterError(say("totals_alone"))
    tables = exact_totals(original, totals) if isinstance(totals, int) and totals else list(totals or ())
    for table in tables:
        k = table.notes.get("k") if table.notes.get("kind") == "exact" else None
        if k is None and not (table.notes.get("kind") == "dp" and table.notes.get("epsilon")):
            raise CheckFailedError(_("{name} does not say how it was protected; make it again").format(name=table.name))
        if k is not None and k < rule.least_k:
            raise CheckFailedError(say("totals_of_fewer", name=table.name, k=k, least=rule.least_k))
    return tables


def _own_verdict(release: Release, original: Records | None, rule: Rule, progress: Progress) -> Verdict:
    """Return the verdict on a release: by what it proves itself, and by attacks where that is not enough.

    Classes of a table are counted without its original, unless a claim (t) is about that.
    """
    known, classes = original, {}
    if original is None and release.statement.steps[-1].parameters.get("t") is None:
        known = release.public
    if isinstance(known, Table):
        evidence = Evidence(known, release)
        classes = {name: measures.create(name).measure(evidence) for name in deciding_measures(release.public.schema)}
    alone = judge(Outcome("", release, scores=classes, original=original), rule)
    if alone.status in (VerdictStatus.PROVED, VerdictStatus.BROKEN) or original is None:
        return alone
    return case_of(release, original, rule=rule, progress=progress).verdict
