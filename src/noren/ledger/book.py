"""The ledger itself: what was released period by period, and what the next release would add."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from noren.api import as_records, draw_seed, protect
from noren.data.formats.files import must_be_free, writing_folder
from noren.data.formats.guess_files import listed_customers
from noren.data.frames import History
from noren.data.given import checked_seed
from noren.data.periods import period_key
from noren.data.release import Release
from noren.data.schema import Schema
from noren.errors import CheckFailedError, FileError, ParameterError, SchemaError
from noren.i18n import _
from noren.judgement.judging import judge
from noren.judgement.rule import Rule
from noren.judgement.verdict import Verdict
from noren.ledger.calendar import folder_name
from noren.ledger.entries import (
    Entry,
    Written,
    load_facts,
    load_past,
    load_release,
    load_rows,
    new_head,
    read_written,
    remove_unfinished,
    verify,
    write_entry,
)
from noren.ledger.incoming import incoming, periods_to_come
from noren.ledger.joined import joined, joined_rows, of_period, pseudonyms_of
from noren.ledger.lock import Tell, alone, nobody
from noren.ledger.risk import Risk, assess, attack_all, exposed_customers
from noren.ledger.settings import ChainLike, LedgerSettings, chain_of
from noren.ledger.verdicts import facts_together, kept_form, verdict_of_kept
from noren.progress import Progress, part_of, silent
from noren.version import __version__

__all__ = ["BudgetError", "Ledger", "Proposal", "UnweighedError", "period_seed"]


@dataclass(frozen=True)
class Proposal:
    """A release that is ready, and what it would add to the risk; nothing is written yet.

    Attributes
    ----------
    period, rows, release
        The period, its original rows and their release.
    before, after
        The risk of everything released so far, without and with this release; no ``before`` at the first one.
    verdict
        How safe everything released would be with it, by the rule of the ledger.
    budget, broken
        The limits, and the measures that would be above theirs, with their values.
    exposed
        The customers whom some attack finds, most exposed first; for the steward alone.
    failed
        Attacks that broke down, with the reason: the risk is at least ``after``, and how high it is nobody knows.
    """

    period: str
    rows: History = field(repr=False)
    release: Release = field(repr=False)
    before: Risk | None
    after: Risk
    verdict: Verdict = field(repr=False)
    budget: Mapping[str, float]
    exposed: pl.DataFrame = field(repr=False)
    failed: Mapping[str, str] = field(default_factory=dict)

    @property
    def broken(self) -> dict[str, float]:
        """The measures that would be above their budget, with their values."""
        return self.after.beyond(self.budget)


class BudgetError(CheckFailedError):
    """A release that would break the budget; ``proposal`` says what it would have added."""

    def __init__(self, proposal: Proposal) -> None:
        self.proposal = proposal
        over = ", ".join(
            _("{measure} would be {value:.4f}, above the budget of {limit:g}").format(
                measure=name.upper(), value=value, limit=proposal.budget[name]
            )
            for name, value in proposal.broken.items()
        )
        super().__init__(
            _(
                "{period} was not released: {over}; protect it more strongly with --chain, or leave it unreleased"
            ).format(period=proposal.period, over=over)
        )


class UnweighedError(CheckFailedError):
    """A release whose risk is not known, for an attack broke down; ``proposal`` says what the others found."""

    def __init__(self, proposal: Proposal) -> None:
        self.proposal = proposal
        why = "; ".join(
            _("{name} failed: {reason}").format(name=name, reason=reason) for name, reason in proposal.failed.items()
        )
        super().__init__(
            _(
                "{period} was not released, for its risk is not known: {why}; mend the attack, or take it out of "
                "ledger.toml"
            ).format(period=proposal.period, why=why)
        )


def period_seed(seed: int, period: str) -> int:
    """Return the seed that a period's chain runs with: another one in every period, though the seed be the same.

    >>> period_seed(1, "2011/1") == period_seed(1, "2011/2")
    False
    """
    if seed < 0:
        raise ParameterError(_("seed = {seed} is below 0").format(seed=seed), _("choose another seed"))
    return int(np.random.SeedSequence([seed, *period_key(period)]).generate_state(1, np.uint64)[0]) >> 1


class Ledger:
    """A folder that remembers what was released, period by period, to judge the next release before it is made.

    A period that looks safe alone may not be safe on top of those that are out: whoever kept them all may link them.
    So each new release is attacked together with every earlier one, by an attacker who knows all original rows; if UM,
    MM or EMM would go beyond the budget, nothing is released.

    References
    ----------
    S3: the risk of repeated releases is to be evaluated at every release.

    Examples
    --------
    Two months of two customers, under fresh names. Whoever knows what they bought finds both, in both months.

    >>> import tempfile
    >>> rows = {"customer": ["ann", "bob"] * 2, "date": ["2010/12/1"] * 2 + ["2011/1/1"] * 2,
    ...         "item": ["x", "y"] * 2, "price": [1.0] * 4, "quantity": [1, 2, 3, 4]}
    >>> history = History.of(rows, Schema.preset("pwscup2018"))
    >>> folder = Path(tempfile.mkdtemp()) / "ledger"
    >>> ledger = Ledger.create(folder, schema="pwscup2018", chain=["monthly-pseudonyms"], attacks=["s1"])
    >>> [ledger.add(history, seed=1).period for month in range(2)]
    ['2010/12', '2011/1']
    >>> ledger.risk().emm, ledger.check()
    (1.0, [])
    """

    def __init__(self, folder: Path, settings: LedgerSettings) -> None:
        self.folder = folder
        self.settings = settings

    @classmethod
    def create(
        cls,
        folder: str | Path,
        *,
        schema: Schema | str | Path,
        chain: ChainLike,
        period: str = "month",
        budget: Mapping[str, float] | None = None,
        attacks: Iterable[str] | None = None,
        rule: Rule | str | None = None,
    ) -> Ledger:
        """Make an empty ledger in a new folder."""
        folder = Path(folder)
        must_be_free(folder)
        settings = LedgerSettings.of(schema, chain, period=period, attacks=attacks, budget=budget, rule=rule)
        with writing_folder(folder) as aside:
            settings.save(aside)
            (aside / "releases").mkdir()
            new_head(aside)
        return cls(folder, settings)

    @classmethod
    def open(cls, folder: str | Path) -> Ledger:
        """Open the ledger in a folder."""
        folder = Path(folder)
        return cls(folder, LedgerSettings.load(folder))

    def __repr__(self) -> str:
        return f"Ledger({str(self.folder)!r})"

    # --- looking -------------------------------------------------------------------------------------------

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What was released, in order; a damaged entry raises."""
        return tuple(written.entry for written in self._written())

    def release_folder(self, period: str) -> Path:
        """Return the folder of a period's release."""
        return self.folder / "releases" / folder_name(period)

    def verdicts(self) -> dict[str, Verdict | None]:
        """Return how safe everything released was after each period, by the rule in force; None where nobody knows.

        Ledgers of an older Noren kept no facts to judge by.
        """
        kept = {one.entry.period: load_facts(one) for one in self._written()}
        rule = self.settings.rule
        return {period: None if facts is None else verdict_of_kept(facts, rule) for period, facts in kept.items()}

    def as_dict(self) -> dict[str, Any]:
        """Return the ledger as plain data, each entry with its verdict by the rule in force."""
        settings, verdicts = self.settings, self.verdicts()
        hidden = {"files", "previous", "schema_digest"}
        return {
            "schema": settings.schema.name,
            "period": settings.period,
            "steps": settings.chain.parameters()["steps"],
            "attacks": list(settings.attacks),
            "rule": settings.rule.as_dict(),
            "budget": dict(settings.budget),
            "left": self.left(),
            "entries": [
                entry.model_dump(mode="json", exclude=hidden)
                | {"verdict": None if (verdict := verdicts[entry.period]) is None else verdict.as_dict()}
                for entry in self.entries
            ],
        }

    def risk(self) -> Risk | None:
        """Return the risk of everything released so far; None before the first release."""
        entries = self.entries
        return entries[-1].risk if entries else None

    def left(self) -> dict[str, float]:
        """Return what is left of the budget; below 0 where the budget was cut after a release."""
        risk = self.risk()
        return {name: limit - (risk.value(name) if risk else 0.0) for name, limit in self.settings.budget.items()}

    def tightest(self, proposal: Proposal | None = None) -> str:
        """Return the measure whose budget has least left, ``mm`` where there is no budget: the one to look at."""
        risk = self.risk() if proposal is None else proposal.after
        left = {name: limit - (risk.value(name) if risk else 0.0) for name, limit in self.settings.budget.items()}
        return min(left, key=left.__getitem__, default="mm")

    def curves(
        self, proposal: Proposal | None = None, measure: str = "mm"
    ) -> tuple[list[str], dict[str, list[float | None]]]:
        """Return the periods, and for each attack MM^(1), MM^(2), …: what it found at each release of all until then.

        With a proposal the last values are what it would bring. None stands where an attack was not tried. ``measure``
        may be ``um`` or ``emm`` as well.
        """
        risks = {entry.period: entry.risk for entry in self.entries}
        if proposal is not None:
            risks[proposal.period] = proposal.after
        names = dict.fromkeys(name for risk in risks.values() for name in risk.attacks)
        found = {
            name: [r.attacks[name][measure] if name in r.attacks else None for r in risks.values()] for name in names
        }
        return list(risks), found

    def check(self) -> list[FileError]:
        """Return everything that is wrong with the files of the ledger; nothing, where all is as it was written."""
        written, wrong = read_written(self.folder)
        for one in written:
            wrong += verify(one)
            if (one.entry.calendar, one.entry.schema_digest) != (self.settings.period, self._schema_digest):
                rule = _("the schema or the period is not that of {period}").format(period=one.entry.period)
                cure = _("put ledger.toml and schema.toml back as they were; only budget, attacks and chain may change")
                wrong.append(FileError(rule, cure, file=self.folder))
        return wrong

    def to_come(self, history: Any) -> list[str]:
        """Return the periods of a history that are later than all that was released, in order."""
        past = {one.entry.period: load_past(one) for one in self._written()}
        return periods_to_come(self._history(history), self.settings.period, past)

    # --- adding --------------------------------------------------------------------------------------------

    def weigh(
        self,
        history: Any,
        *,
        period: str | None = None,
        chain: ChainLike | None = None,
        seed: int | None = None,
        allow_gap: bool = False,
        source: str | Path | None = None,
        tell: Tell = nobody,
        progress: Progress = silent,
    ) -> Proposal:
        """Protect the next period and tell what its release would add; write nothing.

        Parameters
        ----------
        history
            The rows of the new period, alone or with those before and after it. Rows of released periods must be those
            of then.
        period
            The period to release; the first that was not, where left out.
        chain
            How to protect this period, in place of the ledger's own way.
        allow_gap
            Whether periods may be passed over.
        source
            The file that the rows were read from, for errors to name.
        """
        for wrong in self.check():
            raise wrong
        written = self._written()
        settings = self.settings
        new = incoming(
            self._history(history),
            settings.schema,
            settings.period,
            {one.entry.period: load_past(one) for one in written},
            wanted=period,
            allow_gap=allow_gap,
            source=source,
        )
        for words in new.said:
            tell(words)
        originals = [*(load_rows(one, settings.schema) for one in written), new.rows]
        original = joined_rows(originals)
        listed_customers(original)  # a stranger to the master stops us before long work
        seed = draw_seed() if seed is None else checked_seed(seed)
        own = period_seed(seed, new.period)
        way = settings.chain if chain is None else chain_of(chain, settings.period)
        made = protect(new.rows, way, seed=own, progress=part_of(progress, 0.0, 0.4))
        earlier = [load_release(one) for one in written]
        taken = {name for release in earlier for name in pseudonyms_of(release)}
        release = of_period(made, new.period, taken, own)
        release = replace(release, secret=replace(release.secret, seed=seed))
        releases = [*earlier, release]
        failed: dict[str, str] = {}
        attacking = part_of(progress, 0.4, 0.95)
        guesses = attack_all(originals, releases, settings.ready_attacks(), failed=failed, progress=attacking)
        together = joined(releases)
        bought = replace(original, master=None)  # who has bought nothing yet cannot be found, and counts for nothing
        before = written[-1].entry.risk if written else None
        return Proposal(
            new.period,
            new.rows,
            release,
            before,
            assess(bought, together, guesses, before),
            judge(facts_together(bought, releases, guesses, failed), settings.rule),
            settings.budget,
            exposed_customers(bought, together, guesses),
            failed,
        )

    def add(self, history: Any, *, tell: Tell = nobody, progress: Progress = silent, **how: Any) -> Entry:
        """Release the next period: weigh it, and keep it unless the budget would be broken.

        Takes what :meth:`weigh` takes. A broken budget raises :class:`BudgetError`, an attack that fails
        :class:`UnweighedError`; both change nothing. While another process adds to the ledger, this one waits.
        """
        return self.keep_weighed(history, tell=tell, progress=progress, **how)[0]

    def keep_weighed(
        self, history: Any, *, tell: Tell = nobody, progress: Progress = silent, **how: Any
    ) -> tuple[Entry, Proposal]:
        """Do as :meth:`add`, and return the proposal as well."""
        with alone(self.folder, tell):
            remove_unfinished(self.folder)
            proposal = self.weigh(history, tell=tell, progress=progress, **how)
            if proposal.broken:
                raise BudgetError(proposal)
            if proposal.failed:
                raise UnweighedError(proposal)
            return self._keep(proposal), proposal

    def _keep(self, proposal: Proposal) -> Entry:
        written = self._written()
        release = proposal.release
        entry = Entry(
            number=len(written) + 1,
            period=proposal.period,
            added=datetime.now(UTC).isoformat(timespec="seconds"),
            noren=__version__,
            calendar=self.settings.period,
            schema_digest=self._schema_digest,
            original_rows=len(proposal.rows),
            public_rows=len(release.public),
            deleted_rows=release.deleted_rows,
            added_rows=release.inserted_rows,
            pseudonyms=release.secret.pseudonyms["pseudonym"].n_unique(),
            risk=proposal.after,
            budget=dict(proposal.budget),
            previous=written[-1].digest if written else None,
        )
        facts = kept_form(proposal.verdict)
        return write_entry(self.folder, entry, release, proposal.rows, proposal.exposed, facts).entry

    # --- inside --------------------------------------------------------------------------------------------

    def _written(self) -> list[Written]:
        written, wrong = read_written(self.folder)
        for problem in wrong:
            raise problem
        return written

    @property
    def _schema_digest(self) -> str:
        return sha256(self.settings.schema.to_toml().encode()).hexdigest()

    def _history(self, data: Any) -> History:
        history = as_records(data, self.settings.schema)
        if not isinstance(history, History):
            raise SchemaError(_("a ledger keeps purchase histories"), _("give a purchase history"))
        return history
