"""What every method, attack, measure and whole command takes as rows grow: processor seconds and peak memory.

    python benchmarks/bench_scale.py [--rows 10000,100000,1000000,10000000] [--limit 600] [--memory 4.5]
    python benchmarks/bench_scale.py --only linkage,classes --again

Each piece of work is a process of its own on generated data: histories of 60 rows a customer and 4,000 items
(``noren sample``), tables of people. Components come from the registries, with the parameters that they need; their
seconds are those of the work alone, of short work the faster of two runs, for the first may compile. Commands are whole
processes, reading and writing included. Peaks are those of whole processes. What is in ``results/scale.json`` is not
run again unless ``--again`` says so. A piece that would take more than ``--limit`` processor seconds or ``--memory``
GB, by what the sizes before it took, is left out, and the page says so. ``tools/measured_pages.py`` makes
``docs/scale.md`` of the results, and runs at the end.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from machine import RESULTS, Run, facts, run

ROWS_A_CUSTOMER = 60
STREAMED = 100_000_000
KEPT = RESULTS / "scale.json"
PAGE = Path(__file__).parents[1] / "tools" / "measured_pages.py"
CHAIN = '[[step]]\nmethod = "thin"\n[[step]]\nmethod = "perturb"\n[[step]]\nmethod = "monthly-pseudonyms"\n'
SHORT, FAR, START = 20.0, 20, 4.0
"""Seconds of work that is done twice; how many times the rows nothing is foretold; seconds that a start may take."""
STEEP = 2.0
"""The exponent that is expected of a component of which one size is known."""


# --- whole commands --------------------------------------------------------------------------------------------------


def commands(rows: int, here: Path, plan: list[dict[str, Any]]) -> Iterator[tuple[str, str, list[str]]]:
    """Yield commands in an order in which each finds what it needs: name, data, arguments of ``noren``."""
    bought, people = str(here / "bought.parquet"), str(here / "people.parquet")
    out = {name: str(here / name) for name in ("generalised", "exact", "monthly", "perturbed", "alike", "streamed")}
    history, table = ["--schema", "sample"], ["--schema", "people"]
    size = ["--customers", str(max(rows // ROWS_A_CUSTOMER, 4)), "--rows", str(rows), "--items", "4000", "--seed", "1"]
    yield "sample", "history", ["sample", *size, "--out", bought]
    yield "sample", "table", ["sample", "--kind", "people", "--rows", str(rows), "--seed", "1", "--out", people]
    ways = [
        (
            "protect by count",
            "history",
            bought,
            history,
            ["--method", "generalize-by-count", "--k", "3"],
            "generalised",
        ),
        ("protect perturb", "history", bought, history, ["--method", "perturb"], "exact"),
        ("protect monthly chain", "history", bought, history, ["--chain", str(here.parent / "chain.toml")], "monthly"),
        ("protect retention", "table", people, table, ["--method", "retention", "--k", "2", *DOMAINS], "perturbed"),
        ("protect hierarchy", "table", people, table, ["--method", "hierarchy", "--k", "5", *ladders(here)], "alike"),
    ]
    for name, kind, file, schema, flags, to in ways:
        yield name, kind, ["protect", file, *schema, *flags, "--seed", "1", "--out", out[to], "--force", "--json"]
    for release, method, kind, file, schema in (
        ("generalised", "generalize-by-count", "history", bought, history),
        ("exact", "perturb", "history", bought, history),
        ("perturbed", "retention", "table", people, table),
        ("alike", "hierarchy", "table", people, table),
    ):
        named = [one["name"] for one in plan if one["on"] == f"{kind}, {release}" and one["aggregate"]]
        if named:
            flags = ["--measures", ",".join(named), "--json"]
            yield f"measure (after {method})", kind, ["measure", file, out[release], *schema, *flags]
    audit = ["--measures", "classes", "--json"]
    yield "measure --measures classes", "history", ["measure", bought, out["generalised"], *history, *audit]
    yield "measure --measures classes", "table", ["measure", people, out["alike"], *table, *audit]
    yield "unicity", "history", ["unicity", bought, *history, "--known", "1-4", "--seed", "1", "--json"]
    yield "identifiers", "table", ["identifiers", people, *table, "--json"]
    yield "population", "table", ["population", people, *table, "--population", "300e6", "--json"]
    flags = ["--methods", "generalize-by-count", "--k", "3", "--attacks", "jaccard", "--measures", "cell-error"]
    places = ["--out", str(here / "explored"), "--cache", str(here / "cache"), "--no-cache", "--force", "--json"]
    yield "explore", "history", ["explore", bought, *history, *flags, *places]
    yield from streams(here, bought, people, out["streamed"])


DOMAINS = ["--domains", "data"]


def ladders(here: Path) -> list[str]:
    return ["--hierarchies", str(here.parent / "hierarchies"), "--suppression", "0.05"]


def streams(here: Path, bought: str, people: str, out: str) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the commands that hold a few blocks at a time."""
    yield "convert", "history", ["convert", bought, str(here / "bought.csv"), "--schema", "sample", "--json"]
    known = str(here.parent / "people.toml")
    flags = ["--method", "retention", "--k", "2", "--stream", "--seed", "1", "--schema", known]
    yield "protect retention --stream", "table", ["protect", people, *flags, "--out", out, "--force", "--json"]


