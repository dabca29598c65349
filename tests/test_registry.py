"""Names are found lazily, once, and mistakes are answered."""

import importlib.metadata
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import pytest
from pydantic import Field, field_validator

from noren.attacks import attacks
from noren.errors import DuplicateNameError, ParameterError, SchemaError, UnknownNameError
from noren.measures import measures
from noren.methods import methods
from noren.progress import silent
from noren.protocols import Component, Guess, Measure, Method, Score
from noren.registry import Registry, build, flags

HERE = __name__


class Twice(Method):
    """A method for these tests."""

    name = "twice"
    summary = "Does everything twice."
    times: int = Field(default=2, ge=1, le=9, description="How often.")
    mode: str = "fast"

    @field_validator("mode")
    @classmethod
    def _known(cls, mode: str) -> str:
        if mode == "never":
            raise ValueError("mode=never protects nobody; use fast")
        return mode

    def protect(self, original, *, seed, progress=silent):
        raise NotImplementedError


class Misnamed(Twice):
    """A method whose register and class disagree."""

    name = "another"


def registry(**places: str) -> Registry[Method]:
    return Registry(Method, "noren.test", {k.replace("_", "-"): v for k, v in places.items()})  # type: ignore[type-abstract]


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, HERE, sys.modules.get(HERE) or importlib.import_module(HERE))


def test_a_name_is_loaded_when_asked_for() -> None:
    found = registry(twice=f"{HERE}:Twice", broken="no_such_module:Thing")
    assert list(found) == ["broken", "twice"]
    assert len(found) == 2
    assert "twice" in found
    assert found["twice"] is Twice


def test_an_unknown_name_suggests() -> None:
    with pytest.raises(UnknownNameError, match=r"no 'twise' in noren\.test \(did you mean twice\?\); there are twice"):
        _ = registry(twice=f"{HERE}:Twice")["twise"]


def test_a_duplicate_name_raises() -> None:
    found = registry(twice=f"{HERE}:Twice")
    with pytest.raises(DuplicateNameError, match="twice is already taken"):
        found.register("twice", "elsewhere:Thing")
    found.register("thrice", f"{HERE}:Twice")
    assert "thrice" in found


def test_an_entry_point_of_a_taken_name_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("twice", "their_package:Theirs", "noren.test")
    monkeypatch.setattr("noren.registry.entry_points", lambda group: [point] if group == "noren.test" else [])
    with pytest.raises(DuplicateNameError, match=r"twice \(their_package:Theirs\) is already taken in noren.test; use"):
        list(registry(twice=f"{HERE}:Twice"))


def test_an_entry_point_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noren.registry.entry_points", lambda group: [EntryPoint("twice", f"{HERE}:Twice", group)])
    assert registry()["twice"] is Twice


