"""Table methods as scikit-learn transformers.

Classes of k people are formed of the rows that are protected together. So :meth:`Protector.fit` learns what the columns
are, and :meth:`Protector.transform` protects the rows that it gets as one table: the same row may come out otherwise in
another batch, and fewer than k rows are refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from noren import api
from noren.data.cells import is_interval
from noren.data.frames import frame_of, pandas_frame
from noren.data.guessing.schema_guess import Widening
from noren.data.reading import SchemaLike, as_records, roles_by_column
from noren.data.schema import Kind, Role
from noren.methods import methods

if TYPE_CHECKING:
    from typing import Self


class Protector(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Protects a table of people by any method for tables; rows stay in their order, identifying columns are dropped.

    Numbers and dates come out as the middle of their range, a set of texts as ``{a;b}``, what is suppressed as missing.
    A pandas or Polars frame gives one of the same make; an array of quasi-identifiers gives an array. To publish rows,
    use :func:`noren.protect`: its release is judged and documented.

    Parameters
    ----------
    method, k, parameters
        The name of the method, the size of its classes, and its other parameters.
    roles
        The columns of each role, where the guess needs help: ``{"sensitive": "salary"}``.
    schema
        A schema in place of the guess; see :func:`noren.read`.
    random_state
        A seed to repeat a run; by default one is drawn that nobody can guess.

    Examples
    --------
    >>> ages = np.array([[20.0], [27.0], [61.0], [68.0]])
    >>> Protector(k=2).fit_transform(ages).ravel().tolist()
    [23.5, 23.5, 64.5, 64.5]
    """

    def __init__(
        self,
        method: str = "mondrian",
        *,
        k: int = 5,
        parameters: Mapping[str, Any] | None = None,
        roles: Mapping[str, str | Sequence[str]] | None = None,
        schema: SchemaLike | None = None,
        random_state: int | None = None,
    ) -> None:
        self.method = method
        self.k = k
        self.parameters = parameters
        self.roles = roles
        self.schema = schema
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803 - scikit-learn's name
        """Learn the names, roles and types of the columns."""
        frame = self._frame(X, reset=True)
        quasi = self.schema is None and self.roles is None and isinstance(X, Sequence | np.ndarray)
        schema = dict.fromkeys(frame.columns, "quasi") if quasi else self.schema
        roles = {} if schema is not None else {"kind": Kind.TABLE, "roles": roles_by_column(self.roles or {})}
        self.schema_ = as_records(frame, schema, **roles).schema
        return self

    def transform(self, X: Any) -> Any:  # noqa: N803
        """Protect rows as one table, and return them in their order."""
        check_is_fitted(self)
        frame, widening = self._frame(X, reset=False), Widening(self.schema_)
        widening.look_at(frame.select(self.schema_.names), 1)  # a guess holds for other rows, too
        schema = widening.schema() if self.schema_.guessed else self.schema_
        release = api.protect(
            as_records(frame, schema), self.method, k=self.k, seed=self.random_state, **(self.parameters or {})
        )
        aligned = release.aligned()
        protected, typed = aligned.to_polars(), aligned.to_polars(cells="typed")
        for name, dtype in typed.schema.items():
            if is_interval(dtype):
                low, high = (typed[name].struct.field(end) for end in ("lo", "hi"))
                protected = protected.with_columns((low + (high - low) / 2).alias(name))
        if isinstance(X, pl.DataFrame):
            return protected
        if hasattr(X, "iloc"):
            return pandas_frame(protected).set_index(X.index)
        return protected.to_numpy()

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns that are released."""
        check_is_fitted(self)
        released = [c.name for c in self.schema_.columns if c.role != Role.IDENTIFIER]
        if methods[self.method].perturbs:  # what is not redrawn is not released
            released = (self.parameters or {}).get("attributes") or [c.name for c in self.schema_.with_role(Role.QUASI)]
        return np.array(released, dtype=object)

    def _frame(self, data: Any, *, reset: bool) -> pl.DataFrame:
        if isinstance(data, pl.DataFrame) or hasattr(data, "iloc"):
            validate_data(self, data, reset=reset, skip_check_array=True)
            return frame_of(data)
        least = self.k if reset else 1
        array = validate_data(self, data, reset=reset, ensure_all_finite="allow-nan", ensure_min_samples=least)
        return pl.DataFrame(array, schema=[f"x{i}" for i in range(array.shape[1])], nan_to_null=True)
