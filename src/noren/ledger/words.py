"""Certificates and what attacks reach, in words: what the command and the studio say of a ledger."""

from __future__ import annotations

from noren.i18n import _, ngettext
from noren.judgement.numbers import count, percent
from noren.ledger.certificate import Certificate
from noren.ledger.risk import Risk

__all__ = ["attacks_sentence", "certificate_sentence"]


def certificate_sentence(certificate: Certificate | None, why: str = "") -> str:
    """Return what is certified, and how sure the tail is; or that nothing is."""
    if certificate is None:
        return _("No certificate{why}. The budget is held against what attacks reach.").format(
            why=_(": {reason}").format(reason=why) if why else ""
        )
    return ngettext(
        "Certified, whatever an attacker knows and does: {classes} classes among {live} pseudonyms of {periods} period,"
        " so {rate} of them are named rightly in the mean at most, and with {sure} no more than {tail}.",
        "Certified, whatever an attacker knows and does: {classes} classes among {live} pseudonyms of {periods} periods"
        ", so {rate} of them are named rightly in the mean at most, and with {sure} no more than {tail}.",
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
    """Return what the attacks' figures are means of."""
    if risk.redraws is None:
        return _("What attacks reach was counted on the draw released, by an older Noren.")
    if risk.redraws == 0:
        return _("What attacks reach is the exact mean over all draws of the pseudonyms.")
    said = ngettext(
        "What attacks reach is the mean over {count} draw that is not the one released.",
        "What attacks reach is the mean over {count} draws that are not the one released.",
        risk.redraws,
    ).format(count=count(risk.redraws))
    if "mm" not in risk.interval:
        return said
    low, high = risk.interval["mm"]
    return _("{sentence} MM of the best attack: {mean}, from {low} to {high} with 95 %.").format(
        sentence=said, mean=percent(risk.mm), low=percent(low), high=percent(high)
    )
