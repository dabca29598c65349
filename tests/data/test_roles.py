"""A column nobody classified stops the run with a question."""

import pytest

from noren.data.schema import Schema, reject_unclassified
from noren.errors import SchemaError

TOML = 'kind = "table"\n[columns]\nage = { role = "quasi" }\nnote = { type = "text" }\n'


def test_a_column_without_a_role_is_asked_about() -> None:
    with pytest.raises(SchemaError, match=r"the role of note is not set: identifier, quasi, sensitive or other\?"):
        reject_unclassified(Schema.from_toml(TOML))


def test_other_is_an_answer() -> None:
    reject_unclassified(Schema.from_toml(TOML.replace('type = "text"', 'role = "other"')))


def test_histories_have_other_columns() -> None:
    reject_unclassified(Schema.preset("online-retail"))
