"""The ledger: what was released period by period, and what the next release would add."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from noren.api import as_records, draw_seed, protect
from noren.data.contest_files import listed_customers
from noren.data.formats.files import require_free_path, writing_folder
from noren.data.frames import History
from noren.data.periods import period_key
from noren.data.reading import checked_seed
from noren.data.release import Release
from noren.data.schema import Schema
from noren.errors import CheckFailedError, FileError, SchemaError
from noren.i18n import _
from noren.judgement.judging import judge
from noren.judgement.rule import Rule
from noren.judgement.verdict import Verdict
from noren.ledger.certificate import REDRAWS, Certificate, certified, least_possible, redrawn, why_uncertified
from noren.ledger.entries import (
    LedgerEntry,
    StoredEntry,
    Tell,
    alone,
    ignore_message,
    load_facts,
    load_past,
    load_rows,
    new_head,
    read_entries,
    read_head,
    verify,
    write_entry,
)
from noren.ledger.incoming import folder_name, incoming, periods_to_come
from noren.ledger.joined import joined, joined_rows, of_period, pseudonyms_of
from noren.ledger.proposal import BudgetError, Proposal, UnknownRiskError, facts_together, stored_form, stored_verdict
from noren.ledger.recorded import RecordedRelease, RecordedReleases, weighed
from noren.ledger.risk import MEASURES, Risk, assess, attack_all, exposed_customers, guess_rates
from noren.ledger.settings import ChainLike, LedgerSettings, chain_of
from noren.progress import Progress, part_of, silent
from noren.tables import Texts
from noren.version import __version__

say = Texts(__name__)


def period_seed(seed: int, period: str) -> int:
    """Return the seed of a period's chain: another one in every period, for the same seed.

    >>> period_seed(1, "2011/1") == period_seed(1, "2011/2")
    False
    """
    return int(np.random.SeedSequence([checked_seed(seed), *period_key(period)]).generate_state(1, np.uint64)[0]) >> 1


@dataclass(eq=False, repr=False)
class Ledger:
    """A folder that records what was released, period by period, to judge the next release before it is made.

    A period that is safe alone may not be safe together with earlier releases, which an attacker can link. If every
    period is in classes of equal histories, the risk of all of them is certified before the pseudonyms are drawn.
    Otherwise everything is attacked together, by an attacker who knows all original rows, in draws that are not the one
    released. If UM, MM or EMM would exceed the budget, nothing is released.

    References
    ----------
    S3: the risk of repeated releases is to be evaluated at every release.

    Examples
    --------
    Two months of two customers, under new pseudonyms. Anyone who knows their purchases finds both, in both months.

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

    folder: Path
    settings: LedgerSettings

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
        attack_released: bool = True,
    ) -> Ledger:
        """Make an empty ledger in a new folder; see :class:`~noren.ledger.settings.LedgerSettings`."""
        folder = Path(folder)
        require_free_path(folder)
        how: dict[str, Any] = {"period": period, "attacks": attacks, "budget": budget, "rule": rule}
        settings = LedgerSettings.of(schema, chain, attack_released=attack_released, **how)
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
    def entries(self) -> tuple[LedgerEntry, ...]:
        """The entries in order; a damaged entry raises."""
        return tuple(written.entry for written in self._stored_entries())

    def release_folder(self, period: str) -> Path:
        """Return the folder of a period's release."""
        return self.folder / "releases" / folder_name(period)

    def verdicts(self) -> dict[str, Verdict]:
        """Return the verdict on everything released after each period, by the current rule."""
        return {
            stored.entry.period: stored_verdict(load_facts(stored), self.settings.rule)
            for stored in self._stored_entries()
        }

    def as_dict(self) -> dict[str, Any]:
        """Return the ledger as plain data, each entry with its verdict by the rule in force."""
        settings, verdicts, recorded = self.settings, self.verdicts(), self.recorded
        hidden = {"files", "previous", "schema_digest"}
        return {
            "schema": settings.schema.name,
            "period": settings.period,
            "steps": settings.chain.parameters()["steps"],
            "attacks": list(settings.attacks),
            "rule": settings.rule.as_dict(),
            "attack_released": settings.attack_released,
            "budget": dict(settings.budget),
            "budget_of_epsilon": settings.epsilon,
            "left": self.left(),
            "recorded": [release.model_dump(mode="json") for release in recorded.releases],
            "spent": {adjacency: spent.model_dump() for adjacency, spent in recorded.spent.items()},
            "joint_k": recorded.joint_k,
            "spent_in_words": recorded.sentences(),
            "certificate": None if (now := self.certificate()) is None else now.model_dump(mode="json"),
            "entries": [
                entry.model_dump(mode="json", exclude=hidden) | {"verdict": verdicts[entry.period].as_dict()}
                for entry in self.entries
            ],
        }

    @property
    def recorded(self) -> RecordedReleases:
        """What was recorded beside the periods, with ε of all of it."""
        return read_head(self.folder).recorded

    def record(self, folder: str | Path, tell: Tell = ignore_message) -> RecordedRelease:
        """Record a folder of tables or of retention about the same people; refuse what would exceed the budget of ε."""
        with alone(self.folder, tell):
            release = weighed(folder)
            new_head(self.folder, recorded=self.recorded.plus(release, self.settings.epsilon))
        return release

    def risk(self) -> Risk | None:
        """Return the risk of everything released so far; None before the first release."""
        entries = self.entries
        return entries[-1].risk if entries else None

    def certificate(self) -> Certificate | None:
        """Return what is certified of everything released so far; None where nothing is."""
        entries = self.entries
        return entries[-1].certificate if entries else None

    def left(self, proposal: Proposal | None = None) -> dict[str, float]:
        """Return what is left of the budget; below 0 where the budget was reduced after a release, empty where unknown.

        The certificate is compared with it, or the attacks' means where there is none. With a proposal it is what would
        be left.
        """
        risk, certificate = self.risk(), self.certificate()
        if proposal is not None:
            risk, certificate = proposal.after, proposal.certificate
        if certificate is None and risk is not None and risk.alone:  # the risk used so far is unknown
            return {}
        used = certificate.rate if certificate is not None else {n: risk.value(n) for n in MEASURES} if risk else {}
        return {name: limit - used.get(name, 0.0) for name, limit in self.settings.budget.items()}

    def tightest(self, proposal: Proposal | None = None) -> str:
        """Return the measure whose budget has least left, ``mm`` where there is no budget: the one to look at."""
        left = self.left(proposal)
        return min(left, key=left.__getitem__, default="mm")

    def certified_curve(self, proposal: Proposal | None = None, measure: str = "mm") -> list[float | None]:
        """Return what was certified after each release; None where nothing was."""
        certificates = [entry.certificate for entry in self.entries] + ([proposal.certificate] if proposal else [])
        return [None if certificate is None else certificate.rate[measure] for certificate in certificates]

    def curves(
        self, proposal: Proposal | None = None, measure: str = "mm"
    ) -> tuple[list[str], dict[str, list[float | None]]]:
        """Return the periods, and for each attack MM^(1), MM^(2), …: its MM over everything released so far.

        With a proposal the last values are what it would bring. None stands where an attack was not tried on
        everything released. ``measure`` may be ``um`` or ``emm`` as well.
        """
        risks = {entry.period: entry.risk for entry in self.entries}
        if proposal is not None:
            risks[proposal.period] = proposal.after
        names = dict.fromkeys(name for risk in risks.values() for name in risk.attacks)
        curves = {
            name: [None if r.alone or name not in r.attacks else r.attacks[name][measure] for r in risks.values()]
            for name in names
        }
        return list(risks), curves

    def check(self) -> list[FileError]:
        """Return everything that is wrong with the files of the ledger; empty where they are unchanged."""
        written, wrong = read_entries(self.folder)
        for stored in written:
            wrong += verify(stored)
            if (stored.entry.calendar, stored.entry.schema_digest) != (self.settings.period, self._schema_digest):
                wrong.append(FileError(say("rule_changed", period=stored.entry.period), file=self.folder))
        return wrong

    def to_come(self, history: Any) -> list[str]:
        """Return the periods of a history that are later than all that was released, in order."""
        past = {stored.entry.period: load_past(stored) for stored in self._stored_entries()}
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
        tell: Tell = ignore_message,
        progress: Progress = silent,
    ) -> Proposal:
        """Protect the next period and return what its release would add to the risk; write nothing.

        Parameters
        ----------
        history
            The rows of the new period, alone or with those before and after it. Rows of released periods must be those
            of then.
        period
            The period to release (default: the first not yet released).
        chain
            How to protect this period, in place of the ledger's own way.
        allow_gap
            Whether periods may be passed over.
        source
            The file that the rows were read from, for errors to name.
        """
        for wrong in self.check():
            raise wrong
        written = self._stored_entries()
        settings = self.settings
        new = incoming(
            self._history(history),
            settings.schema,
            settings.period,
            {stored.entry.period: load_past(stored) for stored in written},
            wanted=period,
            allow_gap=allow_gap,
            source=source,
        )
        for note in new.notes:
            tell(note)
        originals = [*(load_rows(stored, settings.schema) for stored in written), new.rows]
        original = joined_rows(originals)
        listed_customers(original)  # raises early if a customer is missing in the master
        seed = draw_seed() if seed is None else checked_seed(seed)
        own = period_seed(seed, new.period)
        way = settings.chain if chain is None else chain_of(chain, settings.period)
        made = protect(new.rows, way, seed=own, progress=part_of(progress, 0.0, 0.3))
        earlier = [Release.load(stored.folder) for stored in written]
        bought = replace(original, master=None)  # customers without purchases cannot be found, and do not count
        bare = next((stored.entry.period for stored in written if stored.entry.certificate is None), None)
        why = why_uncertified(made, new.period)
        if bare is not None:
            why = _("{period} was released without a certificate").format(period=bare)
        certificate = None if why else certified([*earlier, made], bought.customers)
        alone = bool(written) and not settings.attack_released
        if alone and certificate is None and settings.budget:
            raise CheckFailedError(say("no_certificate", period=new.period))
        taken = {name for release in earlier for name in pseudonyms_of(release)}
        release = of_period(made, new.period, taken, own)
        release = replace(release, secret=replace(release.secret, seed=seed))
        releases = [*earlier, release]
        periods = [*(stored.entry.period for stored in written), new.period]
        last = -1 if alone else 0  # what is attacked: everything, or the new period before it is out
        known, tested = originals[last:], releases[last:]
        attacked_rows = replace(joined_rows(known), master=None)
        failed: dict[str, str] = {}
        attacks = settings.ready_attacks()
        share = 0.65 / (1 if certificate else 1 + REDRAWS)
        attacking = part_of(progress, 0.3, 0.3 + share)
        guesses = attack_all(known, tested, attacks, failed=failed, progress=attacking)
        draws = [guess_rates(attacked_rows, tested, guesses, exactly=True)] if certificate else []
        for number in range(0 if certificate else REDRAWS):
            done = 0.3 + share * (1 + number)
            others = redrawn(known, tested, periods[last:], settings.period, number)
            attacking = part_of(progress, done, done + share)
            answers = attack_all(known, others, attacks, failed=failed, progress=attacking)
            draws.append(guess_rates(attacked_rows, others, answers))
        together = joined(tested)
        before = written[-1].entry.risk if written and not alone else None
        after = assess(attacked_rows, together, draws, before, exact=certificate is not None)
        on_everything = {} if alone else guesses
        return Proposal(
            new.period,
            new.rows,
            release,
            before,
            after.model_copy(update={"alone": alone}),
            judge(facts_together(bought, releases, on_everything, failed, certificate), settings.rule),
            settings.budget,
            exposed_customers(attacked_rows, together, guesses),
            failed,
            certificate,
            why,
            written[-1].entry.certificate if written else None,
            least_possible([*earlier, made], bought.customers) if certificate else {},
        )

    def add(self, history: Any, *, tell: Tell = ignore_message, progress: Progress = silent, **how: Any) -> LedgerEntry:
        """Release the next period unless it would exceed the budget.

        Takes the parameters of :meth:`weigh`. An exceeded budget raises :class:`BudgetError`, an attack that fails
        :class:`UnknownRiskError`; both change nothing. While another process adds to the ledger, this one waits.
        """
        return self.add_with_proposal(history, tell=tell, progress=progress, **how)[0]

    def add_with_proposal(
        self, history: Any, *, tell: Tell = ignore_message, progress: Progress = silent, **how: Any
    ) -> tuple[LedgerEntry, Proposal]:
        """Do as :meth:`add`, and return the proposal as well."""
        with alone(self.folder, tell):
            for left in (self.folder / "releases").glob(".*"):  # by a process that was ended half-way
                shutil.rmtree(left, ignore_errors=True)
            proposal = self.weigh(history, tell=tell, progress=progress, **how)
            if proposal.broken:
                raise BudgetError(proposal)
            if proposal.failed:
                raise UnknownRiskError(proposal)
            written, release = self._stored_entries(), proposal.release
            entry = LedgerEntry(
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
                certificate=proposal.certificate,
                budget=dict(proposal.budget),
                previous=written[-1].digest if written else None,
            )
            facts = stored_form(proposal.verdict)
            return write_entry(self.folder, entry, release, proposal.rows, proposal.exposed, facts), proposal

    # --- inside --------------------------------------------------------------------------------------------

    def _stored_entries(self) -> list[StoredEntry]:
        written, wrong = read_entries(self.folder)
        for problem in wrong:
            raise problem
        return written

    @property
    def _schema_digest(self) -> str:
        return sha256(self.settings.schema.to_toml().encode()).hexdigest()

    def _history(self, data: Any) -> History:
        history = as_records(data, self.settings.schema)
        if not isinstance(history, History):
            raise SchemaError(_("a ledger records purchase histories; give a purchase history"))
        return history