def test_a_class_of_another_kind_or_name_is_refused() -> None:
    with pytest.raises(SchemaError, match="is not a Method"):
        _ = registry(path="pathlib:Path")["path"]
    with pytest.raises(DuplicateNameError, match="but the name of its class is another"):
        _ = registry(twice=f"{HERE}:Misnamed")["twice"]


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"times": 0}, r"times = 0 is not valid for twice: .*greater than or equal to 1; How often\."),
        ({"tmes": 3}, r"twice has no parameter tmes \(did you mean times\?\); its parameters are times, mode"),
        ({"mode": "never"}, r"mode=never protects nobody; use fast"),
        ({"times": float("nan")}, "times = nan"),
    ],
)
def test_wrong_parameters_are_named(parameters: dict[str, object], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        build(Twice, parameters)


def test_a_missing_parameter_names_its_flag() -> None:
    class Needy(Twice):
        """A method with a required parameter."""

        min_size: int

    with pytest.raises(ParameterError, match="twice needs the parameter min_size; add --min-size"):
        build(Needy, {})


@pytest.mark.parametrize("room", [methods, attacks, measures], ids=lambda r: r.group)
class TestEveryComponent:
    """What holds of each component, ours and those of installed packages."""

    def test_says_what_it_is(self, room: Registry[Component]) -> None:
        assert len(room) >= 1
        for name in room:
            component = room[name]
            assert component.summary.endswith(".")
            assert "\n" not in component.summary
            assert component.__doc__
            assert component.accepts

    def test_every_parameter_is_described(self, room: Registry[Component]) -> None:
        for name in room:
            for flag in flags(room[name]):
                assert flag.help, f"{name}.{flag.field}"

    def test_parameters_survive_as_plain_data(self, room: Registry[Component]) -> None:
        for name in room:
            # k, too, where something else may be given in its place
            needed = {f: about for f, about in room[name].model_fields.items() if about.is_required() or f == "k"}
            component = room.create(name, **{f: (about.examples or [3])[0] for f, about in needed.items()})
            assert build(room[name], component.parameters()) == component


def test_every_measure_declares_itself() -> None:
    for name in measures:
        measure = measures[name]
        assert issubclass(measure, Measure)
        assert measure.goal in ("lower", "higher")
        assert measure.needs <= {"original", "public", "secret", "guess", "exact"}
        low, high = measure.bounds
        assert high is None or low < high
        assert isinstance(measure.unit, str)


def test_score_as_plain_data() -> None:
    assert Score(0.5, {"date": 0.25}).as_dict() == {"value": 0.5, "parts": {"date": 0.25}}
    assert Score(0.5, notes={"n": 3}).as_dict() == {"value": 0.5, "parts": {}, "notes": {"n": 3}}


def test_guess_counts_its_pairs() -> None:
    import polars as pl

    assert len(Guess("s1", pl.DataFrame({"pseudonym": ["1", "2"], "customer": ["a", "b"]}))) == 2


# --- packages that cannot be imported ---------------------------------------------------------------------------------


def _theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, name: str = "theirs") -> EntryPoint:
    """Return the entry point of a module with this text, as an installed package has one."""
    (tmp_path / f"{name}_module.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    point = EntryPoint(name, f"{name}_module:Theirs", "noren.methods")
    return point._for(SimpleNamespace(name="their-package"))  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import no_such_library", "ModuleNotFoundError: No module named 'no_such_library'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("x = 1", "AttributeError: module 'theirs_module' has no attribute 'Theirs'"),
        ("class Theirs: pass", "theirs in noren.methods is not a Method"),
    ],
)
def test_a_package_that_is_broken_takes_nothing_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, noren, text: str, reason: str
) -> None:
    usual = [about["name"] for about in noren("methods", "--json").json["methods"]]
    monkeypatch.delitem(sys.modules, "theirs_module", raising=False)
    monkeypatch.setitem(methods._entries, "theirs", _theirs(tmp_path, monkeypatch, text))
    monkeypatch.setattr(methods, "_import_errors", {})
    assert list(methods) == usual
    assert "theirs" not in methods
    assert list(methods.broken()) == ["theirs"]
    listed = noren("methods", "--json")
    assert (listed.code, [about["name"] for about in listed.json["methods"]]) == (0, usual)
    assert reason in listed.json["broken"]["theirs"]
    assert reason in listed.err
    assert len(listed.err.strip().splitlines()) == 1
    assert noren("methods").code == 0
    named = noren("methods", "theirs")
    assert (named.code, named.out) == (2, "")
    assert reason in named.err
    if "Error" in reason or "Exit" in reason:
        assert "theirs of the package their-package cannot be used" in named.err


def test_a_package_that_works_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"from {HERE} import Twice\nclass Theirs(Twice):\n    name = 'fine'\n"
    monkeypatch.setitem(methods._entries, "fine", _theirs(tmp_path, monkeypatch, text, "fine"))
    assert "fine" in list(methods)
    assert methods.broken() == {}
    monkeypatch.undo()
    methods._import_errors.clear()
