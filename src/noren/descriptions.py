"""What a component tells about itself beside its parameters: how strong it can be, what it promises, where it stands.

Texts here are messages: they are shown translated, by the house's catalogue or by the component's own ``translations``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Any, Final, Literal

from noren.i18n import N_, _
from noren.tables import table_of


class Runtime(IntEnum):
    """How long a component takes on a few ten thousand rows with its default parameters, as an order of magnitude.

    >>> max(Runtime.SECONDS, Runtime.MINUTES).words
    'minutes for tens of thousands of rows'
    """

    SECONDS = 1
    MINUTES = 2
    HOURS = 3

    @property
    def words(self) -> str:
        """The class in a phrase."""
        return {
            Runtime.SECONDS: _("seconds for tens of thousands of rows"),
            Runtime.MINUTES: _("minutes for tens of thousands of rows"),
            Runtime.HOURS: _("hours for tens of thousands of rows"),
        }[self]


class Recoding(StrEnum):
    """What a release may have done to rows, in a phrase: an attack sees through some of it."""

    DELETED_ROWS = N_("deleted rows")
    ADDED_ROWS = N_("added rows")
    SWAPPED_ROWS = N_("rows swapped between customers")
    GENERALISED_CELLS = N_("generalised cells")
    NOISED_NUMBERS = N_("noise on prices and quantities")
    NOISED_DATES = N_("noise on dates")
    SHIFTED_DATES = N_("dates shifted for each customer")
    RENAMED_ITEMS = N_("renamed items")
    CHANGING_PSEUDONYMS = N_("pseudonyms that change over time")
    OTHER_PERIOD = N_("purchases of a period that the attacker does not know")


# --- methods ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Strength:
    """The parameter that tells weak from strong protection.

    Attributes
    ----------
    values
        What is worth a try where nobody says any, as a person writes it: ``"2..6"`` or ``"0.1, 0.3"``.
    safer
        Which way is safer.
    instead
        Parameters that may be given in its place.
    beside
        Parameters that make the protection stronger, too, and that a setting's name always tells.
    """

    parameter: str
    values: str
    safer: Literal["higher", "lower"] = "higher"
    instead: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()


@dataclass(frozen=True)
class PromiseKind:
    """What several methods promise, in plain words: a heading to choose them under."""

    key: str
    promise: str
    meaning: str


ALIKE, CHANCE, HARDER, MONTHS, NAMES, OWN = (PromiseKind(key, **texts) for key, texts in table_of(__name__).items())
PROMISES: Final = (ALIKE, CHANCE, HARDER, MONTHS, NAMES)
"""Those of the house, in the order to show."""


def in_form(
    *,
    help: str = "",  # noqa: A002 - what a form calls it
    main: bool = False,
    start: str = "",
    words: Mapping[str, str] | None = None,
    number: str = "",
    pick: Literal["", "column", "columns"] = "",
    **schema: Any,
) -> dict[str, Any]:
    """Return how a form shows a parameter, for ``json_schema_extra`` of its field; its label is the field's title.

    Parameters
    ----------
    help
        In place of the description, where that speaks to a command line.
    main
        Shown at once, not under *More settings*.
    start
        What a fresh form holds where there is no default.
    words
        What the values to choose from are called.
    number
        What a number is called that may be given in place of a choice.
    pick
        The values are names of columns: one sensitive column, or several.
    schema
        More of the JSON schema, such as ``minimum``.

    >>> in_form(main=True, minimum=2)
    {'form': {'main': True}, 'minimum': 2}
    """
    told = {"help": help, "main": main, "start": start, "words": dict(words or {}), "number": number, "pick": pick}
    return {"form": {name: value for name, value in told.items() if value}, **schema}


# --- measures --------------------------------------------------------------------------------------------------------


def as_it_is(value: float) -> float:
    """Return a value that is a share already."""
    return value


def what_is_left(value: float) -> float:
    """Return the share that an error or a loss leaves.

    >>> what_is_left(0.25)
    0.75
    """
    return 1 - value


@dataclass(frozen=True)
class Placing:
    """How a measure of use places a release on the risk–utility map; its risk is what the verdict says.

    Attributes
    ----------
    what, title
        What the share is of, in a few words; what the axis is called.
    share
        How the value becomes a share from 0 to 1.
    sentence
        How a recommendation tells it, with ``{use}`` or ``{lost}``.
    always
        Whether a sweep takes it also where nobody asked for it.
    rank
        Of several measures the one of the lowest rank places the release; ours have 0 and 1.
    """

    what: str
    title: str
    share: Callable[[float], float] = as_it_is
    sentence: str = ""
    always: bool = False
    rank: int = 10


@dataclass(frozen=True)
class Headline:
    """A number that a result tells in its first line.

    Attributes
    ----------
    part
        The part of the score that it is; the value itself where left out.
    goal
        Which way the part is better, where that is not the measure's own.
    percent
        Whether it is written in percent.
    of
        Whether it speaks of tables whose values were drawn anew, of all other data, or of any.
    rank
        Those of the lowest rank come first.
    """

    label: str
    meaning: str
    part: str = ""
    goal: Literal["lower", "higher"] | None = None
    percent: bool = False
    of: Literal["any", "perturbed", "others"] = "any"
    rank: int = 10


@dataclass(frozen=True)
class KeptShare:
    """What a recommendation says is kept, such as the RFM table; those of the lowest rank are named first."""

    words: str
    rank: int = 10