# --- one component, in a process of its own --------------------------------------------------------------------------


def planned() -> list[dict[str, Any]]:
    """Return every component with what it is tried on, but chains."""
    from noren.attacks import attacks
    from noren.data.schema import Schema
    from noren.measures import measures
    from noren.methods import methods

    schemas = {"history": Schema.load("sample"), "table": Schema.load("people")}
    releases = {"history": ("generalised", "exact"), "table": ("alike", "perturbed")}
    made: list[dict[str, Any]] = []
    for room, registry in (("methods", methods), ("attacks", attacks), ("measures", measures)):
        for name in registry:
            component = registry[name]
            for kind, schema in schemas.items():
                if not component.fits(schema) or name == "chain":
                    continue
                about = {"room": room, "name": name}
                if room == "methods":
                    made.append(about | {"on": kind, "aggregate": False})
                    continue
                wide, exact = releases[kind]
                on = exact if "exact" in getattr(component, "needs", ()) else wide
                if room == "attacks" and "period" in component.model_fields:
                    on = "monthly"
                useful = getattr(component, "side", "") == "utility"
                made.append(about | {"on": f"{kind}, {on}", "aggregate": useful})
    return made


def measure_one(room: str, name: str, on: str, here: Path) -> dict[str, Any]:
    """Do one piece of work in this process; say its processor seconds, or why it was refused."""
    import polars as pl

    from noren.data.reading import read
    from noren.data.release import Release
    from noren.errors import InputError
    from noren.protocols import Guess

    kind, _comma, release = on.partition(", ")
    file, schema = ("bought", "sample") if kind == "history" else ("people", "people")
    data = read(here / f"{file}.parquet", schema).data
    made = Release.load(here / release) if release else None
    guesses: dict[str, Guess] = {}
    if made is not None and room == "measures":  # as an attack that is always right would answer
        known = made.secret.people_of_rows() if kind == "table" else made.secret.pseudonyms
        pairs = known.select(pl.col("pseudonym", "customer").cast(pl.String), score=pl.lit(1.0))
        guesses = {"truth": Guess("truth", pairs)}
    took = math.inf
    try:
        for _turn in range(2):
            begin = time.process_time()
            _work(room, name, data, made, guesses, here)
            took = min(took, time.process_time() - begin)
            if took > SHORT:
                break
    except InputError as error:
        return {"refused": str(error).splitlines()[0]}
    return {"seconds": took}


def _work(room: str, name: str, data: Any, made: Any, guesses: dict[str, Any], here: Path) -> None:
    from noren import api

    if room == "methods":
        api.protect(data, name, seed=1, audit=False, **_needed(name, here))
    elif room == "attacks":
        api.attack(data, made, name)
    else:
        api.measure(data, made, name, guesses=guesses)


