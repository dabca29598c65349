"""Base classes of components: methods protect, attacks guess, measures score.

The fields of a component are its parameters. The Python signature, the command-line flags, the web form (JSON schema),
the TOML of a sweep and the reference page are generated from them. Class variables hold everything else that a page, a
map or a sweep must know. A new component is one file with one class, and one line in its registry.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Any, ClassVar, Final, Literal

import polars as pl
from pydantic import BaseModel, ConfigDict

from noren.data.frames import MOST_COLUMNS, MOST_ROWS, Card, PreviewGrid, Records, brief, number, pandas_frame
from noren.data.release import Release
from noren.data.schema import Kind, Role, Schema
from noren.data.statement import Statement
from noren.errors import ParameterError
from noren.i18n import N_, _, add_translations
from noren.progress import Progress, silent
from noren.tables import table_of

Need = Literal["original", "public", "secret", "guess", "exact"]
"""``exact``: a release without sets and intervals."""
Side = Literal["safety", "utility"]
"""Whether a measure judges safety or utility."""


# --- facts of a component beside its parameters ----------------------------------------------------------------------
#
# Texts are messages: they are translated by our catalogue or by the component's own ``translations``.


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
        """The runtime as a phrase."""
        return {
            Runtime.SECONDS: _("seconds for tens of thousands of rows"),
            Runtime.MINUTES: _("minutes for tens of thousands of rows"),
            Runtime.HOURS: _("hours for tens of thousands of rows"),
        }[self]


class Recoding(StrEnum):
    """What a release may have done to rows; an attack sees through some of it."""

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


OTHER_ROWS: Final = frozenset({Recoding.DELETED_ROWS, Recoding.ADDED_ROWS})
NOISE: Final = frozenset({Recoding.NOISED_NUMBERS, Recoding.NOISED_DATES})


@dataclass(frozen=True)
class Strength:
    """The parameter that makes protection weaker or stronger.

    Attributes
    ----------
    values
        The default values to try, as a user writes them: ``"2..6"`` or ``"0.1, 0.3"``.
    safer
        Which way is safer.
    instead
        Parameters that can replace it.
    beside
        Further parameters that strengthen the protection; they are always part of a setting's name.
    """

    parameter: str
    values: str
    safer: Literal["higher", "lower"] = "higher"
    instead: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()


@dataclass(frozen=True)
class PromiseKind:
    """What several methods promise: a heading under which users choose them."""

    key: str
    promise: str
    meaning: str


ALIKE, CHANCE, HARDER, MONTHS, NAMES, OWN = (PromiseKind(key, **texts) for key, texts in table_of(__name__).items())
PROMISES: Final = (ALIKE, CHANCE, HARDER, MONTHS, NAMES)
"""The promises of built-in methods, in display order."""


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
    """Return how a form displays a parameter, for ``json_schema_extra`` of its field; its label is the field's title.

    Parameters
    ----------
    help
        Replaces the description, if that is written for the command line.
    main
        Displayed at once, not under *More settings*.
    start
        The initial value in a form, if there is no default.
    words
        The labels of the choices.
    number
        The label of a number that can replace a choice.
    pick
        The values are names of columns: one sensitive column, or several.
    schema
        More of the JSON schema, such as ``minimum``.

    >>> in_form(main=True, minimum=2)
    {'form': {'main': True}, 'minimum': 2}
    """
    settings = {"help": help, "main": main, "start": start, "words": dict(words or {}), "number": number, "pick": pick}
    return {"form": {name: value for name, value in settings.items() if value}, **schema}


def complement(value: float) -> float:
    """Return the share that an error or a loss leaves.

    >>> complement(0.25)
    0.75
    """
    return 1 - value


@dataclass(frozen=True)
class UtilityAxis:
    """How a utility measure places a release on the risk–utility map.

    Attributes
    ----------
    what, title
        What the share counts, in a few words; the label of the axis.
    share
        How the value becomes a share from 0 to 1, where it is none already.
    sentence
        How a recommendation states it, with ``{use}`` or ``{lost}``.
    always
        Whether a sweep always computes it.
    rank
        Of several measures the one of the lowest rank places the release; ours have 0 and 1.
    """

    what: str
    title: str
    share: Callable[[float], float] = float
    sentence: str = ""
    always: bool = False
    rank: int = 10


@dataclass(frozen=True)
class Headline:
    """A number in the first line of a result.

    Attributes
    ----------
    part
        The part of the score; the value itself by default.
    goal
        Which direction is better, if it differs from the measure's own.
    percent
        Whether it is written in percent.
    of
        Whether it is about tables whose values were redrawn, all other data, or any data.
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
    """What a recommendation says is preserved, such as the RFM table; the lowest rank is named first."""

    words: str
    rank: int = 10


# --- components ------------------------------------------------------------------------------------------------------


