"""Forms out of parameter models: promises to choose from, controls, errors next to their fields."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from pydantic import Field

from noren.data.schema import Schema
from noren.methods import methods as every_method
from noren.methods.generalize import Generalize
from noren.methods.retention import Retention
from noren.methods.thin import Thin
from noren.protocols import Method
from noren.studio.folders import path_fields
from noren.studio.forms.parameter_forms import FormColumn, check, columns_of, controls, fresh, typed_of, understood
from noren.studio.forms.run_form import early_problem
from noren.studio.pages.protect import by_promise

COLUMNS = [
    FormColumn("name", "identifier", 100),
    FormColumn("age", "quasi", 40, begins=True),
    FormColumn("sex", "quasi", 2, begins=True),
    FormColumn("region", "quasi", 12),
    FormColumn("illness", "sensitive", 6),
]


# --- promises -------------------------------------------------------------------------------------------------


def test_every_method_stands_under_one_promise_and_says_when_it_is_wrong() -> None:
    found = by_promise([every_method[name] for name in every_method])
    assert {group.key: [method.name for method in some] for group, some in found} == {
        "alike": ["generalize", "generalize-by-count", "mondrian", "hierarchy", "microaggregate"],
        "chance": ["retention"],
        "harder": ["perturb", "swap", "thin", "pseudo-records"],
        "months": ["monthly-pseudonyms"],
        "names": ["pseudonymize"],
    }
    for _group, some in found:
        for method in some:
            assert method.good_for.endswith(".")
            assert method.wrong_for.endswith(".")


def test_a_method_nobody_told_about_stands_last() -> None:
    class Strange(Method):
        """Somebody else's."""

        name = "strange"
        summary = "Does something."

        def protect(self, original: Any, *, seed: int, progress: Any = None) -> Any:
            """Do nothing."""

    found = by_promise([Strange, Thin])
    assert [(group.key, [m.name for m in some]) for group, some in found] == [
        ("harder", ["thin"]),
        ("other", ["strange"]),
    ]


# --- forms ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in every_method if name != "chain"])
def test_every_parameter_has_one_control_and_no_file_has_any(name: str) -> None:
    method = every_method[name]
    made = controls(method, fresh(method, COLUMNS), COLUMNS)
    assert {c.field for c in made} == set(method.model_fields) - set(path_fields(method))
    assert all(c.label for c in made)
    assert not any("--" in c.help for c in made)


@pytest.mark.parametrize("name", [name for name in every_method if name not in ("chain", "hierarchy")])
def test_a_fresh_form_is_right_and_says_nothing_needless(name: str) -> None:
    method = every_method[name]
    made, errors = check(method, fresh(method, COLUMNS), COLUMNS)
    assert errors == {}
    assert made is not None
    typed = typed_of(method, made.parameters(), COLUMNS)
    assert check(method, typed, COLUMNS) == (made, {})  # what was ordered can be typed again


@pytest.mark.parametrize(
    ("method", "typed", "errors"),
    [
        (Thin, {"share": ["2"]}, {"share": "use 1 or less"}),
        (Thin, {"share": ["-0.1"]}, {"share": "use 0 or more"}),
        (Thin, {"share": ["many"]}, {"share": "write a number"}),
        (Thin, {"share": ["nan"]}, {"share": "write a number"}),
        (Generalize, {"k": ["1"]}, {"k": "k = 1 is out of range; use k >= 2"}),
        (Generalize, {"k": ["2.5"]}, {"k": "write a whole number"}),
        (Generalize, {"k": []}, {"k": "give either k or survival"}),
        (Generalize, {"k": ["3"], "survival": ["0.9"]}, {"k": "give either k or survival"}),
        (Generalize, {"k": ["3"], "effort": ["other"], "effort.other": [""]}, {"effort": "write a number"}),
        (Generalize, {"k": ["3"], "effort": ["slow"]}, {"effort": "choose one of these"}),
        (Generalize, {"k": ["x"], "attackers": ["0"]}, {"k": "write a whole number", "attackers": "use 1 or more"}),
        (Retention, {"k": ["2"], "attributes": []}, {"attributes": "choose at least one column"}),
        (
            Retention,
            {"k": ["2"], "attributes": ["age"], "classes": ["age=a..b"]},
            {
                "classes": "classes 'age=a..b' are not understood; write age=20..90:5 for classes up to 20, 25, … 90, "
                "where steps from the first end reach the last"
            },
        ),
    ],
)
def test_what_is_wrong_stands_at_its_field(
    method: type[Method], typed: dict[str, list[str]], errors: dict[str, str]
) -> None:
    assert check(method, typed, COLUMNS) == (None, errors)


