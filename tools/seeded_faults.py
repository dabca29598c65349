"""Put deliberate faults into a copy of the tree, one at a time, and report which tier of the tests catches each.

The faults are in `seeded_faults.toml`. A fault is caught by the first test that fails with it and passes without it.
The tests listed with a fault are tried first, in the fast tier and then in the slow one; `--thorough` goes on with all
other tests where these miss it. `--check` runs no tests: it looks whether every fault can still be applied.
"""

import argparse
import ast
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FAULTS = Path(__file__).with_suffix(".toml")
TIERS = {"fast": ["-m", "not slow"], "slow": ["-m", "slow or hypothesis", "--hypothesis-profile", "thorough"]}
BEGIN, END = "<!-- faults: begin -->", "<!-- faults: end -->"
HANGS = 600
"""Seconds after which a single test counts as hanging."""
# Written beside the copies, and loaded by pytest there: which test is running, and which failed.
PLUGIN = """
import os
from pathlib import Path

def _write(name, text):
    Path(os.environ["FAULT_NOTES"], name).write_text(text)

def pytest_runtest_logstart(nodeid, location):
    _write("running", nodeid)

def pytest_runtest_logreport(report):
    if report.failed:
        with Path(os.environ["FAULT_NOTES"], "failed").open("a") as file:
            print(report.nodeid, file=file)

def pytest_collectreport(report):
    _write("running", report.nodeid)
    if report.failed:
        pytest_runtest_logreport(report)
"""


@dataclass(frozen=True)
class Fault:
    """One deliberate fault; the comment in the TOML file explains the fields."""

    id: str
    package: str
    what: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    @property
    def path(self) -> Path:
        """The file, relative to the root of the tree."""
        return Path("src", "noren", self.file)

    def applied(self, text: str) -> str:
        """Return the text of the file with the fault in it."""
        return text.replace(self.old, self.new)


@dataclass(frozen=True)
class Outcome:
    """Which tier caught a fault (``missed`` where none did), by which test, and after how many seconds."""

    id: str
    tier: str
    test: str = ""
    seconds: int = 0


def faults() -> list[Fault]:
    """Return all faults."""
    listed = tomllib.loads(FAULTS.read_text(encoding="utf-8"))["fault"]
    return [Fault(**entry | {"tests": tuple(entry["tests"])}) for entry in listed]


def problems(fault: Fault, root: Path = ROOT) -> list[str]:
    """Return why a fault cannot be applied, one line each."""
    path = root / fault.path
    if not path.is_file():
        return [f"{fault.id}: there is no file {fault.path}"]
    text = path.read_text(encoding="utf-8")
    messages = []
    if (count := text.count(fault.old)) != 1:
        messages.append(f"{fault.id}: the old text occurs {count} times in {fault.path}")
    if fault.applied(text) == text:
        messages.append(f"{fault.id}: changes nothing")
    if path.suffix == ".py":
        try:
            ast.parse(fault.applied(text))
        except SyntaxError as error:
            messages.append(f"{fault.id}: {fault.path} does not compile with it: {error}")
    messages += [f"{fault.id}: there are no tests {test}" for test in fault.tests if not (root / test).exists()]
    return messages


# --- a copy of the tree ----------------------------------------------------------------------------------------------


