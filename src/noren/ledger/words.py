"""Certificates and what attacks reach, in words: what the command and the studio say of a ledger."""

from __future__ import annotations

from noren.judgement.numbers import count, percent
from noren.ledger.certificate import Certificate
from noren.ledger.risk import Risk
from noren.tables import Texts

__all__ = ["attacks_sentence", "certificate_sentence"]

say = Texts(__name__)


def certificate_sentence(certificate: Certificate | None, why: str = "", *, attacked: bool = True) -> str:
    """Return what is certified, and how sure the tail is; or that nothing is.

    ``attacked`` tells whether everything released was attacked, so that a budget can be held against that.
    """
    if certificate is None:
        name = "certificate.none_attacked" if attacked else "certificate.none"
        return say(name, why=say("certificate.why", reason=why) if why else "")
    return say(
        "certificate.certified",
        certificate.periods,
        classes=count(certificate.classes),
        live=count(certificate.live),
        periods=count(certificate.periods),
        rate=percent(certificate.rate["mm"]),
        sure=percent(certificate.sure),
        tail=percent(certificate.tail["mm"]),
    )


def attacks_sentence(risk: Risk) -> str:
    """Return what the attacks' figures are means of, and what they are not about."""
    if risk.alone:
        return say("attacks.alone")
    if risk.redraws == 0:
        return say("attacks.exact")
    said = say("attacks.means", risk.redraws, count=count(risk.redraws))
    if "mm" not in risk.interval:
        return said
    low, high = risk.interval["mm"]
    return say("attacks.interval", sentence=said, mean=percent(risk.mm), low=percent(low), high=percent(high))
