"""Classic k-anonymity of tables: seconds and peak memory, next to anjana, anonypy and pyCANON.

Adult's 30,162 complete rows, a million of them drawn again, and a million with a fifth of all cells moved between rows
(drawn again, rows repeat so often that nothing needs generalising). Nine quasi columns, k = 5, 5 % of the rows may go.
The bars: half a second for Adult, ten seconds and 2 GB for a million rows, the checker 20 times faster than pyCANON.

The others live in an environment of their own, named by ``--peers``; without it the table is about Noren alone::

    python -m venv /tmp/peers && /tmp/peers/bin/pip install anjana anonypy pycanon
    python benchmarks/bench_tables.py --peers /tmp/peers/bin/python

It needs the published data beside the checkout.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from machine import Run, facts, report, run, run_python, table

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
QUASI = [
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
]
MILLION = 1_000_000
LIMIT = 600

PREPARE = """
import sys
import numpy as np
import polars as pl
from noren.data.reading import read

source, folder, rows = sys.argv[1], sys.argv[2], int(sys.argv[3])
frame = read(source, "adult").data.frame
frame = frame.filter(~pl.any_horizontal(pl.col(pl.String) == "?"))
frame.write_parquet(folder + "/adult.parquet")
frame.write_csv(folder + "/adult.csv")
drawn = frame.sample(rows, with_replacement=True, seed=1)
drawn.write_parquet(folder + "/million.parquet")
drawn.write_csv(folder + "/million.csv")
random = np.random.Generator(np.random.PCG64(1))
moved = []
for name in drawn.columns:
    place = np.where(random.random(rows) < 0.2, random.permutation(rows), np.arange(rows))
    moved.append(drawn[name].gather(place))
pl.DataFrame(moved).write_parquet(folder + "/moved.parquet")
pl.DataFrame(moved).write_csv(folder + "/moved.csv")
"""

NOREN = """
import json, sys, time
import polars as pl
from noren.data.frames import Table
from noren.data.schema import Schema
from noren.methods import methods

file, folder, parameters = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
table = Table.of(pl.read_parquet(file), Schema.preset("adult"))
method = methods.create(parameters.pop("method"), **parameters)
method.protect(Table(table.frame[:1000], table.schema), seed=1)  # what is compiled is loaded
start, spent = time.perf_counter(), time.process_time()
release = method.protect(table, seed=1)
seconds, spent = time.perf_counter() - start, time.process_time() - spent
notes = release.statement.notes
print(json.dumps({"seconds": seconds, "spent": spent, "classes": notes["classes"]}))
"""

CHECK = """
import json, sys, time
import polars as pl
from noren import api
from noren.data.frames import Table
from noren.data.schema import Schema

file, folder, parameters = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
table = Table.of(pl.read_parquet(file), Schema.preset("adult"))
sensitive = parameters.pop("with")
release = api.protect(table, "hierarchy", seed=1, **parameters)
for _round in range(2):  # the second counts, of pyCANON too
    start, spent = time.perf_counter(), time.process_time()
    parts = api.measure(table, release, "classes", sensitive=sensitive).parts
    seconds, spent = time.perf_counter() - start, time.process_time() - spent
quasi = [c.name for c in release.public.schema.columns if c.role == "quasi"]
texts = release.public.frame.with_columns(pl.col(q).cast(pl.String).fill_null("*") for q in quasi)
texts.select(*quasi, sensitive).write_csv(folder + "/released.csv")
said = {"k": parts["min"], "l": parts["l_distinct"], "entropy l": parts["l_entropy"]}
numeric = table.frame[sensitive].dtype.is_numeric()
said["t"] = parts["t_ordered" if numeric else "t_equal"]
print(json.dumps({"seconds": seconds, "spent": spent, "quasi": quasi, **said}))
"""

PYCANON = """
import json, sys, time
import pandas as pd
from pycanon import anonymity

file, quasi, sensitive = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
frame = pd.read_csv(file)
for _round in range(2):
    start, spent = time.perf_counter(), time.process_time()
    said = {
        "k": anonymity.k_anonymity(frame, quasi),
        "l": anonymity.l_diversity(frame, quasi, [sensitive]),
        "entropy l": anonymity.entropy_l_diversity(frame, quasi, [sensitive]),
        "t": anonymity.t_closeness(frame, quasi, [sensitive]),
    }
    seconds, spent = time.perf_counter() - start, time.process_time() - spent
print(json.dumps({"seconds": seconds, "spent": spent, **{name: float(value) for name, value in said.items()}}))
"""

ANJANA = """
import json, pathlib, sys, time
import pandas as pd
import pycanon.anonymity
from anjana.anonymity import k_anonymity

file, folder, quasi, k = sys.argv[1], pathlib.Path(sys.argv[2]), json.loads(sys.argv[3]), int(sys.argv[4])
frame = pd.read_csv(file)
hierarchies = {}
for name in quasi:
    levels = pd.read_csv(folder / f"adult_hierarchy_{name}.csv", sep=";", header=None)
    hierarchies[name] = {level: levels[level].values for level in levels.columns}
start, spent = time.perf_counter(), time.process_time()
out = k_anonymity(frame, [], quasi, k, 5, hierarchies)
seconds, spent = time.perf_counter() - start, time.process_time() - spent
print(json.dumps({"seconds": seconds, "spent": spent, "classes": int(out.groupby(quasi).ngroups)}))
"""

ANONYPY = """
import json, sys, time
import pandas as pd
import anonypy

