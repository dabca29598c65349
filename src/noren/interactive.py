"""What ``import noren`` offers to a person: data of any make, a method by default, ``"all"``, the original in memory.

:mod:`noren.api` has the same verbs for programs: ready data, one component, no memory of the original. Here they are
joined with what comes after them in the order of packages (:mod:`noren.work`, :mod:`noren.judgement`,
:mod:`noren.papers`), so that a release can be judged by its own methods.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from noren import api
from noren.attacks import attacks as every_attack
from noren.data.cells import KINDS, kind_counts, median_extent
from noren.data.foreign import read_foreign, without_spaces
from noren.data.frames import Card, History, Records, ResultSet
from noren.data.reading import SchemaLike, as_public, as_records, as_release, open_release, original_of, roles_by_column
from noren.data.release import Release as BareRelease
from noren.data.release import Secret, Statement
from noren.data.schema import Kind
from noren.errors import ParameterError, SchemaError
from noren.i18n import _
from noren.judgement import judging
from noren.judgement.evidence import attack_result
from noren.judgement.foreign import foreign_facts
from noren.judgement.rule import Rule, get_rule
from noren.judgement.verdict import Verdict
from noren.ledger.book import Ledger
from noren.measures import measures as every_measure
from noren.measures.losses import Losses, losses
from noren.methods import methods as every_method
from noren.papers.card import publish
from noren.progress import Progress, silent, with_progress_bar
from noren.protocols import Attack, Guess, Measure, Method
from noren.sweeps.defaults import default_method, takes_k
from noren.tables import Texts
from noren.tabulations.estimates import estimate
from noren.tabulations.questions import named_questions
from noren.tabulations.tabulation import Tabulation, read_tables
from noren.work.run import Run, RunStore, fitting

say = Texts(__name__)
_KNOWLEDGE = {"known", "knowledge", "item_prefix", "seed"}


def read(
    data: Any,
    schema: SchemaLike | None = None,
    *,
    kind: Kind | str | None = None,
    master: str | Path | None = None,
    **roles: str | Sequence[str],
) -> Records:
    """Return data as a :class:`History` (one row per purchase) or a :class:`Table` (one row per person).

    Parameters
    ----------
    data
        A Polars frame (eager or lazy), a pandas or Arrow table, columns by name, or the path of a CSV or Parquet file
        or a workbook; ``master`` is a contest's file of customers beside it.
    schema
        A :class:`Schema`, the name of a preset, a TOML file, or roles by column; by default it is guessed.
    kind, **roles
        ``history`` or ``table``, and what columns are for, where the guess needs help: ``customer="client_id"``,
        ``quasi=["age", "city"]``.

    Examples
    --------
    >>> import noren
    >>> noren.read({"client": ["a", "a", "b"], "sku": ["x", "y", "x"]}, customer="client", item="sku")
    History(rows=3, schema='custom', columns='client, sku')
    """
    if schema is not None and (roles or kind is not None):
        raise ParameterError(say("roles_beside_schema", name=next(iter(roles), "kind")))
    options: dict[str, Any] = {} if master is None else {"master": master}
    return as_records(data, schema, kind=kind, roles=roles_by_column(roles), **options)


@dataclass(frozen=True, repr=False)
class InteractiveRelease(BareRelease):
    """A release that remembers what it was made of, so that it can be attacked, measured, judged and published.

    The original stays in memory: it is not part of what is saved, published, pickled or printed. A release that was
    read from a folder has none; pass ``original=`` to its methods.
    """

    original: Records | None = field(default=None, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "original": None}

    def _known(self, original: Any) -> Records:
        if original is None and self.original is None:
            raise ParameterError(say("no_original"))
        return original_of(self.original if original is None else original, self)

    @with_progress_bar
    def verdict(
        self, rule: Rule | str | float | None = None, *, original: Any = None, progress: Progress = silent, **how: Any
    ) -> Verdict:
        """Attack the release and return how safe it is by a rule; see :func:`noren.verdict`."""
        return judging.verdict(self._known(original), self, rule, progress=progress, **how)

    @with_progress_bar
    def attack(self, by: str | Attack = "all", *, original: Any = None, **options: Any) -> Any:
        """Attack the release; see :func:`noren.attack`."""
        return attack(self._known(original), self, by, **options)

    @with_progress_bar
    def measure(self, by: str | Measure = "all", *, original: Any = None, **options: Any) -> Any:
        """Measure the release; see :func:`noren.measure`."""
        return measure(self._known(original), self, by, **options)

    def compare(self, *, original: Any = None) -> ResultSet[Mapping[str, Any]]:
        """Return what became of each column: shares of each kind of cell, how wide, how many values."""
        rows: dict[str, dict[str, Any]] = {}
        for column in (before := self._known(original)).schema.columns:
            values = before.frame[column.name].drop_nulls().n_unique()
            row = {"column": column.name, "role": str(column.role), "values_before": values}
            if column.name in self.public.schema.names and len(self.public):
                cells = self.public.frame[column.name]
                shares = {kind: count / len(cells) for kind, count in kind_counts(cells).items()}
                row |= {"values_after": cells.drop_nulls().n_unique(), **shares, "extent": median_extent(cells)}
            rows[column.name] = row
        numbers = {"values_after": pl.Int64} | dict.fromkeys([*KINDS.categories, "extent"], pl.Float64)
        return ResultSet(rows, pl.DataFrame([*rows.values()], schema_overrides=numbers))

    def estimate(
        self, question: str, *, totals: str | Path | Sequence[Tabulation] = (), draws: int = 20, seed: int = 1
    ) -> Tabulation:
        """Answer an analyst's question, such as ``"monthly sales"``, from the public part alone.

        Ranges and sets are drawn from the distribution that they imply. ``VALUE_error`` is the half-width of the
        interval that holds 95 % of the draws; deleted rows are missing from sums. With ``totals``, published tables or
        their folder, rows are weighted so that months and items meet them.

        >>> import noren
        >>> shop = noren.sample(customers=20, rows=300, items=50, seed=1)
        >>> release = noren.protect(shop, "generalize-by-count", k=2, seed=1)
        >>> release.estimate("repeat rate", draws=2).values
        ('days', 'months')
        """
        if not isinstance(self.public, History):
            raise SchemaError(say("no_purchases"))
        (asked,) = named_questions([question])
        if not asked.fits(self.public.schema):
            raise ParameterError(say("question_needs", question=asked.name, roles=", ".join(asked.roles)))
        tables = read_tables(totals) if isinstance(totals, str | Path) else totals
        return estimate(asked, self.public, self.statement, totals=tables, draws=draws, seed=seed)

    def losses(self, *, original: Any = None) -> Losses:
        """Say what was lost: columns, customers and rows, and why; for the steward alone."""
        return losses(self._known(original), self)

    def explain(self) -> Card:
        """Return what was done and what it promises, method by method; whether it is safe says :meth:`verdict`."""
        facts: list[tuple[str, str]] = []
        for step in self.statement.steps:
            facts.append((_("Method"), step.method))
            kind = every_method[step.method] if step.method in every_method else Method  # noqa: SIM401 - no get
            texts = (getattr(kind, "summary", ""), kind.good_for, kind.wrong_for, step.promise)
            labels = (_("Summary"), _("Good for"), _("Not suitable for"), _("Promise"))
            facts += [(label, _(text)) for label, text in zip(labels, texts, strict=True) if text]
        facts += [(_("Note"), say("chosen_method"))] if self.statement.notes.get("method") == "default" else []
        if self.has_secret:
            counts = (self.secret.original_rows, len(self.public), self.deleted_rows, self.inserted_rows)
            labels = (_("Original rows"), _("Released rows"), _("Deleted rows"), _("Added rows"))
            facts += [(label, f"{count:,}") for label, count in zip(labels, counts, strict=True)]
        return Card(_("release"), ", ".join(filter(None, (self.statement.method, self._parameters()))), facts)

    @with_progress_bar
    def publish(
        self,
        folder: str | Path,
        rule: Rule | str | float | None = None,
        *,
        original: Any = None,
        replace_existing: bool = False,
        card: Mapping[str, bytes] | None = None,
        **options: Any,
    ) -> Path:
        """Write the public part, its statement and a data card to a folder, or the rows to a file, if the rule allows.

        A release that is broken or untried, or whose seed could be guessed, is refused unless ``override`` states a
        reason, which the card repeats. With a ``card`` of your own nothing is judged. Other options are ``keep``, names
        of columns to publish although they identify people, and ``official``, to add a contest's text format.
        """
        if card is not None:
            options.pop("progress", None)
            return super().publish(folder, replace_existing=replace_existing, card=card, **options)
        known = self._known(original) if original is not None or self.original is not None else None
        publish(self, Path(folder), known, rule=get_rule(rule), force=replace_existing, **options)
        return Path(folder)


Release = InteractiveRelease


# --- protect ---------------------------------------------------------------------------------------------------------


def protect(
    original: Any,
    method: str | Method | Sequence[str | Method | Mapping[str, Any]] | None = None,
    *,
    rule: Rule | str | float | None = None,
    schema: SchemaLike | None = None,
    seed: int | None = None,
    audit: bool = True,
    keep: Sequence[str] = (),
    progress: Progress = silent,
    **parameters: Any,
) -> InteractiveRelease:
    """Protect data by a method, and return the release, which remembers the original in memory.

    A table has one row per person: where a column that identifies people repeats, k would count rows, and
    :class:`~noren.errors.SchemaError` says so before anything is done. Columns that identify people are left out.

    Parameters
    ----------
    original
        Data of any make (:func:`noren.read`), or a function that returns them.
    method
        A name with its ``parameters``, a ready one, or a list of them for a chain. By default the most prominent method
        that fits the data, takes these parameters and proves its guarantee: *generalize* for purchases, *mondrian* for
        tables, with two sensitive values in each class. The release's ``repr`` names it.
    rule
        By default *k* is what this rule requires: ``partner`` 5, ``public`` 11.
    seed
        Makes the run repeatable; by default one is drawn that nobody can guess.
    audit
        Whether a claim of k is checked from the original and the public part alone; a false claim raises
        :class:`~noren.errors.CheckFailedError`, an audit that breaks down its kind ``AuditUnfinishedError``.
    keep
        Columns to release although they identify people; the statement then says so.

    Examples
    --------
    >>> import noren
    >>> noren.protect(noren.sample(customers=20, rows=300, items=50, seed=1), effort="quick").statement.parameters["k"]
    5
    """
    data = as_records(original() if callable(original) else original, schema)
    if by_default := method is None:
        method, parameters = default_method(data.schema, parameters, get_rule(rule)), {}
    elif isinstance(method, str) and rule is not None and takes_k(every_method[method], parameters):
        parameters["k"] = get_rule(rule).least_k
    made = api.protect(data, method, seed=seed, audit=audit, keep=keep, progress=progress, **parameters)
    notes = {**made.statement.notes, **({"method": "default"} if by_default else {})}
    return InteractiveRelease(made.public, made.secret, replace(made.statement, notes=notes), data)


# --- judge what others made -------------------------------------------------------------------------------------------


def judge(
    original: Any,
    file: Any,
    rule: Rule | str | float | None = None,
    *,
    map: Mapping[str, str] | None = None,  # noqa: A002 - what the command calls it
    truth: str | None = None,
    control: Any = None,
    ledger: str | Path | None = None,
    schema: SchemaLike | None = None,
    attacks: str = "all",
    budget: str | float | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> Verdict:
    """Judge a file that somebody calls anonymised or synthetic, made by whatever tool.

    Its columns are matched to the original's, its generalised cells are read, and all that applies is tried; the
    verdict's ``flaws`` say what is wrong, ``facts.foreign`` what was tried and what was not. It is never *proved*.

    Parameters
    ----------
    original, file
        Data frames or files: CSV, Parquet, a workbook. A release goes to :func:`noren.verdict`.
    map
        The original's column for columns of the file where names do not tell; an empty name for none.
    truth
        The file's column that says whose row each is (a customer, an identifier, or a row counted from 0); or
        ``"rows"`` where rows stand in the original's order.
    control
        People who are not in the original, for inference and copies.
    ledger
        A folder of earlier releases (:class:`noren.ledger.book.Ledger`).
    budget
        The time for attacks (see :func:`noren.verdict`).

    Examples
    --------
    >>> import noren
    >>> people = {"age": [23, 27, 34, 38, 21, 36], "illness": ["flu", "cold"] * 3}
    >>> ages = ["[20, 30[", "[20, 30[", "[30, 40[", "[30, 40[", "[20, 30[", "*"]
    >>> roles = {"age": "quasi", "illness": "sensitive"}
    >>> verdict = noren.judge(people, {"age": ages, "illness": people["illness"]}, 0.4, schema=roles)
    >>> [str(flaw.code) for flaw in verdict.flaws]
    ['class-too-small', 'blanks-counted']
    """
    data, there = as_records(original, schema), open_release(file)
    if isinstance(there, BareRelease):
        return judging.verdict(data, there, rule, budget=budget, progress=progress)
    data = replace(data, frame=without_spaces(data.frame))
    again: int | None = None
    if ledger is not None:
        books = Ledger.open(ledger)
        earlier = [BareRelease.load(books.release_folder(entry.period)) for entry in books.entries]
        again = -1
        if isinstance(data, History) and all(release.has_secret for release in earlier):
            known = {name for release in earlier for name in release.secret.pseudonyms["customer"].cast(pl.String)}
            again = len(known & set(data.customers.cast(pl.String)))
    others = None if control is None else as_records(control, data.schema)
    others = others and replace(others, frame=without_spaces(others.frame))
    found = read_foreign(there, data, mapping=map, truth=truth)
    how: dict[str, Any] = {"attacks": attacks, "budget": budget, "seed": seed, "again": again}
    facts = foreign_facts(data, found, others, progress=progress, **how)
    return judging.judge(facts, get_rule(rule))


# --- attack and measure ----------------------------------------------------------------------------------------------


def attack(
    original: Any,
    release: Any,
    attack: str | Attack = "all",
    *,
    schema: SchemaLike | None = None,
    progress: Progress = silent,
    **options: Any,
) -> Any:
    """Attack the public part of ``release``, knowing ``original``; the secret part is not handed over.

    Parameters
    ----------
    release
        A release, its public rows, its folder, or a data frame of public rows, whose cells may be texts (``[a;b]``).
    attack
        A name with its parameters, a ready one, or ``"all"`` that fit the data and need no parameter.
    known, knowledge, item_prefix
        What the attacker knows in place of all of ``original``: rows of the same customers and columns, such as the
        partial knowledge of PWS Cup 2017; a random share of these rows, the seed choosing which; of items the first
        characters. Rows without a customer are not known.
    other_guesses
        What other attacks found with the same knowledge; the ensemble need not run those again.

    Returns
    -------
    Guess or ResultSet
        Of ``"all"`` the guess of each attack by its name; printed, how many each names and names rightly.
    """
    release = open_release(release)
    data = original_of(original, release, schema)
    if not isinstance(attack, str) or attack != "all":
        return api.attack(data, release, attack, progress=progress, **options)
    _reject_parameters(options, _KNOWLEDGE)
    if not isinstance(release, BareRelease):
        release = BareRelease(as_public(release, data), Secret.empty(), Statement("unknown"))
    store = RunStore()
    ready = [every_attack.create(name) for name in fitting(every_attack, data.schema)]
    Run.in_memory(data, release, store).attack(ready, progress=progress, **options)
    tried = [attack_result(name, guess, release.secret) for name, guess in store.guesses.items()]
    rows = [{"attack": t.attack, "named": t.named, "right": t.right, "rate": t.right / max(t.named, 1)} for t in tried]
    table = pl.DataFrame(rows, schema=["attack", "named", *(["right", "rate"] if release.has_secret else [])])
    by = "right" if release.has_secret else "named"
    return ResultSet(store.guesses, table.sort(by, descending=True, maintain_order=True), store.failures)


def measure(
    original: Any,
    release: Any,
    measure: str | Measure = "all",
    *,
    guesses: Iterable[Guess] | Mapping[str, Any] = (),
    schema: SchemaLike | None = None,
    progress: Progress = silent,
    **parameters: Any,
) -> Any:
    """Measure a release; measures of attacks need ``guesses``.

    Parameters
    ----------
    release
        A release, its folder, or rows in the original's order: a released file (``A``, ``AT``) or a data frame, a
        deleted row being one without values.
    measure
        A name with its parameters, a ready one, or ``"all"`` that apply to this release and need no parameter.
    guesses
        What attacks found (:func:`noren.attack`); by name also data frames with the columns ``pseudonym`` and
        ``customer``.

    Returns
    -------
    Score or ResultSet
        Of ``"all"`` the score of each measure by its name.
    """
    release = open_release(release)
    data = original_of(original, release, schema)
    if not isinstance(measure, str) or measure != "all":
        return api.measure(data, release, measure, guesses=guesses, progress=progress, **parameters)
    _reject_parameters(parameters, set())
    store = RunStore(guesses=api.guesses_by_name(guesses))
    Run.in_memory(data, as_release(release, data), store).examine([], None, attacked=0.0, progress=progress)
    rows = [(name, score.value, score.goal, _(every_measure[name].unit)) for name, score in store.scores.items()]
    return ResultSet(
        store.scores, pl.DataFrame(rows, ["measure", "value", "better", "unit"], orient="row"), store.failures
    )


def _reject_parameters(options: Mapping[str, Any], known: set[str]) -> None:
    for name in options.keys() - known:
        raise ParameterError(say("parameter_of_all", name=name))
