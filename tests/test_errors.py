"""An error is one printable line with place, rule and cure."""

import pytest

from noren.errors import CheckFailedError, FileError, InputError, NorenError, Problem, quoted


def test_a_problem_is_one_sentence() -> None:
    problem = Problem(3, "price", "-1", "the value must be at least 0.01", "mend or drop the row")
    assert problem.sentence("T.csv") == (
        "T.csv, row 3, column price, '-1': the value must be at least 0.01; mend or drop the row"
    )
    assert Problem(None, None, None, "rule", "").sentence() == "rule"
    assert problem.as_dict() == {
        "row": 3, "column": "price", "value": "-1",
        "rule": "the value must be at least 0.01", "cure": "mend or drop the row",
    }  # fmt: skip


def test_a_message_is_split_into_rule_and_cure() -> None:
    for message, *halves in [("too small; mend it", "too small", "mend it"), ("a; b; c", "a; b", "c")]:
        problem = InputError(message, row=3).problem
        assert [problem.rule, problem.cure] == halves
        assert problem.sentence("T.csv") == f"T.csv, row 3: {message}"
    assert [Problem(None, None, None, "a;b").cure, Problem(None, None, None, "a; b", "c").rule] == ["", "a; b"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", "'a'"),
        ("a\nb", r"'a\nb'"),
        ("\x1b[31mred", r"'\x1b[31mred'"),
        ("日本", "'日本'"),
        ("x" * 1_000_000, "'" + "x" * 80 + "'… (1,000,000 characters)"),
    ],
)
def test_values_cannot_write_to_the_terminal(value: str, text: str) -> None:
    assert quoted(value) == text


def test_the_tree() -> None:
    error = FileError("the file is empty", "give another", file="a.csv")
    assert isinstance(error, InputError)
    assert isinstance(error, NorenError)
    assert str(error) == "a.csv: the file is empty; give another"
    assert (error.exit_code, CheckFailedError("no").exit_code) == (2, 1)