file, quasi, k = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3])
frame = pd.read_csv(file)[[*quasi, "hours-per-week"]]
for name in quasi:
    if frame[name].dtype == object:
        frame[name] = frame[name].astype("category")
start, spent = time.perf_counter(), time.process_time()
out = anonypy.Preserver(frame, quasi, "hours-per-week").anonymize_k_anonymity(k=k)
seconds, spent = time.perf_counter() - start, time.process_time() - spent
print(json.dumps({"seconds": seconds, "spent": spent, "classes": len({str([row[q] for q in quasi]) for row in out})}))
"""


def outcome(done: Run) -> dict[str, object]:
    """Return what the child said on its last line, or why it said nothing."""
    if not done.ok:
        last = done.output.strip().splitlines()[-1:] or [""]
        return {"failed": f"no: {last[0][:60]}" if done.code != 124 else f"no: more than {LIMIT} s"}
    answer: dict[str, object] = json.loads(done.output.strip().splitlines()[-1])
    return answer


def row(what: str, rows: str, done: Run) -> list[str]:
    text = outcome(done)
    if "failed" in text:
        return [what, rows, str(text["failed"]), "", "", ""]
    return [
        what,
        rows,
        f"{text['seconds']:.2f}",
        f"{text['spent']:.2f}",
        f"{done.peak_bytes / 1e9:.2f}",
        f"{text['classes']:,}",
    ]


def with_limit(python: str, script: str, *words: str) -> Run:
    return run("timeout", str(LIMIT), python, "-c", script, *words)


def classes_of(folder: str, peers: str | None) -> str:
    """Return the table of methods."""
    hierarchies = str(SHARED / "adult_hierarchies")
    whole = {"method": "hierarchy", "k": 5, "suppression": 0.05, "hierarchies": hierarchies, "quasi": QUASI}
    cut = {"method": "mondrian", "k": 5, "quasi": QUASI}
    files = [("Adult", "adult"), ("a million", "million"), ("a million, moved", "moved")]
    lines = []
    for rows, file in files:
        for loss in ("loss", "discernibility"):
            done = run_python(NOREN, f"{folder}/{file}.parquet", folder, json.dumps({**whole, "loss": loss}))
            lines.append(row(f"Noren `hierarchy`, {loss}", rows, done))
        lines.append(
            row("Noren `mondrian`", rows, run_python(NOREN, f"{folder}/{file}.parquet", folder, json.dumps(cut)))
        )
    for rows, file in files if peers else []:
        done = with_limit(peers or "", ANJANA, f"{folder}/{file}.csv", hierarchies, json.dumps(QUASI), "5")
        lines.append(row("anjana `k_anonymity`", rows, done))
    if peers:
        done = with_limit(peers, ANONYPY, f"{folder}/adult.csv", json.dumps(QUASI), "5")
        lines.append(row("anonypy `anonymize_k_anonymity` (Mondrian)", "Adult", done))
    return table(["", "rows", "seconds", "processor s", "peak GB", "classes"], lines)


def checkers(folder: str, peers: str | None) -> str:
    """Return the table of checkers: the same release, the same numbers."""
    lines = []
    for sensitive in ("salary-class", "hours-per-week"):
        parameters = {"k": 5, "suppression": 0.05, "hierarchies": str(SHARED / "adult_hierarchies"), "with": sensitive}
        parameters |= {"loss": "discernibility", "quasi": QUASI[:-1]}
        ours = outcome(run_python(CHECK, f"{folder}/adult.parquet", folder, json.dumps(parameters)))
        both = {"Noren `classes`": ours}
        if peers:
            words = (f"{folder}/released.csv", json.dumps(ours["quasi"]), sensitive)
            both["pyCANON"] = outcome(with_limit(peers, PYCANON, *words))
        for name, result in both.items():
            numbers = [f"{float(str(result[part])):.6g}" for part in ("k", "l", "entropy l", "t", "seconds")]
            lines.append([f"{name}, {sensitive}", *numbers])
    return table(["", "k", "l", "entropy l", "t", "seconds"], lines)


@contextmanager
def prepared(rows: int) -> Iterator[str]:
    """Give a folder with Adult and a table of so many rows made of it."""
    if not SHARED.exists():
        sys.exit("the published data are not beside this checkout")
    with tempfile.TemporaryDirectory() as folder:
        done = run_python(PREPARE, str(SHARED / "adult.data"), folder, str(rows))
        if not done.ok:
            sys.exit(done.output)
        yield folder


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--peers", help="the python of an environment with anjana, anonypy and pycanon")
    parser.add_argument("--rows", type=int, default=MILLION)
    options = parser.parse_args()
    with prepared(options.rows) as folder:
        made, checked = classes_of(folder, options.peers), checkers(folder, options.peers)
    peers = "" if options.peers else " The others were not at hand."
    report(
        "tables",
        "k-anonymity of tables",
        "Nine quasi columns, k = 5, at most 5 % of the rows deleted. Seconds are those of the call alone, that of Noren"
        " with the release's digest, order and secret part; peak memory is that of the whole process. anjana raises one"
        " column after another and does not look for the best levels; anonypy cuts as `mondrian` does, and returns"
        " counts per class in place of rows." + peers,
        made,
        "The checkers, on the release of Adult with eight quasi columns. pyCANON rounds the entropy l down.",
        checked,
        facts("polars", "numba", "numpy"),
    )


if __name__ == "__main__":
    main()
