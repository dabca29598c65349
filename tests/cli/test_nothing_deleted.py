"""Nothing of the user's is deleted: every command that writes, with its input, a link or a file of yours in the way."""

from __future__ import annotations

import shutil
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import noren as package
from noren.cli.app import app
from noren.cli.parts.commands import READ, WORKED_IN, is_written
from noren.data.contest_files import write_rows
from noren.data.frames import History
from noren.data.reading import write
from noren.data.samples.people import sample_people
from noren.ledger import Ledger

HISTORY = ("--schema", "pwscup2018")
NO_SERVER = ("--server", "none://")


def commands(table: Any = app, words: tuple[str, ...] = ()) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield every command by its words."""
    for command in table.registered_commands:
        yield " ".join((*words, command.name)), command.callback
    for group in table.registered_groups:
        yield from commands(group.typer_instance, (*words, group.name))
    if words and table.registered_callback is not None:
        yield " ".join(words), table.registered_callback.callback


def path_parameters() -> list[tuple[str, str]]:
    """Return the command and the name of every parameter that is a path."""
    return [
        (command, name)
        for command, work in commands()
        for name, kind in typing.get_type_hints(work).items()
        if "Path" in str(kind) and name != "return"
    ]


WRITES = sorted({(command, name) for command, name in path_parameters() if is_written(command, name)})


def test_every_path_is_known_as_read_or_written() -> None:
    """A new option must be named in one list: what is in none is kept, but nobody has thought about it."""
    unknown = [
        (command, name)
        for command, name in path_parameters()
        if not is_written(command, name) and name not in READ | WORKED_IN
    ]
    assert unknown == []
    assert len(WRITES) >= 19


@pytest.fixture(scope="module")
def made(small: History, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an original, releases of a history and of a table, and a ledger."""
    folder = tmp_path_factory.mktemp("made")
    write_rows(small, folder / "T.csv")
    package.protect(small, "pseudonymize", seed=1).save(folder / "release")
    people = sample_people(200, 0)
    write(people, folder / "people.csv")
    package.protect(people, "retention", rho=0.5, attributes=["age", "sex"]).save(folder / "retained")
    (folder / "chain.toml").write_text('[[step]]\nmethod = "monthly-pseudonyms"\n')
    (folder / "categories.csv").write_text("item,category\n85048,1\n")
    Ledger.create(folder / "ledger", schema="pwscup2018", chain=folder / "chain.toml", attacks=["s1"])
    return folder


@pytest.fixture
def data(made: Path, tmp_path: Path) -> Path:
    """A copy of it, which commands may try to harm."""
    return Path(shutil.copytree(made, tmp_path / "data"))


def words_of(command: str, name: str, data: Path, out: Path) -> list[str]:
    """Return words that run a command so that it writes to ``out`` by the parameter ``name``."""
    other = data / "elsewhere"
    history, release, retained = data / "T.csv", data / "release", data / "retained"
    known: dict[str, list[object]] = {
        "protect": [history, *HISTORY, "--method", "pseudonymize", "--force", "--out", out],
        "attack": [history, release, *HISTORY, "--attacks", "s1", "--out", out],
        "explore": [history, *HISTORY, "--methods", "pseudonymize", "--attacks", "s1", "--measures", "rfm", "--force",
                    "--workers", 1, "--cache", data / "cache", "--out", out],
        "report": [history, release, *HISTORY, "--out", out],
        "papers": [release, "--law", "appi", "--force", "--out", out],
        "draw": [history, release, *HISTORY, "--draws", 1, "--out", out],
        "categorize": [history, *HISTORY, "--file", data / "categories.csv", "--out", other, "--page", other],
        "hierarchy build": [history, *HISTORY, "--column", "item", "--force", "--out", out],
        "publish": [release, "--force", "--out", out, "--override", "a test"],
        "sample": ["--rows", 50, "--customers", 5, "--schema", "pwscup2017", "--out", other, "--master", other],
        "convert": [history, out],
        "reconstruct": [retained, "--out", other.with_suffix(".csv"), "--cells", other.with_suffix(".csv")],
        "reproduce": ["S4", "--part", "rho", "--force", "--cache", data / "cache", "--out", out],
        "demo": ["--rows", 60, "--customers", 8, "--force", "--out", out],
        "chart histogram": [retained, "--attribute", "sex", "--out", out],
        "chart crosstab": [retained, "--attributes", "age,sex", "--out", out],
        "ledger add": [data / "ledger", history, "--dry-run", "--chart", out],
        "ledger chart": [data / "ledger", "--out", out],
        "schema guess": [history, "--out", out],
        "totals": [history, *HISTORY, "--force", "--out", out],
        "dp-counts": [data / "people.csv", "--schema", "people", "--columns", "age=20..90:10", "--force", "--out", out],
        "unicity": [history, *HISTORY, "--known", "1-2", "--chart", out],
        "contest data": ["cup", *NO_SERVER, "--out", out],
        "contest submit": ["cup", history, *NO_SERVER, "--out", out],
        "contest targets": ["cup", *NO_SERVER, "--out", out],
        "contest attack": ["cup", "01", "--with", "nearest", "--original", history, *NO_SERVER, "--out", out],
        "contest results": ["cup", *NO_SERVER, "--out", out],
        "contest export": ["cup", *NO_SERVER, "--out", out],
        "studio trail": ["--data-dir", data / "nowhere", "--out", out],
        "contest simulate": ["--teams", 2, "--out", out],
    }  # fmt: skip
    words = [str(word) for word in known[command]]
    if f"--{name}" in words:
        words[words.index(f"--{name}") + 1] = str(out)
    for place, word in enumerate(words[:-1]):  # the other output of the two, where there are two
        if word.startswith("--") and is_written(command, word[2:]) and word != f"--{name}":
            words[place + 1] = str(data / f"other{out.suffix or '.csv'}")
    return [*command.split(), *words]


