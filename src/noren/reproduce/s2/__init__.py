"""S2: re-identification by Jaccard similarity, and pseudo records against it."""

from noren.i18n import N_
from noren.reproduce.frame import Document, Section, no_units
from noren.reproduce.s2 import formulas, tables
from noren.reproduce.s2.errata import errata

__all__ = ["DOCUMENT"]

DOCUMENT = Document(
    key="S2",
    title=N_("Re-identification by Jaccard similarity, and pseudo records against it"),
    citation="On PWS Cup 2016: re-identification by sets of items, and clusters of a least size (in Japanese).",
    parts=(
        Section("check", "data", N_("What the data are like"), formulas.data_units, formulas.data),
        Section("check", "formulas", N_("What follows from b, µ and n"), no_units, formulas.formulas),
        Section("figure", "1", N_("Pseudo records for three customers"), formulas.example_units, formulas.example),
        Section("figure", "2", N_("The best number of clusters"), no_units, formulas.figure_2),
        Section("table", "1", N_("Customers found by their items"), tables.units_1, tables.table_1),
        Section("table", "2", N_("Rows added, similarity and customers found"), tables.units_2, tables.table_2),
    ),
    errata=errata,
)
