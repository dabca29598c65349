"""Run a page of the documentation: a story that starts in an empty folder, one block after another."""

from __future__ import annotations

import contextlib
import csv
import doctest
import io
import json
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

from tests.docs.blocks import COMMANDS, DATA, SHOWN, Block, Page, WrongPageError
from tests.docs.commands import complaints, logical_lines, missing_imports, needs_one_shell, parts, simple

import noren.cli.app  # noqa: F401 - its texts are said once in a process: in English, as other tests expect
from noren.i18n import activate, active_language

SECONDS = 120
_FRAME = re.compile(r"[\u2500-\u257f]")
_PROMPTED = re.compile(r"^(\$ |>>> )|^(noren|make|git|pip|python) [a-z./-]", re.MULTILINE)
_DOCTESTS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def agrees(expected: str, printed: str) -> bool:
    """Tell whether a page shows what was printed.

    Spaces count as one and frames of tables as none; ``…`` stands for anything, on a line of its own for any lines.

    >>> agrees("U 0.25", "┃ U │  0.25 ┃"), agrees("U 0.2…\\n…", "U 0.25\\nV 1\\n"), agrees("U 0.3", "U 0.25")
    (True, True, False)
    """
    pattern = ""
    for line in _plain_lines(expected):
        pattern += r"(?:.*\n)*?" if line == "…" else ".*?".join(map(re.escape, line.split("…"))) + r"\n"
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in _plain_lines(printed))) is not None


def _plain_lines(text: str) -> list[str]:
    lines = (" ".join(_FRAME.sub(" ", line).split()) for line in text.splitlines())
    return [line for line in lines if line]


class Story:
    """A page being run in ``folder``; :attr:`fates` counts what became of its blocks."""

    def __init__(self, page: Page, folder: Path, *, published: bool) -> None:
        self.page = page
        self.folder = folder
        self.published = published
        self.fates: Counter[str] = Counter()
        self.module = ModuleType("story")
        self.language = "ja" if page.place.startswith("docs/ja/") else "en"
        self._printed: str | None = None  # by the block before; nothing where that one was not run

    def run(self) -> None:
        """Run every block; the first that does not do what the page says is an error."""
        with self._surroundings():
            for block in self.page.blocks:
                try:
                    self.fates[self._block(block)] += 1
                except WrongPageError as error:
                    raise WrongPageError(f"{block.where}: {error}") from error.__cause__

    @contextlib.contextmanager
    def _surroundings(self) -> Iterator[None]:
        """Stand in the story's folder, in its language, with caches and settings of its own."""
        before, language, here = dict(os.environ), active_language(), Path.cwd()
        os.environ |= {
            "COLUMNS": "100",
            "NOREN_LANG": self.language,
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
            "XDG_CACHE_HOME": str(self.folder.parent / "cache"),
            "XDG_DATA_HOME": str(self.folder.parent / "data"),
        }
        sys.modules["story"] = self.module
        os.chdir(self.folder)
        activate(self.language)
        try:
            yield
        finally:
            os.chdir(here)
            del sys.modules["story"]
            for name in os.environ.keys() - before.keys():
                del os.environ[name]
            os.environ |= before
            activate(language)

    def _block(self, block: Block) -> str:
        """Do what a block is for, and return what became of it."""
        if block.before:
            self._commands(block.before, exits=0)
        if block.language in SHOWN:
            return self._show(block)
        if block.language in DATA:
            fate = self._keep(block)
            return self._compare(block) if block.printed else fate
        if block.printed:
            return self._compare(block)
        self._printed = None
        if block.reason or (block.published and not self.published):
            look_up(block, self.page.made_up)
            return f"looked up: {block.reason or 'no published data here'}"
        if block.language == "python":
            tell = self._doctest if ">>> " in block.text else self._python
            self._printed = tell(block)
        elif block.language == "console":
            self._printed = self._console(block)
        else:
            self._printed = self._commands(block.text, exits=block.exits)
        return "run"

    @staticmethod
    def _show(block: Block) -> str:
        if block.language == "plain" and (found := _PROMPTED.search(block.text)):
            raise WrongPageError(f"{found[0]!r} looks like a command; call the block sh, console or python")
        return "shown"

    def _compare(self, block: Block) -> str:
        before = self.page.blocks[: self.page.blocks.index(block)]
        if not before or before[-1].language not in COMMANDS | {"python"}:
            raise WrongPageError("this says what a block printed, and there is none before it; call other text plain")
        if self._printed is None:
            return "shown after a block that is not run"
        if not agrees(block.text, self._printed):
            raise WrongPageError(f"the page shows\n{block.text}\nbut this was printed:\n{self._printed}")
        return "compared"

    def _keep(self, block: Block) -> str:
        """Parse data, and write them where the page says which file they are."""
        if block.reason != "a part of a file":
            parse_data(block.language, block.text)
        if block.file is None:
            return "parsed"
        path = self.folder / block.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")
        return "parsed and written"

    def _commands(self, text: str, *, exits: int) -> str:
        lines = logical_lines(text)
        if not lines:
            raise WrongPageError("there is no command in this block")
        if needs_one_shell(lines):
            return _expect(exits, *self._shell(text), "the block")
        printed = ""
        for place, line in enumerate(lines):
            code, said = self._command(line)
            printed += _expect(exits if place == len(lines) - 1 else 0, code, said, line)
        return printed

    def _command(self, line: str) -> tuple[int, str]:
        words = simple(line)
        if words is None or words[0] != "noren":
            return self._shell(line)
        from noren.cli import run

        return _heard(lambda: run(words[1:]))

    def _shell(self, text: str) -> tuple[int, str]:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", text],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=SECONDS,
            check=False,
        )
        return done.returncode, done.stdout

    def _console(self, block: Block) -> str:
        """Run the lines after a prompt, each against what the page shows below it."""
        asked = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
        if asked[0].strip() or len(asked) == 1:
            raise WrongPageError("a console starts with a prompt: $ and a space")
        printed = ""
        for place, turn in enumerate(asked[1:], start=1):
            command, shown = _turn(turn)
            code, said = self._command(command)
            _expect(block.exits if place == len(asked) - 1 else 0, code, said, command)
            if shown.strip() and not agrees(shown, said):
                raise WrongPageError(f"{command}\nthe page shows\n{shown}\nbut this was printed:\n{said}")
            printed += said
        return printed

    def _python(self, block: Block) -> str:
        with _told("the block") as printed:
            exec(compile("\n" * block.line + block.text, block.place, "exec"), self.module.__dict__)
        return printed.getvalue()

    def _doctest(self, block: Block) -> str:
        source = block.text.replace("…", "...")
        test = doctest.DocTestParser().get_doctest(source, self.module.__dict__, block.where, block.place, block.line)
        said = io.StringIO()
        runner = doctest.DocTestRunner(verbose=False, optionflags=_DOCTESTS)
        if runner.run(test, out=said.write, clear_globs=False).failed:
            raise WrongPageError(said.getvalue())
        self.module.__dict__.update(test.globs)
        return ""


