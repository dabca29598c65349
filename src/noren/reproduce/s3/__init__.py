"""S3: the risk of repeated releases."""

from noren.i18n import N_
from noren.reproduce.frame import Document, Section
from noren.reproduce.s3 import figures, table
from noren.reproduce.s3.errata import errata

__all__ = ["DOCUMENT"]

DOCUMENT = Document(
    key="S3",
    title=N_("The risk of repeated releases: measures of safety in PWS Cup 2017"),
    citation="Tran, Sakamoto, Matsunaga (2018). An evaluation method for re-identification risks of anonymously "
    "processed information provided multiple times: from a consideration and an analysis of privacy metrics in "
    "PWSCUP 2017 (in Japanese).",
    parts=(
        Section("table", "1", N_("UM, MM and EMM of the best of S1 to S8"), table.units, table.table_1),
        Section("figure", "2", N_("Found after every month by S1 to S6"), table.units, figures.figure(2)),
        Section("figure", "3", N_("Found after every month by mean price, S7"), table.units, figures.figure(3)),
        Section("figure", "4", N_("Found after every month by number of records, S8"), table.units, figures.figure(4)),
    ),
    errata=errata,
)
