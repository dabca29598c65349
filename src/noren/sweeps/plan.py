"""Plan of a sweep: settings of methods, one point per seed, and the pieces of work of each point.

Every piece has an address made of what it depends on. A release depends on the data, their schema, the method with its
parameters, the seed and the method's code; a guess on its release and the attack; a score on its release, the measure
and, where it judges attacks, their guesses. So a sweep with one more attack runs that attack and judges it, and
nothing else again.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from noren.attacks import attacks as every_attack
from noren.attacks.ensemble import Ensemble
from noren.data.frames import History, Records
from noren.data.reading import checked_seed
from noren.data.schema import Kind, Schema
from noren.data.statement import Statement
from noren.errors import ParameterError, suggestion
from noren.i18n import _
from noren.judgement.outcome import label_of, non_default_parameters, people_in
from noren.judgement.rule import DEFAULT, Rule
from noren.measures import measures as every_measure
from noren.measures import placing
from noren.methods import methods as every_method
from noren.methods.chain import Chain
from noren.protocols import Attack, Component, Measure, Method
from noren.registry import Registry, expand, flags
from noren.sweeps.defaults import usual_parameters, usual_values
from noren.sweeps.pieces import PieceKind, PieceOrder, examine, make_release, place_of
from noren.work.run import fitting
from noren.work.store import WorkUnit, code_digest

_GLUE = (
    "noren.api",
    "noren.sweeps.pieces",
    "noren.judgement.evidence",
    "noren.measures.safety.hits",
    "noren.data.compatibility",
)
"""Code that all pieces use: a change of it recomputes all of them. Judging is not part of it."""
_AUDIT = ("noren.measures.safety.classes",)
_MOST_POINTS = 10_000


@dataclass(frozen=True)
class Setting:
    """A method with its parameters; ``short`` is its label among others of its method."""

    method: Method
    short: str = ""

    @property
    def label(self) -> str:
        """The label of the setting."""
        return self.short or self.full

    @cached_property
    def full(self) -> str:
        """The method and the parameters that differ from their defaults; of a file only its name."""
        return label_of(_statement(self.method))

    @cached_property
    def statement(self) -> Statement:
        """The statement with the parameters that differ from their defaults; of a file only its name."""
        steps = [Statement(step.method, non_default_parameters(step)) for step in _statement(self.method).steps]
        return Statement.of_chain(steps) if isinstance(self.method, Chain) else steps[0]

    @property
    def parameters(self) -> dict[str, Any]:
        """These parameters as plain data."""
        if isinstance(self.method, Chain):
            return {"steps": [{"method": step.method} | dict(step.parameters) for step in self.statement.steps]}
        return dict(self.statement.parameters)


@dataclass(frozen=True)
class SweepRequest:
    """What to run, and the rule that verdicts are given by."""

    settings: tuple[Setting, ...]
    attacks: tuple[Attack, ...]
    measures: tuple[Measure, ...]
    """``settings``, ``attacks``, ``measures``: the methods, attacks and measures, each with its parameters."""
    seeds: tuple[int, ...]
    """The seeds of the methods; every setting runs once with each. They are secret: attackers never learn them."""
    rule: Rule = DEFAULT
    """What the recipient may be able to do. No piece of work depends on it."""
    purpose: tuple[str, ...] = ()
    """The questions that the release is for (:mod:`noren.tabulations.questions`); they decide between safe settings."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", tuple(_named(self.settings)))
        if not self.settings:
            raise ParameterError(_("no method is named; name one or more, or all"))
        if not self.seeds:
            raise ParameterError(_("no seed is given; give one or more, such as 1..3"))
        for seed in self.seeds:
            checked_seed(seed)
        if len(set(self.seeds)) < len(self.seeds):
            raise ParameterError(_("a seed is repeated; give each seed once"))
        if (count := len(self.settings) * len(self.seeds)) > _MOST_POINTS:
            message = _("the sweep has {count:,} points; at most {most:,} are allowed")
            raise ParameterError(message.format(count=count, most=_MOST_POINTS))


