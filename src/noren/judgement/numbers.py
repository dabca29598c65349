"""Formatting of numbers in reports and on pages."""

from __future__ import annotations

from noren.i18n import ngettext


def count(number: int) -> str:
    """Write a number of things."""
    return f"{number:,}"


def size(bytes_: int) -> str:
    """Return how large a file is.

    >>> size(900), size(64 * 2**20)
    ('900 bytes', '67.1 MB')
    """
    if bytes_ < 1000:
        return ngettext("{count} byte", "{count} bytes", bytes_).format(count=bytes_)
    return f"{bytes_ / 1e6:,.1f} MB" if bytes_ >= 100_000 else f"{bytes_ / 1e3:,.1f} kB"


def decimal(value: float) -> str:
    """Write a value with three decimals, and never a small one as nothing.

    >>> decimal(0.43821), decimal(0.0), decimal(0.0001)
    ('0.438', '0.000', '<0.001')
    """
    return "<0.001" if 0 < value < 0.0005 else f"{value:.3f}"


def tenth(value: float) -> str:
    """Write a mean number of things with one decimal, and never a small one as nothing.

    >>> tenth(0.94), tenth(0.0), tenth(0.01)
    ('0.9', '0.0', '<0.1')
    """
    return "<0.1" if 0 < value < 0.05 else f"{value:,.1f}"


def percent(share: float) -> str:
    """Write a share as a percentage; only nothing is 0% and only everything 100%.

    >>> percent(0.1234), percent(0.0), percent(0.0025), percent(0.00001), percent(0.9999), percent(1.0)
    ('12.3%', '0%', '0.25%', '<0.01%', '>99.9%', '100%')
    """
    if share in (0.0, 1.0):
        return f"{share:.0%}"
    if 0 < share < 0.01:
        return "<0.01%" if share < 0.0001 else f"{share:.2%}"
    if 0.999 < share < 1:
        return ">99.9%"
    return f"{share:.1%}"


def number(value: float) -> str:
    """Write any number for a person: whole ones whole, small ones with three decimals, large ones with one.

    >>> number(3.0), number(0.43821), number(0.00002), number(-0.25), number(122505.94)
    ('3', '0.438', '<0.001', '-0.250', '122,505.9')
    """
    if float(value).is_integer():
        return count(int(value))
    if value < 0:
        return f"-{number(-value)}".replace("-<", ">-")
    return decimal(value) if value < 100 else f"{value:,.1f}"
