"""One parameter model, four uses: command-line flags, JSON schema for forms, TOML of a sweep, reference page."""

from __future__ import annotations

import itertools
import re
import tomllib
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from noren.errors import FileError, ParameterError
from noren.i18n import _
from noren.naming import suggestion
from noren.protocols import Component, Measure, Method
from noren.registry import Kind, Registry, build

__all__ = [
    "Flag",
    "describe",
    "expand",
    "flags",
    "from_flags",
    "read_sweep_file",
    "reference_facts",
    "runs_of",
    "share_flags",
    "spread",
    "sweep_flags",
]

_RANGE = re.compile(r"^(-?\d+)\.\.(-?\d+)$")


@dataclass(frozen=True)
class Flag:
    """One parameter as the command line shows it."""

    field: str
    flag: str
    type: str
    default: Any
    required: bool
    help: str
    is_switch: bool
    is_list: bool
    choices: tuple[str, ...] = ()


def flags(component: type[Component]) -> list[Flag]:
    """Return the command-line flags of a component."""
    return [_flag(name, about) for name, about in component.model_fields.items()]


def _flag(name: str, about: FieldInfo) -> Flag:
    bare, optional = _without_none(about.annotation)
    origin = get_origin(bare)
    is_list = origin in (list, tuple, set, frozenset)
    choices = tuple(str(a) for a in get_args(bare)) if str(origin) == "typing.Literal" else ()
    default = about.get_default(call_default_factory=True) if not about.is_required() else None
    return Flag(
        field=name,
        flag="--" + name.replace("_", "-"),
        type=_type_name(bare, choices, is_list=is_list) + (" | " + _("none") if optional else ""),
        default=None if default is PydanticUndefined else default,
        required=about.is_required(),
        help=_(about.description) if about.description else "",
        is_switch=bare is bool,
        is_list=is_list,
        choices=choices,
    )


def _without_none(annotation: Any) -> tuple[Any, bool]:
    if get_origin(annotation) in (Union, types.UnionType):
        kept = [a for a in get_args(annotation) if a is not type(None)]
        return (_bare(kept[0]) if len(kept) == 1 else annotation), len(kept) < len(get_args(annotation))
    return annotation, False


def _bare(annotation: Any) -> Any:
    """Return a type without what pydantic is told beside it."""
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def _type_name(annotation: Any, choices: tuple[str, ...], *, is_list: bool) -> str:
    if choices:
        return " | ".join(choices)
    if is_list:
        return _("list, separated by commas")
    if get_origin(annotation) in (Union, types.UnionType):
        kinds = (get_args(a) if str(get_origin(a)) == "typing.Literal" else (a,) for a in get_args(annotation))
        return " | ".join(k if isinstance(k, str) else _type_name(k, (), is_list=False) for some in kinds for k in some)
    names = {int: _("whole number"), float: _("number"), bool: _("yes or no"), str: _("text"), Path: _("file")}
    return names.get(annotation, getattr(annotation, "__name__", str(annotation)))


def from_flags(component: type[Kind], given: Sequence[str]) -> Kind:
    """Build a component from ``--flag value`` words (see :func:`share_flags`)."""
    return share_flags([component], given)[0]


def share_flags(components: Sequence[type[Kind]], given: Sequence[str]) -> list[Kind]:
    """Build components from ``--flag value`` words; a flag goes to every component that has it.

    Switches are ``--flag`` and ``--no-flag``; lists are separated by commas; ``--flag=value`` works too.
    """
    return [build(c, p) for c, p in zip(components, _shared(components, given), strict=True)]


def sweep_flags(components: Sequence[type[Component]], given: Sequence[str]) -> list[dict[str, Any]]:
    """Return for each component the values that ``--flag values`` words list, for :func:`expand`: ``--k 2..6,10``.

    A flag goes to every component that has it, as in :func:`share_flags`; commas part the values to try.
    """
    shared = _shared(components, given)
    for component, parameters in zip(components, shared, strict=True):
        for flag in flags(component):
            value = parameters.get(flag.field)
            if isinstance(value, str) and not flag.is_list:
                parameters[flag.field] = [one.strip() for one in value.split(",") if one.strip()]
    return shared