INPUTS = {
    "publish": "release/public.parquet",
    "reconstruct": "retained/public.parquet",
    "chart histogram": "retained/public.parquet",
    "chart crosstab": "retained/public.parquet",
}
NO_INPUT = {("sample", "out"), ("sample", "master"), ("demo", "out"), ("reproduce", "out"), ("studio trail", "out")} | {
    (f"contest {name}", "out") for name in ("data", "targets", "results", "export", "simulate")
}


def snapshot(folder: Path) -> dict[str, bytes | str]:
    """Return everything below a folder: files by content, links by where they lead."""
    found: dict[str, bytes | str] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = f"→ {path.readlink()}"
        elif path.is_file():
            found[name] = path.read_bytes()
    return found


def kept(before: dict[str, bytes | str], after: dict[str, bytes | str]) -> bool:
    """Tell whether all that was there is there as it was; caches and ledgers may have more."""
    return all(
        after.get(name) == content for name, content in before.items() if not name.startswith(("cache", "ledger"))
    )


@pytest.mark.parametrize(("command", "name"), [one for one in WRITES if one not in NO_INPUT])
def test_an_input_that_is_the_output_survives(noren, data, command, name) -> None:
    before = snapshot(data)
    answer = noren(*words_of(command, name, data, data / INPUTS.get(command, "T.csv")))
    assert answer.code == 2, answer
    assert len(answer.err.strip().splitlines()) == 1, answer.err
    assert kept(before, snapshot(data))


@pytest.mark.parametrize(("command", "name"), WRITES)
def test_an_input_in_the_output_folder_survives(noren, data, command, name) -> None:
    before = snapshot(data)
    answer = noren(*words_of(command, name, data, data))
    assert answer.code in (0, 2), answer  # guesses go beside other files, and leave them alone
    assert answer.code == 2 or command == "attack"
    assert kept(before, snapshot(data))


@pytest.mark.parametrize("kind", ["file", "folder", "nothing"])
@pytest.mark.parametrize(("command", "name"), WRITES)
def test_a_link_is_not_followed(noren, data, command, name, kind) -> None:
    place = data / "mine"
    if kind == "folder":
        place.mkdir()
        (place / "notes.txt").write_text("mine")
    elif kind == "file":
        place.write_text("mine")
    link = data / "link.html"
    link.symlink_to(place)
    before = snapshot(data)
    answer = noren(*words_of(command, name, data, link))
    assert answer.code == 2, answer
    assert "link.html is a link to" in answer.err
    assert "name the target itself" in answer.err
    assert len(answer.err.strip().splitlines()) == 1
    assert kept(before, snapshot(data))
    assert place.exists() is (kind != "nothing")


FOLDERS = {
    ("protect", "out"): ("release", "public.parquet"),
    ("explore", "out"): (None, "table.json"),
    ("publish", "out"): (None, "public.parquet"),
    ("reproduce", "out"): (None, "index.html"),
    ("demo", "out"): (None, "T.csv"),
}


