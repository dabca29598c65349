"""What each column of a table is for must be said by somebody: nothing is "other" by default."""

from __future__ import annotations

from noren.data.schema import Kind, Schema
from noren.errors import SchemaError
from noren.i18n import _
from noren.naming import listing

__all__ = ["stop_at_unclassified"]


def stop_at_unclassified(schema: Schema) -> None:
    """Stop with a question where a column of a table has no role.

    A column that nobody thought about may be the one that gives people away, so it does not pass as ``other``.

    >>> stop_at_unclassified(Schema.preset("adult"))
    """
    if schema.kind != Kind.TABLE:
        return
    open_ = [column.name for column in schema.columns if "role" not in column.model_fields_set]
    if open_:
        raise SchemaError(
            _("nobody said what {columns} is for: identifier, quasi, sensitive or other?").format(
                columns=listing(open_)
            ),
            _('answer in the schema, such as {example} = {{ role = "quasi" }}').format(example=open_[0]),
            column=open_[0],
        )
