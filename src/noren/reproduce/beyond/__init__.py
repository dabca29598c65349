"""Past the documents: what was left open in them, or was left to luck, and what came of it."""

from noren.i18n import N_
from noren.reproduce.beyond.histories import bound, class_units, classes, frontier, frontier_units
from noren.reproduce.beyond.inference import inference_units, inferences
from noren.reproduce.beyond.reconstruction import gains, gains_units
from noren.reproduce.beyond.releases import monthly, monthly_units, year, year_units
from noren.reproduce.frame import Document, Section, no_units

__all__ = ["DOCUMENT"]

DOCUMENT = Document(
    key="beyond",
    title=N_("Past the documents: the sharp bound, the best groups, reconstruction, the ledger"),
    citation="What S0, S1, S3 and S4 leave open.",
    parts=(
        Section("check", "bound", N_("How many right answers prove a release unsafe"), no_units, bound),
        Section("check", "classes", N_("What the best attacker does to classes of k"), class_units, classes),
        Section("check", "frontier", N_("The best groups of k beside the 13 teams"), frontier_units, frontier),
        Section("check", "reconstruction", N_("What auto gains on S4's tables"), gains_units, gains),
        Section("check", "ledger", N_("What a year of monthly releases adds up to"), year_units, year),
        Section("check", "inference", N_("What releases reveal about who is in the data"), inference_units, inferences),
        Section("check", "monthly", N_("Which way to publish every month"), monthly_units, monthly),
    ),
)
