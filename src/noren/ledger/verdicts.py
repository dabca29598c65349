"""How safe everything released is: what attacks got is kept with each entry, and judged by the rule in force.

The facts tell which of an attack's answers are right, so they lie in the secret part, under its seal. The verdict of
then lies beside them and saves the reckoning while the rule and the program are the same; it is never held against
another rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from noren.data.frames import History
from noren.data.release import Release
from noren.data.schema import Kind
from noren.judgement.evidence import Facts, facts_from, tried_by
from noren.judgement.judging import judge
from noren.judgement.outcome import people_in
from noren.judgement.release_facts import release_facts
from noren.judgement.rule import Rule
from noren.judgement.verdict import Verdict
from noren.ledger.certificate import Certificate
from noren.ledger.joined import joined
from noren.protocols import Guess
from noren.version import __version__

__all__ = ["facts_together", "kept_form", "verdict_of_kept"]


def facts_together(
    original: History,
    releases: Sequence[Release],
    guesses: Mapping[str, Guess],
    failed: Iterable[str] = (),
    certificate: Certificate | None = None,
) -> Facts:
    """Return what was found of everything released, ``original`` being the rows of all periods.

    What a release claims by itself it claims of one period. Of several together classes are claimed where a certificate
    says so: by the composition theorem the smallest of all periods bounds the chance of naming a pseudonym rightly.
    """
    together = joined(releases)
    claiming = releases[0] if len(releases) == 1 else together
    tried = tuple(tried_by(name, guess, together.secret) for name, guess in sorted(guesses.items()))
    facts = facts_from(
        Kind.HISTORY,
        people_in(original),
        claiming.statement,
        {},
        tried,
        release_facts(claiming, original if len(releases) == 1 else None),
        failed=tuple(sorted(failed)),
    )
    if len(releases) == 1:
        return facts
    each = [release_facts(release) for release in releases]
    update: dict[str, Any] = {
        "registered": all(one.registered for one in each),
        "names_random": all(one.names_random is not False for one in each),
        "chosen_seed": any(one.chosen_seed for one in each),
    }
    if certificate is not None:
        update |= {
            "claimed": {"k": certificate.claimed},
            "smallest_class": certificate.k,
            "periods": certificate.periods,
            "once": certificate.once,
        }
    return facts.model_copy(update=update)


def kept_form(verdict: Verdict) -> dict[str, Any]:
    """Return what is kept of a verdict: its facts, and what was said of them by which rule and program."""
    said = verdict.model_dump(mode="json", exclude={"facts"})
    return {"facts": verdict.facts.model_dump(mode="json"), "noren": __version__, "verdict": said}


def verdict_of_kept(kept: Mapping[str, Any], rule: Rule) -> Verdict:
    """Return the verdict on facts that were kept, by the rule in force."""
    facts = Facts.model_validate(kept["facts"])
    if kept["noren"] == __version__:
        try:
            said = Verdict.model_validate({**kept["verdict"], "facts": facts})
        except ValidationError:
            return judge(facts, rule)
        if said.rule == rule:
            return said
    return judge(facts, rule)