def shared_parameters(settings: Sequence[Setting]) -> dict[str, list[str]]:
    """Return for each method the parameters that all its settings share and that no label needs, as in labels.

    >>> both = [Setting(every_method.create("generalize-by-count", k=k, suppress_cells=True)) for k in (2, 3)]
    >>> shared_parameters(both), [setting.label for setting in _named(both)]
    ({'generalize-by-count': ['suppress-cells']}, ['generalize-by-count, k = 2', 'generalize-by-count, k = 3'])
    """
    words: dict[str, list[list[str]]] = {}
    always: dict[str, set[str]] = {}  # the strength is always in the label
    for setting in settings:
        name, strength = setting.method.name, setting.method.strength
        words.setdefault(name, []).append(setting.full.removeprefix(name).strip(", ").split(", "))
        named = () if strength is None else (strength.parameter, *strength.instead, *strength.beside)
        always[name] = {"", *(parameter.replace("_", "-") for parameter in named)}
    shared = {}
    for name, (first, *others) in words.items():
        alike = [word for word in first if word.split(" = ")[0] not in always[name] and "→" not in word]
        shared[name] = [word for word in alike if others and all(word in own for own in others)]
    return {name: alike for name, alike in shared.items() if alike}


def _named(settings: Sequence[Setting]) -> list[Setting]:
    """Return the settings with labels that omit what all settings of a method share."""
    dropped = shared_parameters(settings)
    own = [[w for w in s.full.split(", ") if w not in dropped.get(s.method.name, [])] for s in settings]
    return [replace(setting, short=", ".join(words)) for setting, words in zip(settings, own, strict=True)]


@dataclass(frozen=True)
class Piece:
    """A unit of work and what it runs."""

    unit: WorkUnit
    component: Component
    kind: PieceKind
    key: str
    """Where a release or a guess lies in the cache."""


@dataclass(frozen=True)
class Point:
    """A setting with one seed: a release, the guesses of attacks, and its scores."""

    setting: Setting
    seed: int
    run: int
    release: Piece
    guesses: Mapping[str, Piece]
    scores: Mapping[str, Piece]
    other_guesses: Sequence[Piece] = ()
    """Guesses that were not requested, but that an ensemble attack uses."""

    @property
    def pieces(self) -> list[Piece]:
        """All pieces, in an order in which they can be done."""
        return [self.release, *self.other_guesses, *self.guesses.values(), *self.scores.values()]


# --- choosing --------------------------------------------------------------------------------------------------------


def settings_for(
    methods: str | Method | Iterable[str | Method],
    parameters: Mapping[str, Any],
    original: Records,
    rule: Rule | None = None,
) -> tuple[list[Setting], list[str]]:
    """Return the settings that names and values mean, and the methods that ``all`` leaves out, with the reason.

    A value goes to every named method that has the parameter; a list, a range or ``"2..6"`` are values to try. A method
    without a strength in ``parameters`` takes the usual values, and those that a rule requires.

    >>> from noren.api import sample
    >>> history = sample(customers=20, rows=300, items=50, seed=1)
    >>> [setting.label for setting in settings_for("generalize-by-count,thin", {"k": "2..3", "share": 0.2}, history)[0]]
    ['generalize-by-count, k = 2', 'generalize-by-count, k = 3', 'thin, share = 0.2']
    """
    named: list[str | Method]
    if isinstance(methods, str):
        named = [name.strip() for name in methods.split(",") if name.strip()]
    else:
        named = [methods] if isinstance(methods, Method) or not isinstance(methods, Iterable) else list(methods)
    every = named == ["all"]
    if every:
        named = [name for name in every_method if name != "chain" and every_method[name].fits(original.schema)]
    kinds = [every_method[name] for name in named if isinstance(name, str)]
    known = sorted({name for kind in kinds for name in kind.model_fields})
    if unknown := [name for name in parameters if name not in known]:
        message = _("{component} has no parameter {flag}{hint}; there are {names}")
        component, names = ", ".join(kind.name for kind in kinds) or "–", ", ".join(known) or _("none")
        hint = suggestion(unknown[0], known)
        raise ParameterError(message.format(component=component, flag=unknown[0], hint=hint, names=names))
    people = people_in(original)
    settings: list[Setting] = []
    left_out = []
    for method_or_name in named:
        if isinstance(method_or_name, Method):
            settings.append(Setting(settled(method_or_name)))
            continue
        try:
            made = expanded(every_method[method_or_name], parameters, people, schema=original.schema, rule=rule)
            settings += [Setting(settled(method)) for method in made]
        except ParameterError as error:
            if not every:
                raise
            left_out.append(f"{method_or_name}: {error}")
    unlike: dict[tuple[str, str], Setting] = {}
    for setting in settings:
        unlike.setdefault((place_of(setting.method), _as_text(setting.method)), setting)
    return list(unlike.values()), left_out


