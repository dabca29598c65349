"""S4: an anonymisation system on probabilistic k-anonymity."""

from noren.i18n import N_
from noren.reproduce.frame import Document, Section, no_units
from noren.reproduce.s4 import adult, examples, figures, synthetic
from noren.reproduce.s4.errata import errata

__all__ = ["DOCUMENT"]

DOCUMENT = Document(
    key="S4",
    title=N_("An anonymisation system on probabilistic k-anonymity"),
    citation="Hirota, Masaki, Saito, Kikuchi, Igarashi, Fuji (2014). IPSJ SIG Technical Report 2014-SPT-9, No. 3.",
    parts=(
        Section("check", "rho", N_("Retention probability ρ from k, by formula (1)"), no_units, examples.rho),
        Section("check", "examples", N_("What the text works out"), no_units, examples.worked),
        Section("table", "3", N_("The nine attributes of Adult and their domains"), adult.domain_units, adult.domains),
        Section("table", "4", N_("Four sets of three attributes, and their cells"), no_units, examples.table_4),
        Section("table", "5", N_("L1 precision on Adult, per cent"), adult.units, adult.compare),
        Section("table", "6", N_("Patterns of blood types"), no_units, examples.table_6),
        Section("table", "7", N_("Patterns of months of birth"), no_units, examples.table_7),
        Section(
            "table", "8", N_("L1 precision of 1,000 synthetic rows, per cent"), synthetic.units_8, synthetic.table_8
        ),
        Section(
            "table", "9", N_("L1 precision of 10,000 synthetic rows, per cent"), synthetic.units_9, synthetic.table_9
        ),
        Section("figure", "2", N_("Ages before and after"), figures.units_2, figures.figure_2),
        Section("figure", "3", N_("Work class by education, before and after"), figures.units_3, figures.figure_3),
        Section("figure", "4", N_("Occupations before and after"), figures.units_4, figures.figure_4),
        Section(
            "figure",
            "5",
            N_("L1 precision of what was reconstructed, by pattern"),
            synthetic.units_both,
            synthetic.figure_5,
        ),
    ),
    errata=errata,
)