class Copy:
    """A copy of the tree, in which tests run with one fault at a time."""

    def __init__(self, folder: Path) -> None:
        self.root, self.notes = folder / "tree", folder / "notes"
        self.notes.mkdir(parents=True)
        (self.notes / "fault_notes.py").write_text(PLUGIN, encoding="utf-8")
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for name in filter(None, names.split("\0")):
            if (ROOT / name).is_file() and not name.startswith(".venv"):
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.root / name)
        objects = Path("src", "noren", "kernels", "objects")  # compiled kernels, under digests of their sources
        if (ROOT / objects).is_dir():
            shutil.copytree(ROOT / objects, self.root / objects)
        (self.root / ".venv").symlink_to((ROOT / ".venv").resolve())
        if (ROOT.parent / "shared").is_dir():
            (folder / "shared").symlink_to(ROOT.parent / "shared")

    def write(self, path: Path, text: str) -> None:
        """Write a source file, and forget its byte code, whose age tells nothing within one second."""
        (self.root / path).write_text(text, encoding="utf-8")
        for old in (self.root / path).parent.glob(f"__pycache__/{path.stem}.*.pyc"):
            old.unlink()

    def failures(self, tests: Sequence[str], options: Sequence[str]) -> list[str]:
        """Run some tests and return those that fail; one that hangs ends the run."""
        for note in ("running", "failed"):
            (self.notes / note).unlink(missing_ok=True)
        surroundings = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(self.root / "src"), str(self.notes)]),
            "FAULT_NOTES": str(self.notes),
        }
        # the test of the faults themselves notices every one, and says nothing of the others
        words = [".venv/bin/python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "fault_notes"]
        words.append("--ignore=tests/test_seeded_faults.py")
        with (self.notes / "output").open("wb") as output:
            child = subprocess.Popen(
                [*words, *options, *tests], cwd=self.root, env=surroundings, stdout=output, stderr=output,
                start_new_session=True,
            )  # fmt: skip
            running, failed = self.notes / "running", self.notes / "failed"
            while child.poll() is None:
                time.sleep(0.2)
                if running.exists() and time.time() - running.stat().st_mtime > HANGS:
                    os.killpg(child.pid, signal.SIGKILL)
                    child.wait()
                    return [f"{running.read_text()} (hangs)"]
        if failed.exists():
            return failed.read_text().splitlines()
        if child.returncode not in (0, 5):  # 5: there is no test of this tier
            tail = (self.notes / "output").read_text(errors="replace")[-2000:]
            raise RuntimeError(f"pytest ended with {child.returncode}: {tail}")
        return []

    def caught(self, fault: Fault, tests: Sequence[str], tier: str, passed_over: Collection[str]) -> str:
        """Return the first test of a tier that fails with a fault; empty where all pass."""
        whole = (self.root / fault.path).read_text(encoding="utf-8")
        self.write(fault.path, fault.applied(whole))
        try:
            failed = self.failures(tests, ["-x", *TIERS[tier], *(f"--deselect={test}" for test in passed_over)])
        finally:
            self.write(fault.path, whole)
        return failed[0] if failed else ""


def tried(fault: Fault, copy: Copy, *, thorough: bool, passed_over: Collection[str] = ()) -> Outcome:
    """Return which tier catches a fault; ``passed_over`` are tests that fail without it, too."""
    start = time.monotonic()
    for tier in TIERS:
        for tests in (*fault.tests, *(["tests"] if thorough else [])):
            if test := copy.caught(fault, [tests], tier, passed_over):
                return Outcome(fault.id, tier, test, round(time.monotonic() - start))
    return Outcome(fault.id, "missed", seconds=round(time.monotonic() - start))


def failing_anyway(outcomes: Collection[Outcome], copy: Copy) -> set[str]:
    """Return the tests that were said to catch a fault and fail without any."""
    tests = sorted({outcome.test.removesuffix(" (hangs)") for outcome in outcomes if "::" in outcome.test})
    failed = copy.failures(tests, TIERS["slow"][2:]) if tests else []
    return {test.removesuffix(" (hangs)") for test in failed}


# --- results ---------------------------------------------------------------------------------------------------------


def table(outcomes: dict[str, Outcome]) -> str:
    """Return the results as a table in Markdown, with how many faults each tier caught."""
    counts = Counter(outcome.tier for outcome in outcomes.values())
    both = counts["fast"] + counts["slow"]
    lines = [
        f"Of {len(outcomes)} faults the fast tier catches {counts['fast']}, both tiers together {both}.",
        "",
        "| Package | Fault | Tier | Caught by |",
        "|---|---|---|---|",
    ]
    for fault in faults():
        if (outcome := outcomes.get(fault.id)) is not None:
            test = f"`{outcome.test.partition('[')[0]}`" if outcome.test else "–"
            lines.append(f"| {fault.package} | {fault.what} | {outcome.tier} | {test} |")
    return "\n".join(lines)


def publish(page: Path, text: str) -> None:
    """Put a text between the two marks of a page."""
    before, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _old, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f"{page} has no lines {BEGIN} and {END}")
    page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")


def main() -> None:
    """Check the faults, or try them and report."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="only look whether every fault can be applied")
    parser.add_argument("--only", action="append", metavar="ID", help="try this fault, again if need be; repeatable")
    parser.add_argument("--thorough", action="store_true", help="run all tests where those of a fault miss it")
    parser.add_argument(
        "--workers", type=int, default=1, metavar="N", help="faults tried at once, each in its own copy"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep results here, and go on with those kept before")
    parser.add_argument(
        "--markdown", type=Path, metavar="PAGE", help=f"put the table into a page, between {BEGIN} marks"
    )
    options = parser.parse_args()
    wrong = [problem for fault in faults() for problem in problems(fault)]
    if wrong or options.check:
        sys.exit("\n".join(wrong) if wrong else 0)
    stored = json.loads(options.json.read_text(encoding="utf-8")) if options.json and options.json.exists() else []
    outcomes = {item["id"]: Outcome(**item) for item in stored}
    if unknown := set(options.only or ()) - {fault.id for fault in faults()}:
        sys.exit(f"there is no fault {', '.join(sorted(unknown))}")
    left = [fault for fault in faults() if (fault.id in options.only if options.only else fault.id not in outcomes)]
    with tempfile.TemporaryDirectory(prefix="noren-faults-") as folder:
        copies: queue.SimpleQueue[Copy] = queue.SimpleQueue()
        for number in range(min(options.workers, len(left))):
            copies.put(Copy(Path(folder, str(number))))

        passed_over: set[str] = set()

        def work(fault: Fault) -> None:
            copy = copies.get()
            try:
                outcome = tried(fault, copy, thorough=options.thorough, passed_over=passed_over)
            except RuntimeError as error:
                print(f"{fault.id}: {error}", file=sys.stderr)
                return
            finally:
                copies.put(copy)
            outcomes[fault.id] = outcome
            print(f"{outcome.tier:<8}{fault.package:<14}{fault.id:<34}{outcome.test} ({outcome.seconds} s)", flush=True)
            if options.json:
                options.json.write_text(
                    json.dumps([asdict(item) for item in outcomes.values()], indent=1), encoding="utf-8"
                )

        while left:
            with ThreadPoolExecutor(options.workers) as pool:
                list(pool.map(work, left))
            copy = copies.get()
            failing = failing_anyway([outcomes[item.id] for item in left if item.id in outcomes], copy)
            copies.put(copy)
            passed_over |= failing
            left = [
                item
                for item in left
                if item.id in outcomes and outcomes[item.id].test.removesuffix(" (hangs)") in failing
            ]
    text = table(outcomes)
    print(text)
    if options.markdown:
        publish(options.markdown, text)


if __name__ == "__main__":
    main()