def _shared(components: Sequence[type[Component]], given: Sequence[str]) -> list[dict[str, Any]]:
    """Return for each component the values of those flags that it has."""
    known = [{f.flag: f for f in flags(c)} for c in components]
    parameters: list[dict[str, Any]] = [{} for _component in components]
    words = list(given)
    while words:
        word = words.pop(0)
        flag, equals, value = word.partition("=")
        if not flag.startswith("--"):
            raise ParameterError(_("{word!r} was not expected").format(word=word), _("parameters look like --k 3"))
        off = "--" + flag[5:] if flag.startswith("--no-") else ""
        takers = [i for i, k in enumerate(known) if flag in k or (off in k and k[off].is_switch)]
        if not takers:
            raise _unknown_flag(components, known, flag)
        about = known[takers[0]].get(flag) or known[takers[0]][off]
        answer: Any
        if about.flag != flag:
            answer = False
        elif about.is_switch and not equals:
            answer = True
        else:
            if not equals:
                if not words:
                    raise ParameterError(_("{flag} needs a value").format(flag=flag), f"{flag} {about.type}")
                value = words.pop(0)
            answer = [v for v in value.split(",") if v] if about.is_list else value
        for i in takers:
            _once(parameters[i], about, value=answer)
    return parameters


def _unknown_flag(components: Sequence[type[Component]], known: list[dict[str, Flag]], flag: str) -> ParameterError:
    names = sorted({name for k in known for name in k})
    return ParameterError(
        _("{component} has no parameter {flag}{hint}").format(
            component=", ".join(c.name for c in components), flag=flag, hint=suggestion(flag, names)
        ),
        _("its parameters are {names}").format(names=", ".join(names) or _("none")),
    )


def _once(parameters: dict[str, Any], about: Flag, *, value: Any) -> None:
    if about.field in parameters:
        raise ParameterError(_("{flag} is given twice").format(flag=about.flag), _("give it once"))
    parameters[about.field] = value


# --- sweeps ------------------------------------------------------------------------------------------------


def expand(component: type[Kind], parameters: Mapping[str, Any]) -> list[Kind]:
    """Return the component at every combination of listed values; ``"2..20"`` means every whole number between.

    A parameter that is a list itself is not spread out.
    """
    about = {f.field: f for f in flags(component)}
    choices: dict[str, list[Any]] = {}
    for given_name, value in parameters.items():
        name = given_name.replace("-", "_")
        is_list = name in about and about[name].is_list
        values = [value] if is_list or not isinstance(value, list) else value
        choices[name] = [one for v in values for one in spread(v)]
    return [
        build(component, dict(zip(choices, combination, strict=True)))
        for combination in itertools.product(*choices.values())
    ]


def spread(value: Any) -> list[Any]:
    """Return every whole number of a range such as ``"2..20"``; another value as it is.

    >>> spread("2..4"), spread("2")
    ([2, 3, 4], ['2'])
    """
    span = _RANGE.match(value) if isinstance(value, str) else None
    if span is None:
        return [value]
    first, last = int(span[1]), int(span[2])
    if last < first or last - first > 100_000:
        raise ParameterError(
            _("the range {value} is empty or too long").format(value=value), _("write the smaller end first")
        )
    return list(range(first, last + 1))


def read_sweep_file(path: str | Path) -> dict[str, Any]:
    """Read the TOML of a sweep as it stands."""
    try:
        with Path(path).open("rb") as file:
            return tomllib.load(file)
    except (OSError, ValueError, RecursionError) as error:
        raise FileError(
            _("the sweep cannot be read ({reason})").format(reason=str(error)[:160]), _("give a TOML file"), file=path
        ) from None


