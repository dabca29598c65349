"""Certificates and what attacks reach, in words: what the command and the studio say of a ledger."""

from __future__ import annotations

from noren.i18n import _, ngettext
from noren.judgement.numbers import count, percent
from noren.ledger.certificate import Certificate
from noren.ledger.risk import Risk

__all__ = ["attacks_sentence", "certificate_sentence"]


def certificate_sentence(certificate: Certificate | None, why: str = "", *, attacked: bool = True) -> str:
    """Return what is certified, and how sure the tail is; or that nothing is.

    ``attacked`` tells whether everything released was attacked, so that a budget can be held against that.
    """
    if certificate is None:
        said = (
            _("No certificate{why}. The budget is compared with what attacks achieve.")
            if attacked
            else _("No certificate{why}.")
        )
        return said.format(why=_(": {reason}").format(reason=why) if why else "")
    return ngettext(
        "Certified against every attacker: {classes} classes among {live} pseudonyms of {periods} period, so at "
        "most {rate} of them are re-identified in the mean, and with a probability of {sure} no more than {tail}.",
        "Certified against every attacker: {classes} classes among {live} pseudonyms of {periods} periods, so at "
        "most {rate} of them are re-identified in the mean, and with a probability of {sure} no more than {tail}.",
        certificate.periods,
    ).format(
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
        return _(
            "This ledger attacks only before release: what attacks reach is of the last period by itself. What they "
            "would reach in everything released together is not known."
        )
    if risk.redraws == 0:
        return _("Attack results are exact means over all assignments of pseudonyms.")
    said = ngettext(
        "Attack results are means over {count} assignment of pseudonyms that is not the one released.",
        "Attack results are means over {count} assignments of pseudonyms that are not the one released.",
        risk.redraws,
    ).format(count=count(risk.redraws))
    if "mm" not in risk.interval:
        return said
    low, high = risk.interval["mm"]
    return _("{sentence} MM of the best attack: {mean}, from {low} to {high} with 95 %.").format(
        sentence=said, mean=percent(risk.mm), low=percent(low), high=percent(high)
    )
