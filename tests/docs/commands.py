"""Commands as the documentation writes them: taken apart, and looked up without running them."""

from __future__ import annotations

import ast
import importlib
import re
import shlex
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import typer
from tests.docs.blocks import ROOT

_KEYWORDS = {"for", "while", "until", "if", "case", "function", "{", "cd", "export", "set", "source", "."}
_OPERATORS = frozenset("();<>|&")
_WORD_LEFT_OUT = re.compile(r"…|\.\.\.|\[.*")
_ROOMS = {"--method": "methods", "--methods": "methods", "--attacks": "attacks", "--measures": "measures"}
_ROOM_OF = {"attack": "attacks", "measure": "measures"}


def logical_lines(text: str) -> list[str]:
    """Return the commands of a block: comments dropped, continued lines joined.

    >>> logical_lines("noren a \\\\\\n  --b\\n\\n# nothing\\nnoren c  # d")
    ['noren a    --b', 'noren c  # d']
    """
    joined = re.sub(r"\\\n", " ", text)
    return [line for line in joined.splitlines() if line.strip() and not line.lstrip().startswith("#")]


def simple(line: str) -> list[str] | None:
    """Return the words of a command that needs no shell, or nothing where it needs one.

    >>> simple("noren check T.csv  # as the judges"), simple("noren check T.csv | head")
    (['noren', 'check', 'T.csv'], None)
    """
    words = _words(line)
    if any(set(word) <= _OPERATORS for word in words):
        return None
    bare = shlex.split(line, comments=True)
    return None if re.search(r"[$*?~`]|^\w+=", " ".join(bare)) else bare


def needs_one_shell(lines: Sequence[str]) -> bool:
    """Tell whether the lines hang together: loops, variables, another folder, text fed to a command."""
    return any("<<" in line or line.split()[0] in _KEYWORDS or re.match(r"\w+=", line) for line in lines)


def parts(line: str) -> Iterator[list[str]]:
    """Yield the simple commands of a line as words: what stands between ``|``, ``&&`` and ``;``."""
    command: list[str] = []
    words = iter(_words(line))
    for word in words:
        if set(word) <= _OPERATORS:
            if set(word) & set("<>"):
                next(words, None)
                continue
            if command:
                yield command
            command = []
        elif word == "do":
            command = []
        else:
            command.append(word)
    if command:
        yield command


def _words(line: str) -> list[str]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    return list(lexer)


def complaints(words: Sequence[str], made_up: frozenset[str] = frozenset()) -> list[str]:
    """Return what is wrong with a command: a command, flag, component, target or file that does not exist."""
    program, rest = words[0], list(words[1:])
    if program.startswith(".venv/bin/"):
        program = program.removeprefix(".venv/bin/")
    if program == "noren":
        return _noren(rest, made_up)
    if program == "make":
        targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
        return [f"make has no target {word}" for word in rest if "=" not in word and word not in targets]
    if program in ("python", "pytest", "sh"):
        files = [word for word in rest if "/" in word and not word.startswith("-")]
        return [f"there is no {word}" for word in files if word not in made_up and not (ROOT / word).exists()]
    return []


def quoted_complaints(quoted: str, made_up: frozenset[str] = frozenset()) -> list[str]:
    """Return what is wrong with what a sentence sets as code: a command, or flags without their command."""
    if quoted.startswith("--") and quoted[2:3].isalpha():
        flags = [word.partition("=")[0] for word in quoted.split() if word.startswith("--")]
        return [f"no command has the flag {flag}" for flag in flags if flag not in flags_of_everything() | made_up]
    if not re.match(r"(noren|make|python|\.venv/bin/\w+) \S", quoted):
        return []
    try:
        return [said for words in parts(quoted) for said in complaints(words, made_up)]
    except ValueError as error:
        return [str(error)]


@cache
def flags_of_everything() -> frozenset[str]:
    """Return every flag that any command or component has."""
    return frozenset(flag for command in _all_commands(_root()) for flag in _flags(command)) | frozenset(
        flag for room in ("methods", "attacks", "measures") for flag in _component_flags(room, None)
    )