@pytest.mark.parametrize(
    ("command", "name"),
    [pytest.param(*one, marks=pytest.mark.slow if one[0] == "demo" else ()) for one in WRITES if one in FOLDERS],
)
def test_only_what_the_command_wrote_is_replaced(noren, data, command, name) -> None:
    """An own folder is replaced; with a file of yours in it, it is not, whatever --force says."""
    _release, made = FOLDERS[command, name]
    out = data / "own"
    words = words_of(command, name, data, out)
    assert noren(*words).code == 0
    assert noren(*words).code == 0
    assert (out / made).exists()
    for mine in ("notes.txt", "secret/notes.txt", "old/"):
        place = out / mine
        place.mkdir(parents=True) if mine.endswith("/") else place.parent.mkdir(exist_ok=True)
        if not mine.endswith("/"):
            place.write_text("mine")
        before = snapshot(data)
        answer = noren(*words)
        assert answer.code == 2, answer
        assert f"own contains {mine}, which this command did not write; name another folder" in answer.err
        assert kept(before, snapshot(data))
        place.rmdir() if mine.endswith("/") else place.unlink()
        if mine.startswith("secret") and not any(place.parent.iterdir()):
            place.parent.rmdir()


@pytest.mark.slow
def test_folders_are_known_by_what_is_in_them(noren, data) -> None:
    """Folders whose files have our names but are not ours are left alone: a demo's T.csv may be your original."""
    work = data / "work"
    work.mkdir()
    (work / "T.csv").write_bytes((data / "T.csv").read_bytes())
    (work / "report.html").write_text("mine")
    for force in ((), ("--force",)):
        answer = noren("demo", "--rows", 60, "--customers", 8, "--out", work, *force)
        assert answer.code == 2
        assert (work / "report.html").read_text() == "mine"
    demo = ("demo", "--rows", 60, "--customers", 8, "--out", data / "demo")
    assert noren(*demo).code == 0
    (data / "demo/T.csv").write_text("my own data")
    answer = noren(*demo, "--force")
    assert answer.code == 2
    assert "demo contains T.csv" in answer.err
    assert (data / "demo/T.csv").read_text() == "my own data"
    fake = data / "fake"
    fake.mkdir()
    (fake / "public.parquet").write_text("mine")
    (fake / "statement.json").write_text("{}")
    answer = noren("publish", data / "release", "--out", fake, "--force", "--override", "a test")
    assert (answer.code, (fake / "public.parquet").read_text()) == (2, "mine")


def test_a_release_that_is_read_is_not_replaced(noren, data) -> None:
    public = data / "release/public.parquet"
    before = snapshot(data)
    words = ("protect", public, *HISTORY, "--method", "pseudonymize", "--out", data / "release", "--force")
    answer = noren(*words)
    assert answer.code == 2
    assert f"release contains {public}, an input of this command; name another folder" in answer.err
    assert snapshot(data) == before


def test_a_parameter_that_names_a_file_is_read(noren, data) -> None:
    """Files that a schema option or a method's parameter names are inputs as well."""
    schema = data / "own.toml"
    schema.write_text((data / "chain.toml").read_text())
    before = schema.read_bytes()
    answer = noren("draw", data / "T.csv", data / "release", "--schema", schema, "--out", schema)
    assert (answer.code, schema.read_bytes()) == (2, before)
    assert "own.toml is an input of this command and would be overwritten; name another file" in answer.err


def test_two_outputs_are_two_files(noren, data) -> None:
    out = data / "both.csv"
    answer = noren("reconstruct", data / "retained", "--out", out, "--cells", out)
    assert answer.code == 2
    assert "both.csv is named twice (--out, --cells); name another file" in answer.err
    assert not out.exists()


def test_the_folder_one_is_in_is_not_replaced(noren, data, tmp_path, monkeypatch) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    answer = noren("protect", data / "T.csv", *HISTORY, "--method", "pseudonymize", "--out", ".")
    assert answer.code == 2
    assert ". is the working folder; name another folder" in answer.err
    assert list(here.iterdir()) == []


def test_what_a_desktop_leaves_is_not_yours(noren, data) -> None:
    (data / "release/.DS_Store").write_bytes(b"\0")
    words = ("protect", data / "T.csv", *HISTORY, "--method", "pseudonymize", "--out", data / "release")
    assert noren(*words, "--force").code == 0


def test_the_folder_keeps_who_may_read_it(noren, data) -> None:
    private = data / "private"
    private.mkdir(mode=0o700)
    assert noren("publish", data / "release", "--out", private, "--override", "a test").code == 0
    assert private.stat().st_mode & 0o777 == 0o700