def expanded(
    kind: type[Method], values: Mapping[str, Any], people: int, *, schema: Schema, rule: Rule | None = None
) -> list[Method]:
    """Return a method with every combination of values, and the usual ones of its strength if it has none."""
    own: dict[str, Any] = {}
    for flag in flags(kind):
        if flag.field not in values:
            continue
        value = values[flag.field]
        several = isinstance(value, Iterable) and not isinstance(value, str | Mapping)
        own[flag.field] = list(value) if several else value
        if own[flag.field] == [] and not flag.is_list:
            raise ParameterError(_("{name} has no value; write values such as 2..6 or 2, 3, 5").format(name=flag.field))
    strength = kind.strength
    if strength is not None and not own.keys() & {strength.parameter, *strength.instead}:
        own = usual_parameters(kind, schema, usual_values(kind, people, rule).split(", ")) | own
    return expand(kind, own)


def settled(method: Method, folder: Path | None = None) -> Method:
    """Return a method whose files have absolute paths, so that it means the same wherever it runs.

    Relative paths start from ``folder``, by default from the working directory.
    """
    if isinstance(method, Chain):
        return method.model_copy(update={"steps": tuple(settled(step, folder) for step in method.steps)})
    root = Path.cwd() / (folder or "")
    files = {name: Path(os.path.normpath(root / path)) for name, path in files_named(method).items()}
    return method.model_copy(update=files) if files else method


def files_named(component: Component) -> dict[str, Path]:
    """Return the files that parameters name, by parameter."""
    fields = type(component).model_fields
    return {name: value for name in fields if isinstance(value := getattr(component, name), Path)}


def chosen_components(registry: Registry[Any], names: Any, original: Records) -> list[Any]:
    """Return attacks or measures: ``all`` that fit the data and need no parameter, names, or ready ones."""
    if isinstance(names, str):
        if names == "all":
            return [registry.create(name) for name in fitting(registry, original.schema)]
        names = [name.strip() for name in names.split(",") if name.strip() and name.strip() != "none"]
    return [component if isinstance(component, Component) else registry.create(component) for component in names]


# --- pieces ----------------------------------------------------------------------------------------------------------


def data_key(original: Records) -> str:
    """Return the SHA-256 of everything that methods, attacks and measures read of an original."""
    schema_text = f"{type(original).__name__}\0{original.schema.to_toml()}\0{original.digest()}\0"
    digest = hashlib.sha256(schema_text.encode())
    for name, odd in sorted(original.spelling.exceptions.items()):
        digest.update(f"{name}\0{odd.write_csv()}\0".encode())
    if isinstance(original, History) and original.master is not None:
        digest.update(original.master.write_csv().encode())
    return digest.hexdigest()


def placing_measures(schema: Schema) -> list[str]:
    """Return the measures that place a point on the map; they always run."""
    kinds = [kind for kind in placing(schema.kind) if kind.utility_axis is not None and kind.utility_axis.always]
    return [*(["classes"] if schema.kind == Kind.TABLE else []), *(kind.name for kind in kinds if kind.fits(schema))]


