"""A column nobody classified stops the run with a question."""

import pytest

from noren.data.schema import Schema, stop_at_unclassified
from noren.errors import SchemaError

TOML = 'kind = "table"\n[columns]\nage = { role = "quasi" }\nnote = { type = "text" }\n'


def test_a_column_without_a_role_is_asked_about() -> None:
    with pytest.raises(SchemaError, match=r"nobody said what note is for: identifier, quasi, sensitive or other\?"):
        stop_at_unclassified(Schema.from_toml(TOML))


def test_other_is_an_answer() -> None:
    stop_at_unclassified(Schema.from_toml(TOML.replace('type = "text"', 'role = "other"')))


def test_histories_have_other_columns() -> None:
    stop_at_unclassified(Schema.preset("online-retail"))
