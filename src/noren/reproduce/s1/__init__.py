"""S1: k-anonymising purchase histories, with product categories."""

from noren.i18n import N_
from noren.reproduce.frame import Document, Section
from noren.reproduce.s1 import examples, table
from noren.reproduce.s1.errata import errata

__all__ = ["DOCUMENT"]

DOCUMENT = Document(
    key="S1",
    title=N_("k-anonymising purchase histories, with product categories"),
    citation="Nakamura. Slides of the Kikuchi laboratory on the data of PWS Cup 2018 (in Japanese).",
    parts=(
        Section("check", "alike", N_("Histories made alike, row by row"), examples.example_units, examples.made_alike),
        Section("check", "error", N_("The error of three rows"), examples.error_units, examples.rows_error),
        Section("check", "categories", N_("Items and categories"), examples.listed_units, examples.listed),
        Section("table", "1", N_("U, 1/k and their sum, for k = 2 to 20"), table.table_units, table.table),
        Section("figure", "1", N_("U and its sum with 1/k"), table.table_units, table.figure),
        Section("check", "beyond", N_("The same k with a lower U"), table.beyond_units, table.beyond),
    ),
    errata=errata,
)