def plan(request: SweepRequest, original: Records, data: str) -> list[Point]:
    """Return the points of a sweep over an original whose :func:`data_key` is ``data``, setting by setting."""
    measures = [measure for measure in request.measures if measure.fits(original.schema)]
    judges: dict[str, Measure] = {measure.name: measure for measure in measures}
    for name in placing_measures(original.schema):
        judges.setdefault(name, every_measure.create(name))
    # attacks that use other guesses go last; the cached results are the same in whatever order attacks are named
    fitting_attacks = (attack for attack in request.attacks if attack.fits(original.schema))
    attackers = sorted(fitting_attacks, key=lambda attack: (attack.listens, attack.name))
    points = []
    for setting, (run, seed) in itertools.product(request.settings, enumerate(request.seeds, start=1)):
        release = _piece("release", setting.method, data, seed=seed)
        guesses: dict[str, Piece] = {}
        other_guesses: dict[str, Piece] = {}
        for attack in attackers:
            listened: dict[str, Piece] = {}
            if isinstance(attack, Ensemble):
                others = [] if attack.members else fitting(every_attack, original.schema)
                for name in attack.members or [name for name in others if name != attack.name]:
                    member = every_attack.create(name)
                    if name not in guesses or guesses[name].component != member:
                        other_guesses.setdefault(name, _piece("guess", member, data, release=release))
                    listened[name] = other_guesses.get(name) or guesses[name]
            elif attack.listens:
                listened = dict(guesses)
            guesses[attack.name] = _piece("guess", attack, data, release=release, other_guesses=listened)
        scores = {}
        for name, measure in judges.items():
            judged = guesses if "guess" in measure.needs else {}
            scores[name] = _piece("score", measure, data, release=release, other_guesses=judged)
        points.append(Point(setting, seed, run, release, guesses, scores, list(other_guesses.values())))
    return points


def _piece(
    kind: PieceKind,
    component: Component,
    data: str,
    *,
    seed: int = 0,
    release: Piece | None = None,
    other_guesses: Mapping[str, Piece] | None = None,
) -> Piece:
    """Return a piece of work: what it runs, what it needs, and the address made of both."""
    order = PieceOrder(
        data=data,
        place=place_of(component),
        parameters=_as_text(component),
        key="",
        seed=seed,
        release="" if release is None else release.key,
        other_guesses=tuple((name, piece.key) for name, piece in (other_guesses or {}).items()),
    )
    module = type(component).__module__
    if module == "__main__":
        message = _("{name} is defined in a script or notebook; move it into a module that every process can import")
        raise ParameterError(message.format(name=type(component).__name__))
    modules = [module]
    steps: Sequence[Component] = component.steps if isinstance(component, Chain) else (component,)
    if kind == "release" and {"k", "min_class"} & set(type(steps[-1]).model_fields):
        modules += _AUDIT  # a method that claims k is audited
    contents = []
    for path in (path for step in steps for path in files_named(step).values() if path.exists()):
        digest = hashlib.sha256()  # of the content of a file or folder, not only its name
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                digest.update(f"{file.name}\0".encode() + hashlib.sha256(file.read_bytes()).digest())
        contents.append(digest.hexdigest())
    code = _digest(_digest(*(code_digest(module_name, *_GLUE) for module_name in modules)), contents)
    key = _digest(kind, order.model_dump(), code)
    needs = () if release is None else (release, *(other_guesses or {}).values())
    order_text = order.model_copy(update={"key": key}).model_dump_json()
    work: Callable[..., Any] = make_release if kind == "release" else examine
    unit = WorkUnit(work, (order_text,), needs=tuple(piece.unit for piece in needs), code=code)
    return Piece(unit, component, kind, key)


def _digest(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _as_text(component: Component) -> str:
    return json.dumps(component.parameters(), sort_keys=True, ensure_ascii=False)


def _statement(method: Method) -> Statement:
    """Return the statement of a release; of files only their names."""
    if isinstance(method, Chain):
        return Statement.of_chain(_statement(step) for step in method.steps)
    files = {name: path.name for name, path in files_named(method).items()}
    # a user's own method is in no registry: only its class knows its defaults
    return Statement(method.name, method.model_dump(mode="json", exclude_defaults=True) | files)
