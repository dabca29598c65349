"""What a result is kept under, and what is done with a damaged file."""

from pathlib import Path

import pytest
from tests.reproduce import toy

from noren.errors import FileError
from noren.work.store import (
    PieceStore,
    WorkUnit,
    _imported,
    _text,
    address,
    cached_folder,
    code_digest,
    data_digest,
    default_folder,
    modules_used,
    save,
    use,
)


def test_an_address_tells_work_arguments_and_needs_apart(tmp_path: Path) -> None:
    one, two = toy.squares(tmp_path, 2)
    units = [
        one,
        two,
        WorkUnit(toy.total, one.arguments),
        WorkUnit(toy.total, ("a",)),
        WorkUnit(toy.total, ("a",), needs=(one,)),
    ]
    units += [WorkUnit(toy.total, ("a",), needs=(two,)), WorkUnit(toy.total, ("1",)), WorkUnit(toy.total, (1,))]
    assert len({address(unit) for unit in units}) == len(units)
    assert address(one) == address(WorkUnit(toy.square, (str(tmp_path), 0)))


def test_a_result_comes_back_and_a_damaged_file_does_not(tmp_path: Path) -> None:
    store, unit = PieceStore(tmp_path / "cached_folder"), WorkUnit(toy.total, ("a",))
    with pytest.raises(KeyError):
        store.load(unit)
    assert save(store.path(unit), unit, {"x": (1, 2.5)}) == {"x": [1, 2.5]}
    assert store.load(unit) == {"x": [1, 2.5]}
    assert store.path(unit).name == address(unit) + ".json"
    for damage in ('{"result": [1', "[]", '{"unit": ""}', ""):
        store.path(unit).write_text(damage)
        with pytest.raises(KeyError):
            store.load(unit)


def test_no_number_is_kept_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        save(tmp_path / "x.json", WorkUnit(toy.total, ("a",)), float("nan"))
    assert list(tmp_path.iterdir()) == []


def test_code_is_followed_through_imports_and_registers() -> None:
    used = modules_used("noren.reproduce.s4_work")
    assert {
        "noren.kernels.reconstruction.held_out",
        "noren.methods.retention",
        "noren.retention.reconstruction",
    } <= used
    assert not used & {"noren.reproduce.s4", "noren.reproduce.frame", "noren.i18n", "noren.drawing.base"}
    assert "noren.methods.generalize" in modules_used("noren.methods")


def test_code_that_changed_has_another_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    digests = []
    for text in ("x = 1", "x = 2", "x = 1"):
        (tmp_path / "toy_module.py").write_text(text)
        code_digest.cache_clear()
        _imported.cache_clear()
        _text.cache_clear()
        digests.append(code_digest("toy_module"))
    assert digests[0] == digests[2] != digests[1]
    (tmp_path / "toy_module.toml").write_text("y = 1")
    code_digest.cache_clear()
    assert code_digest("toy_module") != digests[2]


def test_data_must_be_what_the_catalog_knows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noren.data.catalog.search_folders", lambda: (tmp_path,))
    with pytest.raises(FileError, match="the data set adult is not in"):
        data_digest("adult")
    (tmp_path / "adult.data").write_text("39, State-gov\n")
    with pytest.raises(FileError, match="is not the file of the data set adult"):
        data_digest("adult")


def test_data_have_a_digest(shared: Path) -> None:
    assert data_digest("adult") == data_digest("adult") != data_digest("pwscup2016")


def test_a_folder_is_filled_once(tmp_path: Path) -> None:
    use(tmp_path / "cached_folder")
    assert [toy.look(str(tmp_path), size) for size in (3, 3, 4)] == [3, 3, 4]
    assert toy.runs(tmp_path) == ["fill 3", "fill 4"]
    assert cached_folder(toy.fill, str(tmp_path), 3).is_relative_to(tmp_path / "cached_folder" / "folders")


def test_results_are_kept_in_the_users_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "noren" / "reproduce"
