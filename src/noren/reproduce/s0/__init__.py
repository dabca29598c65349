"""S0: the report of PWS Cup 2018, on generalised purchase histories."""

from noren.i18n import N_
from noren.reproduce.frame import Document, Section, no_units
from noren.reproduce.s0 import cup, safety, usefulness
from noren.reproduce.s0.errata import errata

__all__ = ["DOCUMENT"]

DOCUMENT = Document(
    key="S0",
    title=N_("Report of PWS Cup 2018: safety and usefulness of generalised purchase histories"),
    citation="Hamada et al. Report of PWS Cup 2018, the contest of anonymisation and re-identification (in Japanese).",
    parts=(
        Section("check", "examples", N_("What the text works out"), safety.example_units, safety.examples),
        Section(
            "table", "3", N_("U of the 13 releases, and who was re-identified"), safety.result_units, safety.results
        ),
        Section("table", "4", N_("Right answers that prove a release unsafe"), no_units, safety.table_4),
        Section("table", "5", N_("Kinds of releases, and how many survived"), safety.kind_units, safety.kinds),
        Section("table", "6", N_("Errors of use cases"), usefulness.units, usefulness.table(6)),
        Section("table", "7", N_("Errors of rows and top items"), usefulness.units, usefulness.table(7)),
        Section("table", "8", N_("Errors of dates, in days"), usefulness.units, usefulness.table(8)),
        Section("table", "9", N_("Errors of prices, in pence"), usefulness.units, usefulness.table(9)),
        Section("table", "10", N_("Errors of quantities"), usefulness.units, usefulness.table(10)),
        Section(
            "check", "correlations", N_("What goes with U beyond chance"), usefulness.units, usefulness.correlations
        ),
        Section("check", "contest", N_("The final played again: who would have won"), cup.units, cup.contest),
    ),
    errata=errata,
)
