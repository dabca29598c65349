"""Progress: parts of a whole, and how somebody says enough."""

import inspect
import sys
import threading
from types import SimpleNamespace

import pytest

import noren
import noren.progress as progress_module
from noren.progress import Enough, Progress, Stoppable, part_of, progress_bar, silent, with_progress_bar

Told = list[tuple[float, str, float | None]]


def test_a_part_hands_on_the_best_and_names_itself() -> None:
    told: Told = []

    def progress(done: float, words: str = "", best: float | None = None) -> None:
        told.append((done, words, best))

    part_of(progress, 0.5, 0.75)(1.0)
    part_of(progress, 0.0, 0.5, "thin")(0.5)
    part_of(part_of(progress, 0.5, 1.0, "chain"), 0.0, 0.5, "thin")(0.5, "rows", 0.25)
    assert told == [(0.75, "", None), (0.25, "thin", None), (0.625, "chain: thin: rows", 0.25)]
    part_of(silent, 0.0, 1.0)(0.5, "words", 0.1)


def test_enough_is_said_once_and_only_where_there_is_a_best() -> None:
    told: Told = []
    progress = Stoppable(lambda done, words="", best=None: told.append((done, words, best)))
    progress(0.1, "searching", 0.5)
    assert (progress.best, progress.stop_requested, progress.raised) == (0.5, False, False)
    progress.stop()
    progress(0.2, "writing")
    assert (progress.best, progress.stop_requested, progress.raised) == (None, True, False)
    with pytest.raises(Enough):
        progress(0.3, "searching", 0.4)
    progress(0.4, "searching", 0.3)
    assert progress.raised
    assert [done for done, _words, _best in told] == [0.1, 0.2, 0.3, 0.4]


# --- bars ------------------------------------------------------------------------------------------------------------


def slow(*, progress: Progress = silent) -> str:
    """Work that reports three times."""
    for done in (0.0, 0.5, 1.0):
        progress(done, "counting <b>", 0.25)
    return "result"


def test_no_bar_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar("Working") as progress:
        assert progress is silent
    assert with_progress_bar(slow)() == "result"
    assert capsys.readouterr() == ("", "")


def test_a_callback_or_false_replaces_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_module, "progress_bar", lambda **_how: pytest.fail("a bar"))
    told: list[float] = []
    with_progress_bar(slow)(progress=lambda done, words="", best=None: told.append(done))
    with_progress_bar(slow)(progress=False)  # type: ignore[arg-type]
    assert told == [0.0, 0.5, 1.0]


def on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")


def test_a_bar_in_a_terminal_comes_late_and_goes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    on_a_terminal(monkeypatch)
    assert with_progress_bar(slow)() == "result"
    assert "counting" not in capsys.readouterr().err, "work of less than a second needs no bar"
    monkeypatch.setattr(progress_module, "_PATIENCE", 0.0)

    @with_progress_bar
    def waiting(*, progress: Progress = silent) -> None:
        progress(0.5, "counting", 5)
        while "counting" not in (shown := capsys.readouterr().err):
            pass
        assert "best: 5" in shown

    waiting()


def test_other_threads_show_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    on_a_terminal(monkeypatch)
    bars: list[Progress] = []

    def work() -> None:
        with progress_bar() as progress:
            bars.append(progress)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert bars == [silent]


def test_a_bar_in_a_notebook_is_updated_and_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    handle = SimpleNamespace(update=shown.append)

    def display_page(page: str, display_id: bool) -> SimpleNamespace:
        shown.append(page)
        return handle

    display = SimpleNamespace(HTML=str, display=display_page)
    ipython = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object()), display=display)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    assert with_progress_bar(slow)() == "result"
    assert shown == [], "work of less than a second needs no bar"
    monkeypatch.setattr(progress_module, "_PATIENCE", 0.0)
    monkeypatch.setattr(progress_module, "_PAUSE", 0.0)
    with_progress_bar(slow)()
    assert shown[1] == '<progress value="0.500"></progress> 50% counting &lt;b&gt;, best: 0.2500'
    assert shown[-1] == ""


@pytest.mark.parametrize("name", ["explore", "infer", "protect", "verdict", "attack", "measure", "unicity"])
def test_public_functions_show_a_bar_by_default(name: str) -> None:
    assert inspect.signature(getattr(noren, name)).parameters["progress"].default is silent
    assert hasattr(getattr(noren, name), "__wrapped__")