def missing_imports(source: str) -> list[str]:
    """Return what a script imports from Noren that is not there."""
    wrong = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "noren":
            module = importlib.import_module(node.module or "")
            wrong += [f"{node.module} has no {name.name}" for name in node.names if not hasattr(module, name.name)]
        elif isinstance(node, ast.Import):
            for name in node.names:
                if name.name.split(".")[0] == "noren":
                    importlib.import_module(name.name)
    return wrong


@cache
def _root() -> Any:
    from noren.cli.app import app

    return typer.main.get_command(app)


def _all_commands(command: Any) -> Iterator[Any]:
    yield command
    for inner in getattr(command, "commands", {}).values():
        yield from _all_commands(inner)


def _flags(command: Any) -> set[str]:
    found = {"--help", "-h", "--lang", "--debug"}
    for parameter in command.params:
        if parameter.param_type_name == "option":
            found |= {*parameter.opts, *parameter.secondary_opts}
    return found


def _noren(words: list[str], made_up: frozenset[str]) -> list[str]:
    command, path = _root(), "noren"
    while getattr(command, "commands", None):
        if words[:1] == ["--lang"]:
            words = words[2:]
            continue
        if not words or words[0].startswith("-") or _WORD_LEFT_OUT.match(words[0]):
            break
        if words[0] not in command.commands:
            return [f"{path} has no command {words[0]}"]
        command, path, words = command.commands[words[0]], f"{path} {words[0]}", words[1:]
    return [*_wrong_flags(command, path, words, made_up), *_wrong_names(command, path, words, made_up)]


def _wrong_flags(command: Any, path: str, words: list[str], made_up: frozenset[str]) -> list[str]:
    known = _flags(command) | made_up
    if command.context_settings.get("ignore_unknown_options"):  # what is left over are parameters of components
        room = _ROOM_OF.get(path.split()[-1], "methods")
        known |= _component_flags(room, _named(words, made_up))
    given = [word.partition("=")[0] for word in words if re.match(r"-(?!\d)", word)]
    return [f"{path} has no flag {flag}" for flag in given if flag not in known]


def _wrong_names(command: Any, path: str, words: list[str], made_up: frozenset[str]) -> list[str]:
    last = path.split()[-1]
    named = [(last, word) for word in words if last in _ROOMS.values() and not word.startswith("-")]
    for word, following in zip(words, [*words[1:], ""], strict=False):
        flag, _equals, value = word.partition("=")
        room = _ROOM_OF.get(last) if flag == "--with" else _ROOMS.get(flag)
        if room and flag in _flags(command):
            named.append((room, value or following))
    return [f"there is no {name} among the {room}" for room, given in named for name in _unknown(room, given, made_up)]


def _named(words: list[str], made_up: frozenset[str]) -> list[str] | None:
    """Return the components whose parameters a command takes, or nothing where it names none or all."""
    for word, following in zip(words, [*words[1:], ""], strict=False):
        flag, equals, value = word.partition("=")
        if flag in (*_ROOMS, "--with"):
            names = [name for name in (value if equals else following).split(",") if name not in made_up]
            return None if "all" in names else names
    return None


@cache
def _registry(room: str) -> Any:
    return getattr(importlib.import_module(f"noren.{room}"), room)


def _unknown(room: str, value: str, made_up: frozenset[str]) -> list[str]:
    names = [name for name in value.split(",") if name and not _WORD_LEFT_OUT.match(name)]
    return [name for name in names if name not in {*_registry(room), "all", "none", *made_up}]


def _component_flags(room: str, names: list[str] | None) -> set[str]:
    from noren.registry import flags

    registry = _registry(room)
    found: set[str] = set()
    for name in registry if names is None else [name for name in names if name in registry]:
        for about in flags(registry[name]):
            found |= {about.flag, "--no-" + about.flag[2:]} if about.is_switch else {about.flag}
    return found
