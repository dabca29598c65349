"""Made-up rows of a shop, and the files they are written to; the same rows every time."""

from __future__ import annotations

import csv
import datetime as dt
import io
import random
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

__all__ = ["GOODS", "Good", "Purchase", "purchases", "write_csv", "write_ods", "write_text"]


@dataclass(frozen=True)
class Good:
    """Something a shop sells."""

    code: str
    name: str
    price: float


GOODS = tuple(
    Good(f"49{1777018888 + 104729 * place}", name, price)
    for place, (name, price) in enumerate(
        (
            ("Espresso machine", 1249.0),
            ("Matches", 0.5),
            ("Green tea", 3.2),
            ("Rice, 5 kg", 18.9),
            ("Soy sauce", 4.75),
            ("Miso", 5.6),
            ("Noodles", 1.15),
            ("Milk", 1.09),
            ("Eggs", 2.99),
            ("Bread", 2.45),
            ("Butter", 3.49),
            ("Cheese", 6.8),
            ("Apples", 2.3),
            ("Bananas", 1.8),
            ("Oranges", 2.75),
            ("Onions", 0.99),
            ("Potatoes", 3.1),
            ("Carrots", 1.2),
            ("Chicken", 8.4),
            ("Salmon", 12.5),
            ("Coffee", 7.25),
            ("Chocolate", 1.95),
            ("Biscuits", 2.15),
            ("Soap", 1.35),
            ("Shampoo", 4.99),
            ("Toothpaste", 2.6),
            ("Paper towels", 3.75),
            ("Batteries", 5.95),
            ("Candles", 4.2),
            ("Umbrella", 15.0),
        )
    )
)
SHOPS = ("Kobe", "Osaka", "Nara")


@dataclass(frozen=True)
class Purchase:
    """One row: somebody bought some of a good."""

    customer: int
    when: dt.datetime
    good: Good
    price: float
    quantity: int
    shop: str
    invoice: int

    @property
    def member(self) -> str:
        """The customer's number on the card: long enough not to occur in a file by chance."""
        return f"C{10_000 + 37 * self.customer}"

    @property
    def total(self) -> float:
        """What the row cost."""
        return round(self.price * self.quantity, 2)


# two rows whose values stand in the right readings: four digits and hundredths, a day that could be a month, one not
FIRST = Purchase(7, dt.datetime(2018, 4, 1, 9, 5, 30), GOODS[0], 1249.0, 3, "Kobe", 50_001)
SECOND = Purchase(3, dt.datetime(2018, 4, 23, 16, 31, 7), GOODS[1], 0.5, 1, "Osaka", 50_002)


def purchases(seed: int, customers: int = 24, rows: int = 160, *, heavy: float = 0.0) -> list[Purchase]:
    """Return exactly ``rows`` purchases by exactly ``customers``, in order of time, the first two being known.

    Parameters
    ----------
    heavy
        The share of all rows that the first customer has.
    """
    chance = random.Random(seed)
    left = rows - 2
    # everybody comes once; then some come oftener than others
    visitors = [n for n in range(1, customers + 1) if n not in (FIRST.customer, SECOND.customer)]
    liking = [chance.lognormvariate(0, 0.8) for _ in range(customers)]
    baskets: list[tuple[dt.datetime, int, int]] = []
    heavy_rows = round(heavy * rows)
    while left > 0:
        if visitors:
            who, size = visitors.pop(), 1
        elif heavy_rows > 0:
            who, size = 1, min(4, heavy_rows)
            heavy_rows -= size
        else:
            who = chance.choices(range(1, customers + 1), liking)[0]
            size = chance.choice((1, 1, 2, 2, 3, 4))
        day = dt.datetime(2018, 4, 24) + dt.timedelta(days=chance.randrange(340))
        when = day + dt.timedelta(hours=chance.randrange(9, 20), seconds=chance.randrange(3600))
        baskets.append((when, who if customers > 1 else 7, min(size, left)))
        left -= min(size, left)
    made = [FIRST, SECOND if customers > 1 else Purchase(**{**vars(SECOND), "customer": 7})]
    for place, (when, who, size) in enumerate(sorted(baskets)):
        shop = SHOPS[who % 3] if chance.random() < 0.9 else chance.choice(SHOPS)
        for good in chance.sample(GOODS, size):
            price = round(good.price * chance.choice((1, 1, 1, 0.9)), 2)
            quantity = chance.choice((1, 1, 1, 2, 2, 3, 6))
            made.append(Purchase(who, when, good, price, quantity, shop, 50_003 + place))
    return made


def write_csv(
    folder: Path,
    name: str,
    header: Sequence[str] | None,
    rows: Iterable[Sequence[object]],
    *,
    delimiter: str = ",",
    encoding: str = "utf-8",
    above: str = "",
) -> Path:
    """Write rows as text; empty cells are None."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    if header is not None:
        writer.writerow(header)
    writer.writerows(rows)
    return write_text(folder, name, above + text.getvalue(), encoding)


def write_text(folder: Path, name: str, text: str, encoding: str = "utf-8") -> Path:
    """Write a text file to the byte."""
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


_ODS_NAMES = " ".join(
    f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{long}:1.0"'
    for short, long in (("office", "office"), ("table", "table"), ("text", "text"))
)
_ODS_MANIFEST = (
    '<?xml version="1.0" encoding="UTF-8"?>'
    '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" manifest:version="1.2">'
    '<manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.spreadsheet"/>'
    '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>'
)


def _ods_cell(value: object) -> str:
    if value is None:
        return "<table:table-cell/>"
    if isinstance(value, dt.date):
        about = f'office:value-type="date" office:date-value="{value.isoformat()}"'
    elif isinstance(value, int | float):
        about = f'office:value-type="float" office:value="{value}"'
    else:
        about = 'office:value-type="string"'
    return f"<table:table-cell {about}><text:p>{escape(str(value))}</text:p></table:table-cell>"


def write_ods(folder: Path, name: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    """Write a spreadsheet as LibreOffice does, of one sheet."""
    lines = "".join(
        f"<table:table-row>{''.join(map(_ods_cell, row))}</table:table-row>" for row in (tuple(header), *rows)
    )
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {_ODS_NAMES} office:version="1.2">'
        f'<office:body><office:spreadsheet><table:table table:name="Sheet1">{lines}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    path = folder / name
    with zipfile.ZipFile(path, "w") as archive:
        for part, text in (
            ("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
            ("META-INF/manifest.xml", _ODS_MANIFEST),
            ("content.xml", content),
        ):
            archive.writestr(zipfile.ZipInfo(part, (2018, 4, 1, 0, 0, 0)), text)
    return path
