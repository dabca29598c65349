"""The public data sets themselves: their files, their size, their licence, their digests.

The catalog (:mod:`noren.data.catalog`) finds, fetches and reads them. A new data set is one more entry here.
"""

from __future__ import annotations

from dataclasses import dataclass

from noren.data.schema import Kind
from noren.errors import UnknownNameError
from noren.i18n import N_, _
from noren.naming import suggestion

__all__ = ["KNOWN", "DataPart", "Dataset"]


@dataclass(frozen=True)
class DataPart:
    """One file of a data set.

    ``names`` are the names it may have, the usual one first. ``digest`` is the SHA-256 of its bytes or, ``by_rows``,
    of its rows, for a part that comes in several formats. ``follows_schema`` says whether its columns are those of
    the data set's schema.
    """

    role: str
    names: tuple[str, ...]
    rows: int | None
    what: str
    digest: str | None = None
    by_rows: bool = False
    follows_schema: bool = True


@dataclass(frozen=True)
class Dataset:
    """What is known of a data set before it is found. The first part is the one that stands for the whole.

    ``archive`` is its place under the official archive's address and ``members`` the files in it, for a data set that
    can be fetched.
    """

    name: str
    title: str
    schema: str
    kind: Kind
    parts: tuple[DataPart, ...]
    licence: str
    citation: str
    homepage: str
    archive: str | None = None
    members: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """Rows of the first part."""
        return self.parts[0].rows or 0

    def part(self, role: str) -> DataPart:
        """Return the part with ``role``.

        >>> KNOWN[1].part("test").names
        ('adult.test',)
        """
        for part in self.parts:
            if part.role == role:
                return part
        roles = [part.role for part in self.parts]
        raise UnknownNameError(
            _("{dataset} has no part {role!r}{hint}; its parts are {roles}").format(
                dataset=self.name, role=role, hint=suggestion(role, roles), roles=", ".join(roles)
            )
        )


_RETAIL = "Chen, D. (2015). Online Retail. UCI Machine Learning Repository. https://doi.org/10.24432/C5BW33"
_CUT = N_("a cut of UCI Online Retail (CC BY 4.0), published by the contest's organisers and participants")
_ADULT_FILES = ("adult.data", "adult.test")

