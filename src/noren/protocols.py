"""The three things Noren is made of: methods protect, attacks threaten, measures judge.

Each is a small class. Its fields are its parameters and nothing else: the one source of the Python signature, the
command-line flags, the web form (JSON schema), the TOML of a sweep and the reference page. Class variables say what it
is and tell all that a page, a map or a sweep must know of it; no other file does. A new one is one file
with one class, and its line in the register of its room.
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
"""What a measure tells: what leaks, or what stays useful."""


# --- what a component tells about itself beside its parameters -------------------------------------------------------
#
# Texts are messages: they are shown translated, by the house's catalogue or by the component's own ``translations``.


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
class UtilityAxis:
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


# --- components ------------------------------------------------------------------------------------------------------


class Component(BaseModel, ABC):
    """What methods, attacks and measures have in common."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: ClassVar[str]
    """The name people type, lower case with hyphens."""
    summary: ClassVar[str]
    """One sentence: the promise of a method, the threat of an attack, what a measure tells."""
    source: ClassVar[str] = ""
    """The document it comes from (S0 … S4, or a citation)."""
    accepts: ClassVar[frozenset[Kind]] = frozenset({Kind.HISTORY})
    """Which data it works on."""
    roles: ClassVar[tuple[Role, ...]] = ()
    """Which roles a history must have for it; a history may lack any but the customer."""
    runtime: ClassVar[Runtime] = Runtime.SECONDS
    """How long it takes on a few ten thousand rows: seconds (up to about half a minute) unless its class says more."""
    translations: ClassVar[Mapping[str, Mapping[str, str]]] = {}
    """Its texts in other languages, for one that is not in the house's catalogue: ``{"ja": {"Noise": "ノイズ"}}``."""

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        """Let its texts be known as soon as there is such a class."""
        super().__pydantic_init_subclass__(**kwargs)
        add_translations(cls.translations)

    @classmethod
    def lacks(cls, schema: Schema) -> tuple[Role, ...]:
        """Return the roles that it needs and these data do not have."""
        if schema.kind != Kind.HISTORY:
            return ()
        return tuple(role for role in cls.roles if not schema.with_role(role))

    @classmethod
    def fits(cls, schema: Schema) -> bool:
        """Tell whether it works on data of this schema: of a kind it accepts, with the columns it needs."""
        return schema.kind in cls.accepts and not cls.lacks(schema)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters as plain data."""
        return self.model_dump(mode="json")


class Method(Component):
    """Turns an original into a release."""

    strength: ClassVar[Strength | None] = None
    """The parameter that makes it safer, and the values worth a try."""
    promises: ClassVar[PromiseKind] = OWN
    """Under which promise people choose it."""
    prominence: ClassVar[int] = 0
    """Among methods of one promise, those of more come first."""
    good_for: ClassVar[str] = ""
    """What it is good for, in a sentence."""
    wrong_for: ClassVar[str] = ""
    """When it is the wrong tool, in a sentence."""
    best_so_far: ClassVar[str] = ""
    """What number it reports while it searches, and which way is better."""
    offered_next: ClassVar[int] = 0
    """How readily it is offered to follow another method: of those that fit, the one of most."""
    generalises: ClassVar[bool] = False
    """Whether its release has sets and intervals."""
    perturbs: ClassVar[bool] = False
    """Whether it draws values of a table anew, so that a cell may say what never was."""

    @classmethod
    def usual_values(cls, people: int | None = None) -> str:
        """Return the values of its strength to try on data of so many people; nothing where it has no strength."""
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
        # whom an attacker names is nothing for a log
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
        return Card(_("guess"), self.attack, [(_("named"), f"{len(answers):,}")], grid).html()


class Attack(Component):
    """Links the public part of a release to the people of an original. It never sees the secret part."""

    listens: ClassVar[bool] = False
    """Whether it makes use of what other attacks found, and so comes after them."""
    sees_through: ClassVar[frozenset[Recoding]] = frozenset()
    """What a release may do to a history, all of it at once, without hiding people from this attack."""

    def with_other_guesses(self, guesses: Mapping[str, Guess]) -> Attack:
        """Return the attack, told what others found on the same release; one that does not listen stays as it is."""
        return self

    def with_public_metadata(self, statement: Statement) -> Attack:
        """Return the attack, told what the release says of itself in public; most have no use for it."""
        return self

    @abstractmethod
    def attack(self, original: Any, public: Any, *, seed: int, progress: Progress = silent) -> Guess:
        """Guess who is behind each pseudonym of ``public``, knowing ``original``."""


@dataclass(frozen=True)
class Evidence:
    """What a measure may look at."""

    original: Records
    release: Release
    guesses: Mapping[str, Guess] = field(default_factory=dict)


@dataclass(frozen=True, repr=False)
class Score:
    """A measure's answer: one value, its parts, and facts worth showing.

    ``measure`` and ``goal`` say who answered and which way is better, where that is known; two scores that say the same
    are equal without them.
    """

    value: float
    parts: Mapping[str, float] = field(default_factory=dict)
    notes: Mapping[str, Any] = field(default_factory=dict)
    measure: str = field(default="", compare=False)
    goal: Literal["lower", "higher"] | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        said = [number(self.value), *([f"measure={self.measure!r}"] if self.measure else [])]
        said += [f"goal={self.goal!r}"] if self.goal else []
        shown = {name: number(value) for name, value in list(self.parts.items())[:MOST_ROWS]}
        told = ", ".join(f"{brief(name)}={value}" for name, value in shown.items())
        more = ", …" if len(self.parts) > len(shown) else ""
        return f"Score({', '.join(said)}{f', parts({told}{more})' if shown else ''})"

    def _repr_html_(self) -> str:
        """Return how a notebook shows the score: the measure, the value, which way is better, its parts."""
        better = {"lower": _("lower is better"), "higher": _("higher is better"), None: ""}[self.goal]
        value = f"{number(self.value)} ({better})" if better else number(self.value)
        shown = [(name, number(part)) for name, part in list(self.parts.items())[:MOST_COLUMNS]]
        grid = (
            PreviewGrid([(_("part"), ""), (_("value"), "")], shown, [False, True], len(self.parts), 2)
            if shown
            else None
        )
        return Card(_("measure"), self.measure, [(_("value"), value)], grid).html()

    def as_dict(self) -> dict[str, Any]:
        """Return the score as plain data."""
        said: dict[str, Any] = {"value": self.value, "parts": dict(self.parts)}
        return said | ({"notes": dict(self.notes)} if self.notes else {})


class Measure(Component):
    """Judges a release: what leaks (safety) or what stays useful (utility)."""

    goal: ClassVar[Literal["lower", "higher"]]
    """Which way is better."""
    bounds: ClassVar[tuple[float, float | None]] = (0.0, None)
    """The range of the value; None for unbounded."""
    unit: ClassVar[str] = ""
    """What the value counts."""
    needs: ClassVar[frozenset[Need]]
    """What it looks at."""
    side: ClassVar[Side]
    """Whether it tells what leaks or what stays useful."""
    part_names: ClassVar[Mapping[str, str]] = {}
    """What its parts are called; a part ``price.mean`` or ``age, kept`` is called by what follows its column."""
    utility_axis: ClassVar[UtilityAxis | None] = None
    """How it places a release on the risk–utility map; None where it does not."""
    headlines: ClassVar[tuple[Headline, ...]] = ()
    """Which of its numbers a result tells in its first line."""
    keeps: ClassVar[KeptShare | None] = None
    """What a recommendation says is kept by it; None where none speaks of it."""
    of_perturbed: ClassVar[bool] = True
    """Whether it tells anything of a table whose values were drawn anew."""

    @classmethod
    def part_name(cls, part: str) -> str:
        """Return what a part of the score is called; columns and attacks keep their names."""
        for mark in (".", ", "):
            whose, _mark, what = part.rpartition(mark)
            if whose and what in cls.part_names:
                return f"{whose}: {_(cls.part_names[what])}"
        return _(cls.part_names[part]) if part in cls.part_names else part

    @abstractmethod
    def measure(self, evidence: Evidence, *, progress: Progress = silent) -> Score:
        """Judge the release in ``evidence``."""


def require_kind(component: Component, schema: Schema) -> None:
    """Stop where a component does not work on data of this schema."""
    if schema.kind not in component.accepts:
        raise ParameterError(
            _(
                "{component} works on a {wanted}, and this is a {given}; choose another component, or another schema"
            ).format(component=component.name, wanted="/".join(sorted(component.accepts)), given=schema.kind),
        )
    lacking = component.lacks(schema)
    if lacking:
        raise ParameterError(
            _(
                "{component} needs a column with the role {roles}, and these purchases have none; choose another"
                ' component, or give a column role = "{role}" in the schema'
            ).format(component=component.name, roles=", ".join(lacking), role=lacking[0]),
        )