class Component(BaseModel, ABC):
    """The base class of methods, attacks and measures."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: ClassVar[str]
    """The name people type, lower case with hyphens."""
    summary: ClassVar[str]
    """One sentence: what a method does, what an attack does, what a measure counts."""
    source: ClassVar[str] = ""
    """The document it comes from (S0 … S4, or a citation)."""
    accepts: ClassVar[frozenset[Kind]] = frozenset({Kind.HISTORY})
    """The kinds of data it works on."""
    roles: ClassVar[tuple[Role, ...]] = ()
    """The roles that a history must have; a history may lack any but the customer."""
    runtime: ClassVar[Runtime] = Runtime.SECONDS
    """How long it takes on a few ten thousand rows: seconds (up to about half a minute) unless its class says more."""
    translations: ClassVar[Mapping[str, Mapping[str, str]]] = {}
    """Translations of its texts that our catalogue does not have: ``{"ja": {"Noise": "ノイズ"}}``."""

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        """Register its translations when the class is defined."""
        super().__pydantic_init_subclass__(**kwargs)
        add_translations(cls.translations)

    @classmethod
    def lacks(cls, schema: Schema) -> tuple[Role, ...]:
        """Return the roles that it needs and the data does not have."""
        if schema.kind != Kind.HISTORY:
            return ()
        return tuple(role for role in cls.roles if not schema.with_role(role))

    @classmethod
    def fits(cls, schema: Schema) -> bool:
        """Return whether it works on data of this schema: a kind it accepts, with the columns it needs."""
        return schema.kind in cls.accepts and not cls.lacks(schema)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters as plain data."""
        return self.model_dump(mode="json")


class Method(Component):
    """Turns an original into a release."""

    strength: ClassVar[Strength | None] = None
    """The parameter that makes it safer, and the values to try."""
    promises: ClassVar[PromiseKind] = OWN
    """The promise under which users choose it."""
    prominence: ClassVar[int] = 0
    """Among methods of one promise, the highest comes first."""
    good_for: ClassVar[str] = ""
    """What it is good for, in a sentence."""
    wrong_for: ClassVar[str] = ""
    """When it is the wrong tool, in a sentence."""
    best_so_far: ClassVar[str] = ""
    """What number it reports while it searches, and which way is better."""
    offered_next: ClassVar[int] = 0
    """Priority as the next step after another method; of those that fit, the highest is offered."""
    generalises: ClassVar[bool] = False
    """Whether its release has sets and intervals."""
    perturbs: ClassVar[bool] = False
    """Whether it redraws values of a table at random, so that a cell may be false."""

    @classmethod
    def usual_values(cls, people: int | None = None) -> str:
        """Return the values of its strength to try on data of so many people; empty without a strength."""
        return "" if cls.strength is None else cls.strength.values

    @abstractmethod
    def protect(self, original: Any, *, seed: int, progress: Progress = silent) -> Release:
        """Protect ``original``; the same seed gives the same bytes."""


@dataclass(frozen=True, repr=False)
class Guess:
    """Who an attacker thinks is behind each pseudonym, surest first.

    ``pairs`` holds ``pseudonym``, ``customer``, ``score`` (higher is surer) and, where pseudonyms change with time,
    ``period``. Ranked, so an attacker may name as few or as many people as pays. An attack that gives several
    candidates for a pseudonym tells which is which by ``rank``, from 1; the first is its answer.

    Of a table ``row`` is a public row and ``person`` the original row it is thought to stand for, both counted from 1.
    """

    attack: str
    pairs: pl.DataFrame
    notes: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.answers)

    @property
    def answers(self) -> pl.DataFrame:
        """The pairs without further candidates."""
        return self.pairs.filter(pl.col("rank") == 1).drop("rank") if "rank" in self.pairs.columns else self.pairs

    def to_polars(self) -> pl.DataFrame:
        """Return the pairs, surest first."""
        return self.pairs

    def to_pandas(self) -> Any:
        """Return the pairs as a pandas data frame, surest first."""
        return pandas_frame(self.pairs)

    def __repr__(self) -> str:
        # guesses do not belong in a log
        return f"Guess(attack={self.attack!r}, pairs={len(self)})"

    def _repr_html_(self) -> str:
        """Return how a notebook shows the guess: the attack, how many it names, the surest pairs."""
        answers = self.answers
        head = answers.select(answers.columns[:MOST_COLUMNS]).head(MOST_ROWS)
        numeric = [dtype.is_numeric() for dtype in head.dtypes]
        texts = [
            [number(cell) if isinstance(cell, int | float) else "–" if cell is None else str(cell) for cell in row]
            for row in head.rows()
        ]
        grid = PreviewGrid([(name, "") for name in head.columns], texts, numeric, len(answers), answers.width)
        return Card(_("Guess"), self.attack, [(_("Named"), f"{len(answers):,}")], grid).html()