KNOWN = (
    Dataset(
        name="online-retail",
        title=N_("UCI Online Retail: a year of invoices of a British gift wholesaler"),
        schema="online-retail",
        kind=Kind.HISTORY,
        parts=(
            DataPart(
                "T",
                ("online_retail.parquet", "Online Retail.xlsx"),
                541_909,
                N_("invoice lines; cancellations and unknown customers kept"),
                "7655babde98b99fb3b668499cce37b35f22fc5c4b8ffa542efdbcf666f1460ab",
                by_rows=True,
            ),
        ),
        licence="CC BY 4.0",
        citation=_RETAIL,
        homepage="https://archive.ics.uci.edu/dataset/352/online+retail",
        archive="352/online+retail.zip",
        members=("Online Retail.xlsx",),
    ),
    Dataset(
        name="adult",
        title=N_("UCI Adult: 15 attributes of people in the 1994 US census"),
        schema="adult",
        kind=Kind.TABLE,
        parts=(
            DataPart(
                "data",
                _ADULT_FILES[:1],
                32_561,
                N_("people, the training part"),
                "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
            ),
            DataPart(
                "test",
                _ADULT_FILES[1:],
                16_281,
                N_("people, the test part; its salary classes end in a full stop"),
                "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
            ),
            DataPart(
                "hierarchies",
                ("adult_hierarchies",),
                None,
                N_("a folder of generalisation hierarchies, one file per column (ARX project, Apache-2.0)"),
                follows_schema=False,
            ),
        ),
        licence="CC BY 4.0",
        citation="Becker, B. & Kohavi, R. (1996). Adult. UCI Machine Learning Repository. https://doi.org/10.24432/C5XW20",
        homepage="https://archive.ics.uci.edu/dataset/2/adult",
        archive="2/adult.zip",
        members=_ADULT_FILES,
    ),
    Dataset(
        name="pwscup2016",
        title=N_("PWS Cup 2016: purchases of 400 customers"),
        schema="pwscup2016",
        kind=Kind.HISTORY,
        parts=(
            DataPart(
                "T",
                ("pwscup2016_T.csv",),
                38_087,
                N_("purchases"),
                "44535ac06338d97f6464421631883e13849a1a769c8327cbbc859316d9675d69",
            ),
            DataPart(
                "M",
                ("pwscup2016_M.csv",),
                400,
                N_("customers: sex and birthday are artificial"),
                "031c460ddc5113de124d42ff5f4173ee9f83d56357cfeb116220e6f977d0af80",
                follows_schema=False,
            ),
        ),
        licence=_CUT,
        citation=_RETAIL,
        homepage="http://www.iwsec.org/pws/pwscup/PWSCUP2016.html",
    ),
    Dataset(
        name="pwscup2017",
        title=N_("PWS Cup 2017, preliminary round: purchases of 500 customers, with what attackers know"),
        schema="pwscup2017",
        kind=Kind.HISTORY,
        parts=(
            DataPart(
                "T",
                ("pwscup2017_T.csv",),
                44_917,
                N_("purchases; the invoice is always 0"),
                "e343ff3c6f0c885ee8d4e07e6f5c78003e38c953104fba19249fbf0dcc07fdf0",
            ),
            DataPart(
                "M",
                ("pwscup2017_M.csv",),
                500,
                N_("customers: sex and birthday are artificial"),
                "81f2308d69a863d72cc74f998cd4785bfb1f0c39b73d2c132d296a5bc593094f",
                follows_schema=False,
            ),
            *(
                DataPart(
                    f"T{share}",
                    (f"pwscup2017_T{share}.csv",),
                    44_917,
                    N_("partial knowledge: so many percent of T's rows, items cut to two characters"),
                    digest,
                )
                for share, digest in (
                    (25, "2c1981aeff3cbfd6fe87186f3e3d92c190b83d5650d1cb6c7205bbb369a58da2"),
                    (50, "02a782751ff0d6407bc72b71954950a97de2887585e32538eefd4e750b4953b1"),
                    (75, "99b581b59f6a45211cb407db36f043856f1fe0b75cfc35a041aed1df0601868b"),
                    (100, "9655ecec930109278cf3d9272d52d488e5c1dc419292ba64e071fe6b79dd1395"),
                )
            ),
        ),
        licence=_CUT,
        citation=_RETAIL,
        homepage="http://www.iwsec.org/pws/pwscup/PWSCUP2017.html",
    ),
    Dataset(
        name="pwscup2018-preliminary",
        title=N_("PWS Cup 2018, preliminary round: purchases of 1,000 customers"),
        schema="pwscup2018",
        kind=Kind.HISTORY,
        parts=(
            DataPart(
                "T",
                ("pwscup2018_preliminary_T.csv",),
                81_776,
                N_("purchases"),
                "649dfe5b70da81fbdbf1b48199851d86307939a6f73d7a9d8ba8a78b20961596",
            ),
        ),
        licence=_CUT,
        citation=_RETAIL,
        homepage="https://github.com/gghatano/pwscup2018webapp",
    ),
    Dataset(
        name="pwscup2018-final",
        title=N_("PWS Cup 2018, final round: purchases of 1,000 customers"),
        schema="pwscup2018",
        kind=Kind.HISTORY,
        parts=(
            DataPart(
                "T",
                ("pwscup2018_final_T.csv",),
                89_278,
                N_("purchases"),
                "d880ca79393ac55b3eb710f7049f98eebe30a5a6c728ccff41cbd4442950eb6e",
            ),
            DataPart(
                "team01-draws",
                ("pwscup2018_team01_draws.parquet",),
                433_280,
                N_("five draws from the release of team 01: draw, pseudonym, date, item, price, quantity"),
                "397b1c723398e07e67d4c8d0c23a893b1493e675e1710b53ff435139c529618a",
                follows_schema=False,
            ),
        ),
        licence=_CUT,
        citation=_RETAIL,
        homepage="https://github.com/gghatano/pwscup2018webapp",
    ),
)
