"""Ctrl-C while compiled code runs: heard at once, though the code would go on for ever."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from noren.engines.blocks import abandoned, run_interruptibly
from noren.i18n import _, activate
from noren.progress import Enough, time_limit

ENDLESS = """
import signal
import sys
import numba

signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever starts a test in the background lets it be ignored

@numba.njit(nogil=True)
def endless(x):
    while x >= 0:
        x = (3 * x + 1) % 1000003
    return x

endless(-1)

def kernel(*given, **named):
    print("in the kernel", flush=True)
    endless(1)
"""


def interrupted(script: str, folder: Path) -> tuple[int, str]:
    """Run a script, press Ctrl-C when its kernel says that it runs, and return how it ended."""
    with subprocess.Popen(
        [sys.executable, "-c", ENDLESS + script],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"LANG": "C.UTF-8"},
    ) as process:
        try:
            assert process.stdout is not None
            said = next((line for line in process.stdout if "in the kernel" in line), "")
            assert said, process.communicate(timeout=60)[1]
            process.send_signal(signal.SIGINT)
            _out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    return process.returncode, err


def test_work_that_reports_nothing_is_left_when_its_time_is_over() -> None:
    end, ended = threading.Event(), threading.Event()

    def work() -> None:
        end.wait()
        ended.set()

    with time_limit(0), pytest.raises(Enough):
        run_interruptibly(work)
    assert abandoned()
    end.set()
    ended.wait()


def test_a_kernel_is_left() -> None:
    script = """
import os
from noren.engines.blocks import abandoned, run_interruptibly
try:
    run_interruptibly(kernel)
except KeyboardInterrupt:
    os._exit(77 if abandoned() else 78)
"""
    code, err = interrupted(script, Path.cwd())
    assert code == 77, err


def test_work_interrupted_while_it_starts_is_left_too(monkeypatch: pytest.MonkeyPatch) -> None:
    start, go_on = threading.Thread.start, threading.Event()

    def start_and_be_interrupted(thread: threading.Thread) -> None:
        start(thread)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", start_and_be_interrupted)
        with pytest.raises(KeyboardInterrupt):
            run_interruptibly(go_on.wait)
    assert abandoned()
    go_on.set()
    while any(thread.name == "noren-work" for thread in threading.enumerate()):
        pass
    assert not abandoned()


SAMPLE = "sample --customers 30 --rows 300 --items 20 --seed 1 --schema pwscup2018 --out T.csv"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("patched", "command"),
    [
        (
            "noren.kernels.linkage.feasibility._search",
            "protect T.csv --schema pwscup2018 --method generalize-by-count --k 3",
        ),
        ("noren.kernels.linkage.feasibility._search", "attack T.csv R --schema pwscup2018 --attacks consistency"),
        ("noren.attacks.jaccard.Jaccard.attack", "attack T.csv R --schema pwscup2018 --attacks jaccard"),
        ("noren.measures.safety.survival.best_plan", "measure T.csv R --schema pwscup2018 --measures survival"),
    ],
)
def test_commands_are_left(patched: str, command: str, tmp_path: Path) -> None:
    module, _dot, name = patched.rpartition(".")
    owner = module if not module[module.rfind(".") + 1].isupper() else module.rpartition(".")[0]
    target = f"sys.modules[{owner!r}]" + ("" if owner == module else f".{module.rpartition('.')[2]}")
    out = " --out new" if command.startswith("protect") else ""
    script = f"""
import noren.cli
sys.argv = ["noren", *{SAMPLE.split()!r}]
noren.cli.run(sys.argv[1:])
noren.cli.run("protect T.csv --schema pwscup2018 --method pseudonymize --seed 1 --out R".split())
import noren.attacks, noren.measures, importlib
importlib.import_module({owner!r})
{target}.{name} = kernel
sys.argv = ["noren", *{(command + out).split()!r}]
noren.cli.main()
"""
    code, err = interrupted(script, tmp_path)
    assert code == 130, err
    assert "interrupted; no partial file was left" in err
    assert not (tmp_path / "new").exists()


def test_answers_errors_and_surroundings_pass() -> None:
    assert run_interruptibly(lambda *given, **named: (given, named), 1, two=2) == ((1,), {"two": 2})
    with pytest.raises(ZeroDivisionError):
        run_interruptibly(lambda: 1 / 0)
    assert run_interruptibly(threading.current_thread) is not threading.main_thread()
    assert run_interruptibly(lambda: run_interruptibly(threading.current_thread) is threading.current_thread())
    activate("ja")
    try:
        assert run_interruptibly(lambda: _("seconds")) == _("seconds")
    finally:
        activate("en")
    assert not abandoned()