def runs_of(
    content: Mapping[str, Any], registry: Registry[Kind], key: str = "method", *, file: str | Path | None = None
) -> list[Kind]:
    """Return the components that the ``[[run]]`` tables of a sweep list."""
    runs = content.get("run", [])
    listed = isinstance(runs, list) and all(isinstance(run, dict) and isinstance(run.get(key), str) for run in runs)
    if not runs or not listed:
        raise FileError(
            _("the sweep lists no runs"), _('write [[run]] tables, each with {key} = "…"').format(key=key), file=file
        )
    return [one for run in runs for one in expand(registry[run[key]], {k: v for k, v in run.items() if k != key})]


# --- description -------------------------------------------------------------------------------------------


def describe(component: type[Component]) -> dict[str, Any]:
    """Return what a component is and takes, as plain data; ``schema`` is the JSON schema that forms are made from."""
    said: dict[str, Any] = {
        "name": component.name,
        "summary": _(component.summary),
        "source": component.source,
        "accepts": sorted(component.accepts),
        "roles": [str(role) for role in component.roles],
        "runtime": component.runtime.name.lower(),
        "schema": component.model_json_schema(),
    }
    if issubclass(component, Method):
        said |= {"promise": _(component.promises.promise), "strength": _strength(component)}
    if issubclass(component, Measure):
        said |= {
            "side": component.side,
            "goal": component.goal,
            "bounds": list(component.bounds),
            "unit": _(component.unit),
            "needs": sorted(component.needs),
        }
    return said


def _strength(method: type[Method]) -> dict[str, str] | None:
    told = method.strength
    return None if told is None else {"parameter": told.parameter, "safer": told.safer, "values": method.usual_values()}


def _method_facts(method: type[Method]) -> list[tuple[str, str]]:
    facts = [
        (_("Promise"), _(method.promises.promise)),
        (_("Good for"), _(method.good_for)),
        (_("The wrong tool when"), _(method.wrong_for)),
    ]
    if method.strength is not None:
        way = _("the higher, the safer") if method.strength.safer == "higher" else _("the lower, the safer")
        facts.append((_("Strength"), f"`{method.strength.parameter}`; {way}"))
    return [(name, fact) for name, fact in facts if fact]


def reference_facts(component: type[Component]) -> str:
    """Return what the code knows of a component as Markdown: summary, source, value, parameters."""
    facts = [(_("In one sentence"), _(component.summary))]
    if component.source:
        facts.append((_("Source"), component.source))
    facts.append((_("Works on"), ", ".join(sorted(component.accepts))))
    if component.roles:
        facts.append((_("Needs columns with the roles"), ", ".join(component.roles)))
    if issubclass(component, Method):
        facts += _method_facts(component)
    facts.append((_("Takes"), component.runtime.words))
    if issubclass(component, Measure):
        tells = {"safety": _("what leaks (safety)"), "utility": _("what stays useful (utility)")}
        facts.append((_("Tells"), tells[component.side]))
        low, high = component.bounds
        better = _("lower is better") if component.goal == "lower" else _("higher is better")
        span = f"[{low:g}, {'∞' if high is None else f'{high:g}'}]"
        facts.append((_("Value"), f"{_(component.unit)}; {span}; {better}"))
        facts.append((_("Looks at"), ", ".join(sorted(component.needs))))
    listed = flags(component)
    if not listed:
        facts.append((_("Parameters"), _("none")))
    lines = [f"- **{name}**: {fact}" for name, fact in facts]
    if not listed:
        return "\n".join([*lines, ""])
    headings = (_("flag"), _("type"), _("default"), _("meaning"))
    lines += ["", f"| {' | '.join(headings)} |", "|---|---|---|---|"]
    for f in listed:
        default = _("required") if f.required else f"`{f.default}`"
        kind = f.type.replace("|", "\\|")
        lines.append(f"| `{f.flag}` | {kind} | {default} | {f.help} |")
    return "\n".join([*lines, ""])
