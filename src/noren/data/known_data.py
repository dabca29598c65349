"""The public data sets themselves: their files, their size, their licence, their digests.

The catalog (:mod:`noren.data.catalog`) finds, fetches and reads them. A new data set is one more entry in
``known_data.toml``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from noren.data.schema import Kind
from noren.errors import UnknownNameError
from noren.i18n import _
from noren.naming import suggestion
from noren.tables import table_of

__all__ = ["KNOWN", "DataPart", "Dataset"]


@dataclass(frozen=True)
class DataPart:
    """One file of a data set.

    ``names`` are the names it may have, the usual one first. ``digest`` is the SHA-256 of its bytes or, ``by_rows``,
    of its rows, for a part that comes in several formats. ``follows_schema`` says whether its columns are those of
    the data set's schema.
    """

    role: str
    names: tuple[str, ...]
    rows: int | None
    what: str
    digest: str | None = None
    by_rows: bool = False
    follows_schema: bool = True


@dataclass(frozen=True)
class Dataset:
    """What is known of a data set before it is found. The first part is the one that stands for the whole.

    ``archive`` is its place under the official archive's address and ``members`` the files in it, for a data set that
    can be fetched.
    """

    name: str
    title: str
    schema: str
    kind: Kind
    parts: tuple[DataPart, ...]
    licence: str
    citation: str
    homepage: str
    archive: str | None = None
    members: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """Rows of the first part."""
        return self.parts[0].rows or 0

    def part(self, role: str) -> DataPart:
        """Return the part with ``role``.

        >>> KNOWN[1].part("test").names
        ('adult.test',)
        """
        for part in self.parts:
            if part.role == role:
                return part
        roles = [part.role for part in self.parts]
        raise UnknownNameError(
            _("{dataset} has no part {role!r}{hint}; its parts are {roles}").format(
                dataset=self.name, role=role, hint=suggestion(role, roles), roles=", ".join(roles)
            )
        )


def _dataset(said: Mapping[str, Any]) -> Dataset:
    parts = tuple(DataPart(**{"rows": None} | part | {"names": tuple(part["names"])}) for part in said["parts"])
    members = tuple(said.get("members", ()))
    return Dataset(**{**said, "kind": Kind(said["kind"]), "parts": parts, "members": members})


KNOWN = tuple(map(_dataset, table_of(__name__)["dataset"]))