def _needed(name: str, here: Path) -> dict[str, Any]:
    """Return the parameters that a method cannot do without, and those that keep it short."""
    from noren.methods import methods

    fields = methods[name].model_fields
    if name == "retention":
        return {"k": 2.0, "domains": "data"}
    chosen = {
        "k": 3,
        "clusters": max(int(here.name) // ROWS_A_CUSTOMER // 5, 2),
        "hierarchies": here.parent / "hierarchies",
        "suppression": 0.05,
        "effort": "quick",
    }
    return {field: value for field, value in chosen.items() if field in fields}


def prepare(folder: Path) -> None:
    """Write what commands need beside data: a chain, hierarchies, a schema with domains for streams."""
    from noren.data.hierarchies import interval_hierarchy, write_hierarchy
    from noren.data.samples.people import sample_people
    from noren.data.schema import Schema

    (folder / "chain.toml").write_text(CHAIN, encoding="utf-8")
    (folder / "hierarchies").mkdir(exist_ok=True)
    for column, most in (("age", 120), ("weekly-hours", 170)):
        write_hierarchy(interval_hierarchy(column, range(most), [5, 10, 30]), folder / "hierarchies" / f"{column}.csv")
    some = sample_people(100_000, seed=1).frame
    schema = Schema.load("people")
    texts = [c.name for c in schema.columns if c.role == "quasi" and str(c.type) == "text"]
    known = {name: tuple(some[name].drop_nulls().unique().sort()) for name in texts}
    columns = tuple(c.model_copy(update={"domain": known.get(c.name, c.domain)}) for c in schema.columns)
    (folder / "people.toml").write_text(schema.model_copy(update={"columns": columns}).to_toml(), encoding="utf-8")


# --- the study -------------------------------------------------------------------------------------------------------


class Study:
    """What was measured so far, and what may still be."""

    def __init__(self, limit: float, memory: float, *, again: bool) -> None:
        self.limit, self.memory, self.again = limit, memory * 1e9, again
        self.points = self.stored()

    def stored(self) -> dict[str, dict[str, Any]]:
        """Return the points of the results."""
        known = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
        return {self.key(point): point for point in known.get("points", [])}

    @staticmethod
    def key(point: dict[str, Any]) -> str:
        return f"{point['room']}|{point['name']}|{point['on']}|{point['rows']}"

    def before(self, about: dict[str, Any], rows: int) -> list[dict[str, Any]]:
        """Return the smaller sizes of a piece of work that were measured, largest last."""
        same = [p for p in self.points.values() if all(p[n] == about[n] for n in ("room", "name", "on"))]
        return sorted((p for p in same if p["rows"] < rows and "seconds" in p), key=lambda p: int(p["rows"]))

    def expected(self, about: dict[str, Any], rows: int, what: str) -> float:
        """Return what a size will take by the two before it, or by one and a steep exponent; 0 by far smaller ones."""
        known = self.before(about, rows)
        if not known or rows > FAR * known[-1]["rows"] or (len(known) == 1 and known[0]["seconds"] < START):
            return 0.0
        last, slope = known[-1], STEEP
        if len(known) > 1 and known[-2][what] > 0:
            first = known[-2]
            slope = max(math.log(last[what] / first[what]) / math.log(last["rows"] / first["rows"]), 0.0)
        return float(last[what] * (rows / last["rows"]) ** slope)

    def wanted(self, about: dict[str, Any], rows: int) -> bool:
        point = about | {"rows": rows}
        old = self.points.get(self.key(point))
        if old is not None and not self.again and "left_out" not in old:
            return False
        seconds, memory = (self.expected(about, rows, what) for what in ("seconds", "peak"))
        if seconds > self.limit or memory > self.memory:
            reason = f"about {seconds:,.0f} s" if seconds > self.limit else f"about {memory / 1e9:,.1f} GB"
            self.keep(point | {"left_out": reason})
            return False
        return True

    def keep(self, point: dict[str, Any]) -> None:
        """Keep a point at once: a study that is stopped goes on where it was, and several may run beside each other."""
        content = {"machine": facts("noren", "polars", "pyarrow", "numpy", "numba"), "limit": self.limit}
        with _alone():
            self.points = self.stored() | {self.key(point): point}
            content |= {"memory": self.memory, "points": sorted(self.points.values(), key=self.key)}
            KEPT.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        line = (
            point.get("left_out") or point.get("refused") or f"{point['seconds']:.2f} s, {point['peak'] / 1e6:.0f} MB"
        )
        print(f"{point['rows']:>11,} {point['room']:9} {point['name']:28} {point['on']:22} {line}", flush=True)

    def make(self, about: dict[str, Any], rows: int, *command: str) -> None:
        """Run a command for what it writes, which others need, unless it takes too long."""
        if self.expected(about, rows + 1, "seconds") <= self.limit:
            run(*command)

    def measure(self, about: dict[str, Any], rows: int, *command: str) -> None:
        if not self.wanted(about, rows):
            return
        if about["room"] == "commands" and not self.before(about, rows):
            run(*command)  # the first run of all may have to compile
        done = run(*command)
        self.keep(about | {"rows": rows} | _outcome(done, whole=about["room"] == "commands"))


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Hold the folder of results: who asks meanwhile waits."""
    folder = os.open(RESULTS, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _outcome(done: Run, *, whole: bool) -> dict[str, Any]:
    """Return what a process took; the work alone where it said so, else the whole of it."""
    if not done.ok:
        lines = done.output.strip().splitlines()
        return {"refused": lines[-1][:300] if lines and done.code > 0 else f"stopped by signal {-done.code}"}
    if whole:
        return {"seconds": done.processor_seconds, "peak": done.peak_bytes}
    answer: dict[str, Any] = json.loads(done.output.strip().splitlines()[-1])
    return answer if "refused" in answer else answer | {"peak": done.peak_bytes}


def study(options: argparse.Namespace, folder: Path) -> None:
    script = [sys.executable, str(Path(__file__).resolve())]
    plan = json.loads(subprocess.run([*script, "--plan"], check=True, capture_output=True, text=True).stdout)
    subprocess.run([*script, "--prepare", "--folder", str(folder)], check=True)
    work = Study(options.limit, options.memory, again=options.again)
    only = set(filter(None, options.only.split(",")))
    noren = [sys.executable, "-m", "noren"]
    for rows in (int(n) for n in options.rows.split(",")):
        here = folder / str(rows)
        here.mkdir(parents=True, exist_ok=True)
        for name, on, arguments in commands(rows, here, plan):
            about = {"room": "commands", "name": name, "on": on}
            made = [Path(value) for flag, value in pairwise(arguments) if flag == "--out"]
            if not only or name in only:
                work.measure(about, rows, *noren, *arguments)
            if any(not path.exists() for path in made) and (name == "sample" or not only):
                work.make(about, rows, *noren, *arguments)
        for one_ in plan:
            about = {name: one_[name] for name in ("room", "name", "on")}
            if (not only or one_["name"] in only) and _there(here, one_["on"]):
                work.measure(about, rows, *script, "--one", one_["room"], one_["name"], one_["on"], str(here))
    if options.streamed:
        _streamed(work, folder, noren)


def _there(here: Path, on: str) -> bool:
    kind, _comma, release = on.partition(", ")
    file = here / ("bought.parquet" if kind == "history" else "people.parquet")
    return file.exists() and (not release or (here / release).exists())


def _streamed(work: Study, folder: Path, noren: list[str]) -> None:
    """Measure what streams on more rows: the largest file, several times over."""
    here = folder / str(STREAMED)
    here.mkdir(exist_ok=True)
    paths = [str(here / name) for name in ("bought.parquet", "people.parquet", "streamed")]
    for name, on, arguments in streams(here, *paths):
        file, about = Path(arguments[1]), {"room": "commands", "name": name, "on": on}
        source = max((p / file.name for p in folder.iterdir() if (p / file.name).exists() and p != here), key=_size)
        if work.wanted(about, STREAMED):
            subprocess.run([sys.executable, "-c", REPEAT, str(source), str(file), str(STREAMED)], check=True)
            work.measure(about, STREAMED, *noren, *arguments)
            file.unlink()
            (here / "bought.csv").unlink(missing_ok=True)


def _size(path: Path) -> int:
    return path.stat().st_size


REPEAT = """
import sys
import pyarrow.parquet as pq
source, target, rows = sys.argv[1], sys.argv[2], int(sys.argv[3])
with pq.ParquetFile(source) as file:
    writer, left = pq.ParquetWriter(target, file.schema_arrow, compression="zstd"), rows
    while left:
        for batch in file.iter_batches(batch_size=250_000):
            batch = batch.slice(0, left)
            writer.write_batch(batch)
            left -= len(batch)
            if not left:
                break
    writer.close()
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default="10000,100000,1000000,10000000")
    parser.add_argument(
        "--limit", type=float, default=600.0, help="processor seconds that a piece may be expected to take"
    )
    parser.add_argument("--memory", type=float, default=4.5, help="GB that a piece may be expected to take")
    parser.add_argument("--only", default="", help="names of components and commands; releases they need must be there")
    parser.add_argument("--again", action="store_true", help="measure also what is in the results")
    parser.add_argument("--streamed", action="store_true", help=f"what streams also on {STREAMED:,} rows")
    parser.add_argument("--folder", type=Path, help="where to put data; a temporary folder where left out")
    for flag in ("--plan", "--prepare"):
        parser.add_argument(flag, action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.plan:
        print(json.dumps(planned()))
    elif options.prepare:
        prepare(options.folder)
    elif options.one:
        room, name, on, here = options.one
        print(json.dumps(measure_one(room, name, on, Path(here))))
    else:
        with tempfile.TemporaryDirectory() as aside:
            folder = options.folder or Path(aside)
            folder.mkdir(parents=True, exist_ok=True)
            study(options, folder)
        subprocess.run([sys.executable, str(PAGE)], check=True)


if __name__ == "__main__":
    main()