def test_full_width_digits_are_digits() -> None:
    assert check(Generalize, {"k": ["３"]}, COLUMNS)[0] == Generalize(k=3, suppress_cells=False)


def test_what_is_typed_becomes_parameters() -> None:
    typed = {
        "attributes": ["age", "region"],
        "k": [" 4 "],
        "weights": ["1, 2"],
        "classes": ["age=20..40:5\nincome=1..3:1"],
        "missing": ["category"],
    }
    assert understood(Retention, typed, COLUMNS) == {
        "attributes": ["age", "region"],
        "k": "4",
        "weights": ["1", "2"],
        "classes": ["age=20..40:5", "income=1..3:1"],
        "missing": "category",
    }
    made, _errors = check(Retention, typed | {"classes": []}, COLUMNS)
    assert made == Retention(attributes=("age", "region"), k=4, weights=(1.0, 2.0), missing="category")


def test_all_quasi_columns_are_the_default_and_left_out() -> None:
    method = every_method["mondrian"]
    assert fresh(method, COLUMNS)["quasi"] == ["age", "sex", "region"]
    assert "quasi" not in understood(method, fresh(method, COLUMNS), COLUMNS)
    assert understood(method, {"quasi": ["age"]}, COLUMNS)["quasi"] == ["age"]
    offered = next(c for c in controls(method, {}, COLUMNS) if c.field == "quasi")
    assert [c.name for c in offered.columns] == ["age", "sex", "region", "illness"]  # never what identifies
    assert next(c for c in controls(method, {}, COLUMNS) if c.field == "sensitive").choices == (
        ("", "the only one"),
        ("illness", "illness"),
    )


def test_a_cross_tabulation_begins_with_columns_that_rows_can_fill() -> None:
    schema = Schema.of({"kind": "table", "columns": {c.name: {"role": c.role} for c in COLUMNS}})
    profile = {"rows": 100, "columns": [{"name": c.name, "domain": None, "distinct": c.values} for c in COLUMNS]}
    assert [c.name for c in columns_of(schema, profile) if c.begins] == ["age", "sex"]  # 80 combinations, not 960


def test_a_strange_component_gets_a_form_too() -> None:
    class Strange(Method):
        """Somebody else's, with every kind of parameter."""

        name = "strange-form"
        summary = "Does something."
        colour: Literal["red", "blue"] = "red"
        noise_level: float = Field(default=0.5, gt=0, description="how loud")
        words: tuple[str, ...] = ()
        title: str = ""
        turned: bool = True

        def protect(self, original: Any, *, seed: int, progress: Any = None) -> Any:
            """Do nothing."""

    made = {c.field: c for c in controls(Strange, fresh(Strange, []), [])}
    assert {name: c.kind for name, c in made.items()} == {
        "colour": "choice",
        "noise_level": "number",
        "words": "lines",
        "title": "text",
        "turned": "switch",
    }
    assert made["noise_level"].label == "Noise level"
    assert check(Strange, {"noise_level": ["0"]}, [])[1] == {"noise_level": "use more than 0"}


@pytest.mark.parametrize(
    ("column", "parameters", "errors"),
    [
        ({"domain": ["f", "m"]}, {}, {}),
        ({}, {}, {"domains": "x has no list of values; declare one on the page Data, or use the values of the data"}),
        ({}, {"domains": "data"}, {}),
        (
            {"type": "integer"},
            {},
            {"classes": "x has no minimum and maximum; declare them on the page Data, or use classes"},
        ),
        ({"type": "integer"}, {"classes": ["x=1..3:1"]}, {}),
        ({"domain": ["f", "m"]}, {"k": 11}, {"k": "k = 11 is out of range; use 1 <= k <= 10"}),
    ],
)
def test_what_retention_needs_is_said_where_it_can_be_cured(
    column: dict[str, Any], parameters: dict[str, Any], errors: dict[str, str]
) -> None:
    schema = Schema.of({"kind": "table", "columns": {"x": {"role": "quasi"} | column}})
    profile = {"rows": 10, "columns": [{"name": "x", "domain": None, "distinct": 3}]}
    method = Retention(**{"k": 2} | parameters)
    assert early_problem(method, schema, profile, 10) == errors