def look_up(block: Block, made_up: frozenset[str]) -> None:
    """Look up what a block that is not run names: its commands and flags, or what its script imports."""
    wrong: list[str] = []
    if block.language in COMMANDS:
        text = "".join(_turn(turn)[0] + "\n" for turn in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:])
        for line in logical_lines(text if block.language == "console" else block.text):
            wrong += [said for words in parts(line) for said in complaints(words, made_up)]
    elif block.language == "python" and block.reason != "a part of a file":
        wrong = missing_imports(_source(block.text))
    if wrong:
        raise WrongPageError("; ".join(wrong))


def _source(text: str) -> str:
    """Return the Python of a block without prompts and answers."""
    examples = doctest.DocTestParser().get_examples(text)
    return "".join(example.source for example in examples) if examples else text


def parse_data(language: str, text: str) -> None:
    """Parse data in the language that a page says they are in."""
    try:
        if language == "toml":
            tomllib.loads(text)
        elif language == "json":
            json.loads(text)
        else:
            delimiter = max(",;\t", key=text.partition("\n")[0].count)
            widths = {len(row) for row in csv.reader(text.splitlines(), delimiter=delimiter, strict=True)}
            if len(widths) != 1:
                raise ValueError(f"rows of {sorted(widths)} cells")
    except ValueError as error:
        raise WrongPageError(f"this is no {language}: {error}") from error


def _turn(text: str) -> tuple[str, str]:
    """Return the command and what is shown below it; a line that ends in a backslash goes on."""
    lines = text.splitlines()
    last = next(i for i, line in enumerate(lines) if not line.endswith("\\"))
    return " ".join(line.removesuffix("\\") for line in lines[: last + 1]), "\n".join(lines[last + 1 :])


def _expect(exits: int, code: int, printed: str, command: str) -> str:
    if code != exits:
        raise WrongPageError(f"{command}\nleft with {code}, not {exits}:\n{printed}")
    return printed


def _heard(command: Callable[[], int]) -> tuple[int, str]:
    with _told("the command") as printed:
        code = command()
    return code, printed.getvalue()


@contextlib.contextmanager
def _told(what: str) -> Iterator[io.StringIO]:
    """Collect what is printed on both channels, in order; an exception is an error of the page."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            yield printed
        except Exception as error:
            raise WrongPageError(f"{what} raised {type(error).__name__}: {error}\n{printed.getvalue()}") from error
