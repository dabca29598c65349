"""What a person may do, declared once: a typed function, from whose signature all its doors are made.

An action is a function with a role, a route and words. Those of its parameters whose annotation holds an
:class:`ActionParameter` are what a person enters; the service knows the others (who asks, the time, new codes).
From what is asked follow the REST route (:func:`add_route`), the request of a client (:meth:`Action.request`), the
command (:func:`command`) and the fields of a form (:meth:`Action.of_form`), so that a further action costs its function
alone. Neither pydantic nor FastAPI is loaded before a route is made: commands start without them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, Generic, ParamSpec, TypeVar, get_origin, get_type_hints

from noren.i18n import _

if TYPE_CHECKING:
    from fastapi import APIRouter

_Parameters = ParamSpec("_Parameters")
_Made = TypeVar("_Made")
_models: dict[tuple[str, str], Any] = {}
"""The bodies of actions, by module and name: several actions may have the same one."""


@dataclass(frozen=True)
class ActionParameter:
    """The rules of a parameter that a user fills in: ``Annotated[str, ActionParameter(…)]``.

    Parameters
    ----------
    help
        What the command's page says of it.
    metavar
        Its name on the command line, where it is an argument; without one it is an option.
    rules
        What pydantic checks and the API's schema says: ``max_length``, ``pattern``, ``description``.
    model
        What the API takes and checks, where the function takes that as plain data.
    """

    help: str = ""
    metavar: str = ""
    rules: Mapping[str, Any] = field(default_factory=dict)
    model: Any = None


@dataclass(frozen=True)
class Action(Generic[_Parameters, _Made]):
    """A function that a person may ask for; called, it is the function itself.

    Parameters
    ----------
    role
        Who may do it; the service knows what that takes.
    route
        Method and address: ``POST /contests/{contest}/teams/{team}/disqualify``. What the address does not name is in
        the body.
    body, body_text
        What the API's schema calls the body, and says of it.
    status
        The status of the answer.
    again
        Whether a client may send it again when the connection broke: done twice it counts once.
    help, example, done
        For the command: what its page says, an example, and the sentence when it is done.
    names
        What annotations name that is imported only when a route is made.
    """

    function: Callable[_Parameters, _Made]
    role: str
    route: str
    body: str = ""
    body_text: str = ""
    status: int = 200
    again: bool = False
    help: str = ""
    example: str = ""
    done: str = ""
    names: Callable[[], dict[str, Any]] = dict

    def __call__(self, *arguments: _Parameters.args, **named: _Parameters.kwargs) -> _Made:
        """Call the function."""
        return self.function(*arguments, **named)

    @property
    def name(self) -> str:
        """What it is called, as a function, an operation of the API and a command."""
        return self.function.__name__

    @property
    def text(self) -> str:
        """What it does: the first sentence of its docstring."""
        return (inspect.getdoc(self.function) or "").partition("\n\n")[0]

    @cached_property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """The keyword parameters of the function; their annotations are texts."""
        every = inspect.signature(self.function).parameters.values()
        return {parameter.name: parameter for parameter in every if parameter.kind is parameter.KEYWORD_ONLY}

    @cached_property
    def inputs(self) -> Mapping[str, tuple[Any, ActionParameter, Any]]:
        """The parameters that a user fills in: type, rules and default (``...`` if required)."""
        # of keyword parameters alone: what the others are annotated with may be imported for type checkers only
        texts = SimpleNamespace(__annotations__={name: item.annotation for name, item in self.parameters.items()})
        kinds = get_type_hints(texts, self.function.__globals__, self.names(), include_extras=True)
        made = {}
        for name, item in self.parameters.items():
            if get_origin(kind := kinds[name]) is Annotated:
                known = next(other for other in kind.__metadata__ if isinstance(other, ActionParameter))
                made[name] = (kind.__origin__, known, ... if item.default is item.empty else item.default)
        return made

    def in_body(self) -> list[str]:
        """Return what of it is in the body of a request."""
        return [name for name in self.inputs if f"{{{name}}}" not in self.route]

    def request(self, **values: Any) -> tuple[str, list[str], dict[str, Any]]:
        """Return method, parts of the address, and body of the request for it."""
        method, _space, path = self.route.partition(" ")
        parts = [str(values[part[1:-1]]) if part.startswith("{") else part for part in path.strip("/").split("/")]
        return method, parts, {name: values[name] for name in self.in_body() if name in values}

    def of_form(self, form: Mapping[str, str]) -> dict[str, str]:
        """Return what a form says for it; what the form leaves out is empty."""
        return {name: form.get(name, "") for name in self.inputs}


def action(role: str, route: str, **about: Any) -> Callable[[Callable[_Parameters, _Made]], Action[_Parameters, _Made]]:
    """Declare a function as an action (:class:`Action`)."""
    return lambda function: Action(function, role, route, **about)


def add_route(
    router: APIRouter,
    act: Action[..., Any],
    run: Callable[..., Any],
    around: Mapping[str, Any],
    answer: Any,
    **about: Any,
) -> None:
    """Add the REST route of an action.

    Parameters
    ----------
    run
        Called with what is ``around`` and all that is asked, by name; returns the answer.
    around
        What the route takes besides: its types by name, as FastAPI knows them.
    answer
        The model of the answer; None where it has no body, or is a response already.
    about
        What else FastAPI is told of the route.
    """
    from fastapi import Path, Response
    from pydantic import ConfigDict, Field, create_model

    method, _space, path = act.route.partition(" ")
    in_body = act.in_body()
    taken = {
        name: Annotated[kind, Path(**known.rules)]
        for name, (kind, known, _default) in act.inputs.items()
        if name not in in_body
    }
    types = dict(around) | taken
    if in_body:
        key = (act.function.__module__, act.body)
        if key not in _models:
            fields: dict[str, Any] = {}
            for name in in_body:
                kind, known, default = act.inputs[name]
                in_rules = {"default", "default_factory"} & set(known.rules)
                default_rule = {} if default is ... or in_rules else {"default": default}
                fields[name] = (known.model or kind, Field(**default_rule, **known.rules))
            config = ConfigDict(extra="forbid")
            _models[key] = create_model(act.body, __config__=config, __doc__=act.body_text, **fields)
        types["payload"] = _models[key]

    def handle(**arguments: Any) -> Any:
        body = arguments.pop("payload", None)
        plain = {} if body is None else body.model_dump(include={n for n in in_body if act.inputs[n][1].model})
        made = run(**arguments, **{name: plain.get(name, getattr(body, name)) for name in in_body})
        return Response(status_code=act.status) if made is None and answer is None else made

    handle.__name__, handle.__doc__ = act.name, act.text
    handle.role = act.role  # type: ignore[attr-defined]
    _take(handle, [_parameter(name, kind) for name, kind in types.items()])
    router.add_api_route(path, handle, methods=[method], status_code=act.status, response_model=answer, **about)


def command(act: Action[..., Any], run: Callable[..., None], **around: Any) -> Callable[..., None]:
    """Return an action as a function for typer: what is asked as arguments and options, then what is ``around``.

    ``around`` are types with defaults, as typer knows them; the address of what the action is about comes first.
    """
    import typer

    (place, kind), *more = around.items()
    parameters = [_parameter(place, kind)]
    for name, (of, known, default) in act.inputs.items():
        if known.metavar:
            info: Any = typer.Argument(metavar=known.metavar, help=_(known.help))
        else:
            info = typer.Option(f"--{name}", help=_(known.help))
        parameters.append(_parameter(name, Annotated[of, info], default))
    parameters += [_parameter(name, of, default) for name, (of, default) in more]

    def handle(**arguments: Any) -> None:
        run(act, **arguments)

    handle.__name__, handle.__doc__ = act.name, act.text
    _take(handle, parameters)
    return handle


def _parameter(name: str, kind: Any, default: Any = ...) -> inspect.Parameter:
    empty = inspect.Parameter.empty
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=empty if default is ... else default
    )


def _take(function: Any, parameters: Sequence[inspect.Parameter]) -> None:
    """Let a function say that it takes these parameters."""
    function.__signature__ = inspect.Signature(parameters)
    function.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
