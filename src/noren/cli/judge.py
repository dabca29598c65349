"""``noren judge``: one release, one verdict; a pipeline can go by its exit code."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from noren.cli.parts.inputs import (
    Control,
    CustomerColumn,
    ItemPrefix,
    Json,
    KnowledgeShare,
    Known,
    Master,
    Original,
    ReleasePath,
    Rows,
    RuleName,
    SchemaName,
    attackers_limits,
    chosen,
    load_original,
)
from noren.cli.parts.screen import progress_bar, say, show_json, show_table
from noren.i18n import _

if TYPE_CHECKING:
    from noren.judgement.verdict import Exhibit, Verdict, Word

HELP = _(
    "Say how safe a release is: proved, withstands (both exit code 0), broken (1) or untried (3). Attacks it, unless "
    "--with none, and judges by one rule."
)
EXAMPLE = _("Example: noren judge T.csv release/ --schema pwscup2018 --rule partner --json")


def judge(
    context: typer.Context,
    original: Original,
    release: ReleasePath,
    rule: RuleName = None,
    names: Annotated[
        str, typer.Option("--with", help=_("Attacks, separated by commas, all, or none for the guarantee alone."))
    ] = "all",
    known: Known = None,
    knowledge: KnowledgeShare = 1.0,
    item_prefix: ItemPrefix = None,
    control: Control = None,
    schema: SchemaName = None,
    rows_are: Rows = None,
    customer: CustomerColumn = None,
    master: Master = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help=_("Same seed, same guesses."))] = 0,
    as_json: Json = False,
) -> None:
    """Judge a release."""
    from noren.attacks import attacks
    from noren.data.reading import read, read_any_release
    from noren.inference.study import inferred_from
    from noren.judgement.judging import deciding_measures
    from noren.judgement.judging import judge as judged
    from noren.judgement.outcome import examine
    from noren.judgement.rule import rule_named
    from noren.parameters import share_flags

    by = rule_named(rule)
    data = load_original(original, schema, master, rows=rows_are, customer=customer, quiet=as_json)
    there = read_any_release(release, data)
    everyone = names == "all" and not context.args
    some = [] if names == "none" else chosen(attacks, names, data)
    ready = None if everyone else share_flags(some, context.args)
    limits = attackers_limits(data, known, knowledge, item_prefix, seed)
    with progress_bar(release.name, quiet=as_json) as progress:
        outcome = examine(
            data,
            there,
            attacks=ready,
            measures=deciding_measures(data),
            label=release.name,
            progress=progress,
            **limits,
        )
        if control is not None:
            others = read(control, data.schema).data
            study = inferred_from(data, others, there.public, there.statement, seed=seed, progress=progress)
            outcome = replace(outcome, inferred=study.inferred)
            for name, reason in study.not_tried.items():
                say(_("{name} was not tried: {reason}").format(name=name, reason=reason))
    for name, reason in outcome.failed.items():
        say(_("{name} failed: {reason}").format(name=name, reason=reason))
    verdict = judged(outcome, by)
    if as_json:
        show_json(verdict.as_dict() | {"release": str(release), "failed": dict(outcome.failed)})
    else:
        show_verdict(verdict)
    code = exit_code(verdict.word)
    if code:
        raise typer.Exit(code)


def exit_code(word: Word) -> int:
    """Return what a pipeline goes by: 0 may be handed out, 1 broken, 3 untried."""
    return {"broken": 1, "untried": 3}.get(str(word), 0)


def show_verdict(verdict: Verdict) -> None:
    """Print a verdict: the word, the sentence, what each attack got, the rule."""
    from noren.judgement.sentences import cautions, rule_sentence, word_text

    print(word_text(verdict.word))
    print(verdict.sentence)
    for line in cautions(verdict):
        if line not in verdict.sentence:
            print(line)
    named = [one for one in verdict.evidence if one.named]
    if named:
        whose = _("people") if verdict.facts.kind == "table" else _("customers")
        headings = (_("attack"), _("named"), _("right"), _("rate"), "95 %", whose, _("best try"), "")
        show_table("", headings, [evidence_row(one) for one in named])
    silent = [one.attack for one in verdict.evidence if not one.named]
    if silent:
        print(_("Name nobody: {attacks}.").format(attacks=", ".join(silent)))
    say(rule_sentence(verdict.rule))


def evidence_row(one: Exhibit) -> tuple[str, ...]:
    """Return what one attack got, for a table on the screen.

    >>> from noren.judgement.evidence import Facts, Tried
    >>> from noren.judgement.judging import judge
    >>> tried = Tried(attack="jaccard", named=60, right=27, customers=27, right_at=tuple(range(1, 28)))
    >>> evidence_row(judge(Facts(kind="history", people=60, tried=[tried]), "partner").evidence[0])
    ('jaccard', '60', '27', '45.0%', '32–58', '45.0%', '27/27 (15)', '✗')
    """
    from noren.judgement.numbers import count, percent

    best = f"{count(one.best_right)}/{count(one.best_named)} ({count(one.needed)})"
    rates = (percent(one.rate), f"{100 * one.low:.0f}–{100 * one.high:.0f}", percent(one.customers))
    return one.attack, count(one.named), count(one.right), *rates, best, "✗" if one.exceeds else ""