class Attack(Component):
    """Links the public part of a release to the people of an original. It never sees the secret part."""

    listens: ClassVar[bool] = False
    """Whether it uses the guesses of other attacks, and so runs after them."""
    cost: ClassVar[float] = 1.0
    """Processor seconds on a million rows, as an order of magnitude: the cheapest of several attacks runs first."""
    sees_through: ClassVar[frozenset[Recoding]] = frozenset()
    """What a release may do to a history, all at once, without hiding people from this attack."""

    def with_other_guesses(self, guesses: Mapping[str, Guess]) -> Attack:
        """Return the attack with the guesses of others on the same release; most attacks ignore them."""
        return self

    def with_public_metadata(self, statement: Statement) -> Attack:
        """Return the attack with the public statement of the release; most attacks ignore it."""
        return self

    @abstractmethod
    def attack(self, original: Any, public: Any, *, seed: int, progress: Progress = silent) -> Guess:
        """Guess who is behind each pseudonym of ``public``, knowing ``original``."""


@dataclass(frozen=True)
class Evidence:
    """The input of a measure."""

    original: Records
    release: Release
    guesses: Mapping[str, Guess] = field(default_factory=dict)


@dataclass(frozen=True, repr=False)
class Score:
    """The result of a measure: one value, its parts, and further facts.

    ``measure`` and ``goal`` name the measure and the better direction, if known; they do not count for equality.
    """

    value: float
    parts: Mapping[str, float] = field(default_factory=dict)
    notes: Mapping[str, Any] = field(default_factory=dict)
    measure: str = field(default="", compare=False)
    goal: Literal["lower", "higher"] | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        fields = [number(self.value), *([f"measure={self.measure!r}"] if self.measure else [])]
        fields += [f"goal={self.goal!r}"] if self.goal else []
        parts = {name: number(value) for name, value in list(self.parts.items())[:MOST_ROWS]}
        listed = ", ".join(f"{brief(name)}={value}" for name, value in parts.items())
        more = ", …" if len(self.parts) > len(parts) else ""
        return f"Score({', '.join(fields)}{f', parts({listed}{more})' if parts else ''})"

    def _repr_html_(self) -> str:
        """Return how a notebook shows the score: the measure, the value, which way is better, its parts."""
        better = {"lower": _("lower is better"), "higher": _("higher is better"), None: ""}[self.goal]
        value = f"{number(self.value)} ({better})" if better else number(self.value)
        rows = [(name, number(part)) for name, part in list(self.parts.items())[:MOST_COLUMNS]]
        head = [(_("Part"), ""), (_("Value"), "")]
        grid = PreviewGrid(head, rows, [False, True], len(self.parts), 2) if rows else None
        return Card(_("Measure"), self.measure, [(_("Value"), value)], grid).html()

    def as_dict(self) -> dict[str, Any]:
        """Return the score as plain data."""
        result: dict[str, Any] = {"value": self.value, "parts": dict(self.parts)}
        return result | ({"notes": dict(self.notes)} if self.notes else {})


class Measure(Component):
    """Judges a release: what leaks (safety) or what stays useful (utility)."""

    goal: ClassVar[Literal["lower", "higher"]]
    """Which direction is better."""
    bounds: ClassVar[tuple[float, float | None]] = (0.0, None)
    """The range of the value; None for unbounded."""
    unit: ClassVar[str] = ""
    """What the value counts."""
    needs: ClassVar[frozenset[Need]]
    """What it needs."""
    side: ClassVar[Side]
    """Whether it judges safety or utility."""
    part_names: ClassVar[Mapping[str, str]] = {}
    """Labels of its parts; a part ``price.mean`` or ``age, kept`` has the label of what follows its column."""
    utility_axis: ClassVar[UtilityAxis | None] = None
    """How it places a release on the risk–utility map; None where it does not."""
    headlines: ClassVar[tuple[Headline, ...]] = ()
    """The numbers that the first line of a result shows."""
    keeps: ClassVar[KeptShare | None] = None
    """What a recommendation says is preserved; None if it is not mentioned."""
    of_perturbed: ClassVar[bool] = True
    """Whether it is meaningful for a table whose values were redrawn."""

    @classmethod
    def part_name(cls, part: str) -> str:
        """Return the label of a part of the score; columns and attacks keep their names."""
        for mark in (".", ", "):
            subject, _mark, name = part.rpartition(mark)
            if subject and name in cls.part_names:
                return f"{subject}: {_(cls.part_names[name])}"
        return _(cls.part_names[part]) if part in cls.part_names else part

    @classmethod
    def in_words(cls, notes: Mapping[str, Any]) -> list[str]:
        """Return what the notes of a score say in sentences, for the steward; most measures have none."""
        return []

    @abstractmethod
    def measure(self, evidence: Evidence, *, progress: Progress = silent) -> Score:
        """Judge the release in ``evidence``."""


def require_kind(component: Component, schema: Schema) -> None:
    """Raise if a component does not work on data of this schema."""
    if schema.kind not in component.accepts:
        message = _("{component} works on a {kinds}, and this is a {kind}; choose another component, or another schema")
        kinds = "/".join(sorted(component.accepts))
        raise ParameterError(message.format(component=component.name, kinds=kinds, kind=schema.kind))
    lacking = component.lacks(schema)
    if lacking:
        message = _(
            "{component} needs a column with the role {roles}, and these purchases have none; choose another component,"
            ' or give a column role = "{role}" in the schema'
        )
        raise ParameterError(message.format(component=component.name, roles=", ".join(lacking), role=lacking[0]))
