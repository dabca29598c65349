"""What people do in a studio, each declared once with its role and its parameters (:mod:`noren.web.actions`).

Every function takes the studio. The REST interface follows from the signatures, and the forms of pages call the same
functions.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from noren.tables import table_of
from noren.web.actions import ActionParameter


def parameter(*, model: Any = None, **rules: Any) -> ActionParameter:
    """Return the rules of a parameter that a user fills in (:class:`~noren.web.actions.ActionParameter`)."""
    return ActionParameter(rules=rules, model=model)


def body(name: str) -> dict[str, Any]:
    """Return the name and the description of an action's request body (``actions.toml``)."""
    return {"body": name, "body_text": table_of(__name__)[name]}


IDENT: Final = {"pattern": r"^[a-z0-9]{12}$", "description": "an identifier of a project or a run"}
Ident = Annotated[str, parameter(**IDENT)]


class StrictInput(BaseModel):
    """What a request brings: nothing but what is named here."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class MethodStep(StrictInput):
    """A method and its parameters."""

    method: str = Field(max_length=60, examples=["generalize-by-count"])
    parameters: dict[str, Any] = Field(default_factory=dict, examples=[{"k": 3}])
