"""Noren beside what people would use in its place, in one run: ``make bench-peers``.

Each peer has an environment of its own with pinned versions (``benchmarks/peers/*.txt``), made under ``.peers/`` at the
first run from the package index. ARX is a jar that no Python index has: name it in ``ARX_JAR`` (libarx of Maven
Central) and it runs, warmed, on Adult and on a million rows; without it the page says that it was not at hand.
Seconds are processor seconds of the work alone, peaks those of the whole process; rows where a peer wins stay in.
Plain Python row by row is measured by ``bench_cell_error.py`` and ``bench_signatures.py``.
It needs the published data beside the checkout.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from bench_tables import QUASI, SHARED, checkers, classes_of, prepared
from machine import Run, facts, report, run, run_python, table

HERE = Path(__file__).resolve().parent
MADE = HERE.parent / ".peers"
LIMIT = "900"
SEEDS = 5


def peer(name: str) -> str:
    """Return the Python of a peer's environment, making it at the first time."""
    python = MADE / name / "bin" / "python"
    if not python.exists():
        print(f"making .peers/{name}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", MADE / name], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", HERE / "peers" / f"{name}.txt"], check=True)
    return str(python)


def result_of(done: Run) -> dict[str, object]:
    """Return what a child said on its last line, with its peak; or why it said nothing."""
    if not done.ok:
        return {"failed": (done.output.strip().splitlines() or ["nothing said"])[-1][:80]}
    answer: dict[str, object] = json.loads(done.output.strip().splitlines()[-1])
    return answer | {"peak": done.peak_bytes}


def compared(who: str, theirs: dict[str, object], ours: dict[str, object], *more: str) -> list[str]:
    """Return a line: processor seconds, how many times ours, peak, and what else is told."""
    if "failed" in theirs or "failed" in ours:
        return [who, f"no: {theirs.get('failed', ours.get('failed'))}", "", "", *([""] * len(more))]
    spent, mine = float(str(theirs["spent"])), float(str(ours["spent"]))
    peak = float(str(theirs["peak"])) / 1e9
    return [who, f"{spent:.3g}", f"{spent / mine:.3g}", f"{peak:.2f}", *(str(theirs.get(name, "")) for name in more)]


# --- frequencies from perturbed values -------------------------------------------------------------------------------

FREQUENCIES = """
import json, sys, time
import numpy as np, polars as pl, noren
from noren.data.schema import Schema

folder, rho, seeds = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
truth = pl.read_parquet(folder + "/million.parquet")["education"]
names = sorted(truth.unique().to_list())
share = np.array([(truth == name).mean() for name in names])
schema = Schema.of({"kind": "table", "columns": {"education": {"role": "quasi", "domain": names}}})
given = noren.Table.of(truth.to_frame(), schema)
code = {name: at for at, name in enumerate(names)}
errors, spent = [], 0.0
for seed in range(seeds):
    release = noren.protect(given, "retention", rho=rho, seed=seed)
    np.save(f"{folder}/reports{seed}.npy", release.public.frame["education"].replace_strict(code).to_numpy())
    if not seed:
        noren.reconstruct(release, "ml")  # what is compiled is loaded
    start = time.process_time()
    found = noren.reconstruct(release, "ml").margin(["education"])
    spent += time.process_time() - start
    errors.append(float(np.abs(found / found.sum() - share).sum()))
np.save(folder + "/share.npy", share)
print(json.dumps({"spent": spent / seeds, "errors": errors, "values": len(names)}))
"""

FREQUENCIES_PEER = """
import json, sys, time
import numpy as np

folder, rho, seeds, way = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
share = np.load(folder + "/share.npy")
m = len(share)
keep = rho + (1 - rho) / m
epsilon = float(np.log(keep * (m - 1) / (1 - keep)))
if way != "inversion":
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_IBU, GRR_Aggregator_MI
    estimate = {"MI": GRR_Aggregator_MI, "IBU": GRR_Aggregator_IBU}[way]
    estimate(np.load(folder + "/reports0.npy")[:1000], m, epsilon)
errors, spent = [], 0.0
for seed in range(seeds):
    reports = np.load(f"{folder}/reports{seed}.npy")
    start = time.process_time()
    if way == "inversion":
        seen = np.bincount(reports, minlength=m) / len(reports)
        found = np.linalg.solve(rho * np.eye(m) + (1 - rho) / m, seen)
    else:
        found = estimate(reports, m, epsilon)
    spent += time.process_time() - start
    errors.append(float(np.abs(found - share).sum()))
print(json.dumps({"spent": spent / seeds, "errors": errors}))
"""


def frequencies(folder: str) -> str:
    """Return the table of estimates: the same reports, the same noise, errors as means over seeds with their spread."""
    lines = []
    for rho in ("0.05", "0.3"):
        ours = result_of(run_python(FREQUENCIES, folder, rho, str(SEEDS)))
        both = {"Noren `reconstruct`, ml": ours}
        python = peer("frequencies")
        for way, name in (("MI", "multi-freq-ldpy, MI"), ("IBU", "multi-freq-ldpy, IBU"), ("inversion", "numpy.solve")):
            both[name] = result_of(run("timeout", LIMIT, python, "-c", FREQUENCIES_PEER, folder, rho, str(SEEDS), way))
        for name, result in both.items():
            line = compared(f"{name}, ρ = {rho}", result, ours)
            errors = [float(error) for error in result.get("errors", [])]  # type: ignore[attr-defined]
            mean = sum(errors) / max(len(errors), 1)
            spread = (sum((e - mean) ** 2 for e in errors) / max(len(errors) - 1, 1)) ** 0.5
            half = 2.776 * spread / max(len(errors), 1) ** 0.5  # Student's t of four degrees
            lines.append([*line, f"{mean:.4f} ± {half:.4f}" if errors else ""])
    return table(["", "processor s", "times ours", "peak GB", "error (sum of absolute differences of shares)"], lines)


# --- sets of items ---------------------------------------------------------------------------------------------------

SETS = """
import json, sys, time
import numpy as np, polars as pl, noren

folder, customers, way = sys.argv[1], int(sys.argv[2]), sys.argv[3]
file = f"{folder}/sets{customers}.parquet"
history = noren.sample(customers=customers, rows=20 * customers, items=2800, seed=1)
if way == "write":
    history.frame.select("customer", "item").write_parquet(file)
    thinned = noren.protect(history, "thin", share=0.3, seed=1)
    thinned.save(f"{folder}/thin{customers}")
    thinned.public.frame.select("customer", "item").write_parquet(f"{folder}/public{customers}.parquet")
    print(json.dumps({}))
elif way == "jaccard":
    release = noren.Release.load(f"{folder}/thin{customers}")
    small = noren.sample(customers=20, rows=200, items=50, seed=1)
    noren.attack(small, noren.protect(small, "thin", seed=1), "jaccard")
    start = time.process_time()
    guess = noren.attack(history, release, "jaccard")
    spent = time.process_time() - start
    right = guess.answers.join(release.secret.pseudonyms, on=["pseudonym", "customer"]).height
    print(json.dumps({"spent": spent, "right": right}))
else:
    from noren.kernels.items.item_similarity import basket_matrix, frequent_sets
    frame = pl.read_parquet(file)
    codes = [frame[c].rank("dense").cast(pl.Int64).to_numpy() - 1 for c in ("customer", "item")]
    start = time.process_time()
    found = frequent_sets(basket_matrix(*codes, int(codes[1].max()) + 1), int(0.02 * customers), 3)
    print(json.dumps({"spent": time.process_time() - start, "sets": sum(map(len, found))}))
"""

SETS_PEER = """
import json, sys, time
import numpy as np, pandas as pd

folder, customers, way = sys.argv[1], int(sys.argv[2]), sys.argv[3]
known = pd.read_parquet(f"{folder}/sets{customers}.parquet")
public = pd.read_parquet(f"{folder}/public{customers}.parquet")
items = pd.Index(sorted(set(known["item"]) | set(public["item"])))


def matrix(frame):
    who = pd.Index(frame["customer"].drop_duplicates())
    held = np.zeros((len(who), len(items)), dtype=bool)
    held[who.get_indexer(frame["customer"]), items.get_indexer(frame["item"])] = True
    return held


if way == "sets":
    ours = {c: set(g) for c, g in known.groupby("customer")["item"]}
    theirs = {c: set(g) for c, g in public.groupby("customer")["item"]}
    start = time.process_time()
    for name, asked in theirs.items():
        max(ours, key=lambda c: len(ours[c] & asked) / len(ours[c] | asked))
elif way == "sklearn":
    from sklearn.metrics import pairwise_distances_argmin
    a, b = matrix(public), matrix(known)
    start = time.process_time()
    from sklearn.metrics import pairwise_distances_chunked
    best = [part.argmin(axis=1) for part in pairwise_distances_chunked(a, b, metric="jaccard")]
else:
    from mlxtend.frequent_patterns import apriori, fpgrowth
    frame = pd.DataFrame(matrix(known), columns=items)
    start = time.process_time()
    found = {"apriori": apriori, "fpgrowth": fpgrowth}[way](frame, min_support=0.02, max_len=3)
    print(json.dumps({"spent": time.process_time() - start, "sets": len(found)}))
    raise SystemExit
print(json.dumps({"spent": time.process_time() - start}))
"""


def sets(folder: str, customers: tuple[int, ...]) -> str:
    """Return the table of Jaccard and of itemsets."""
    lines, python = [], peer("itemsets")
    for count in customers:
        done = run_python(SETS, folder, str(count), "write")
        if not done.ok:
            sys.exit(done.output)
        ours = result_of(run_python(SETS, folder, str(count), "jaccard"))
        lines.append(compared(f"Noren `jaccard`, {count:,} × {count:,} customers", ours, ours, "sets"))
        for way, name in (("sets", "plain sets"), ("sklearn", "scikit-learn, metric jaccard")):
            theirs = result_of(run("timeout", LIMIT, python, "-c", SETS_PEER, folder, str(count), way))
            lines.append(compared(f"{name}, {count:,} × {count:,}", theirs, ours, "sets"))
        ours = result_of(run_python(SETS, folder, str(count), "itemsets"))
        lines.append(compared(f"Noren itemsets up to 3 in 2 % of {count:,}", ours, ours, "sets"))
        for way in ("apriori", "fpgrowth"):
            theirs = result_of(run("timeout", LIMIT, python, "-c", SETS_PEER, folder, str(count), way))
            lines.append(compared(f"mlxtend `{way}`, {count:,}", theirs, ours, "sets"))
    return table(["", "processor s", "times ours", "peak GB", "itemsets found"], lines)


# --- linking rows of tables ------------------------------------------------------------------------------------------

LINKS = """
import json, sys, time
import polars as pl, noren
from noren.data.schema import Schema

folder, rows = sys.argv[1], int(sys.argv[2])
schema = Schema.preset("adult")
given = noren.Table.of(pl.read_parquet(folder + "/adult.parquet")[:rows], schema)
release = noren.protect(given, "mondrian", k=5, seed=1)
texts = release.to_polars()
texts.write_parquet(folder + "/released.parquet")
given.frame.write_parquet(folder + "/known.parquet")
small = noren.Table(given.frame[:200], schema)
noren.attack(small, noren.protect(small, "mondrian", k=5, seed=1), "row-linkage")
start = time.process_time()
guess = noren.attack(given, release, "row-linkage")
print(json.dumps({"spent": time.process_time() - start, "named": len(guess)}))
"""

LINKS_PEER = """
import json, sys, time
import pandas as pd
from anonymeter.evaluators import LinkabilityEvaluator

folder, quasi = sys.argv[1], json.loads(sys.argv[2])
known, released = (pd.read_parquet(f"{folder}/{name}.parquet")[quasi] for name in ("known", "released"))
half = len(quasi) // 2
known, control = known[: len(known) // 2], known[len(known) // 2 :]
start = time.process_time()
asked = LinkabilityEvaluator(
    ori=known.astype(str), syn=released.astype(str), control=control.astype(str),
    n_attacks=min(2000, len(control)),
    aux_cols=(quasi[:half], quasi[half:]), n_neighbors=5,
)
asked.evaluate(n_jobs=1)
risk = asked.risk()
print(json.dumps({"spent": time.process_time() - start, "risk": float(risk.value)}))
"""


def links(folder: str, rows: int) -> str:
    """Return the table of linking rows: ours asks about every row, Anonymeter about 2,000 of them."""
    ours = result_of(run_python(LINKS, folder, str(rows)))
    theirs = result_of(run("timeout", LIMIT, peer("linkability"), "-c", LINKS_PEER, folder, json.dumps(QUASI)))
    lines = [
        compared(f"Noren `row-linkage`, all {rows:,} rows", ours, ours),
        compared("Anonymeter `LinkabilityEvaluator`, 2,000 rows asked about", theirs, ours),
    ]
    return table(["", "processor s", "times ours", "peak GB"], lines)


# --- ARX -------------------------------------------------------------------------------------------------------------

ARX = """
import java.io.File;
import java.nio.charset.StandardCharsets;
import org.deidentifier.arx.*;
import org.deidentifier.arx.AttributeType.Hierarchy;
import org.deidentifier.arx.criteria.KAnonymity;

public class Peer {
    public static void main(String[] given) throws Exception {
        String file = given[0], ladders = given[1];
        String[] quasi = given[2].split(",");
        Data data = Data.create(file, StandardCharsets.UTF_8, ',');
        for (String name : quasi) {
            String ladder = ladders + "/adult_hierarchy_" + name + ".csv";
            data.getDefinition().setAttributeType(name, Hierarchy.create(ladder, StandardCharsets.UTF_8, ';'));
        }
        for (int at = 0; at < data.getHandle().getNumColumns(); at++) {
            String name = data.getHandle().getAttributeName(at);
            if (!java.util.Arrays.asList(quasi).contains(name))
                data.getDefinition().setAttributeType(name, AttributeType.INSENSITIVE_ATTRIBUTE);
        }
        double spent = 0;
        for (int round = 0; round < 3; round++) {
            data.getHandle().release();
            ARXConfiguration asked = ARXConfiguration.create();
            asked.addPrivacyModel(new KAnonymity(5));
            asked.setSuppressionLimit(0.05d);
            java.lang.management.ThreadMXBean watch = java.lang.management.ManagementFactory.getThreadMXBean();
            long start = watch.getCurrentThreadCpuTime();
            new ARXAnonymizer().anonymize(data, asked).getOutput(false);
            spent = (watch.getCurrentThreadCpuTime() - start) / 1e9;
        }
        System.out.println("{\\"spent\\": " + spent + "}");
    }
}
"""


def arx(folder: str) -> str:
    """Return the table of ARX beside ``hierarchy``; the last of three rounds counts, its machine being warm then."""
    jar = os.environ.get("ARX_JAR")
    if not jar:
        return "ARX was not at hand (ARX_JAR names its jar)."
    code = Path(folder) / "Peer.java"
    code.write_text(ARX, encoding="utf-8")
    subprocess.run(["javac", "-cp", jar, "-d", folder, code], check=True)
    hierarchies = str(SHARED / "adult_hierarchies")
    lines = []
    for rows, file in (("Adult", "adult"), ("a million", "million")):
        ours = result_of(run_python(OURS_LIKE_ARX, f"{folder}/{file}.parquet", hierarchies, json.dumps(QUASI)))
        words = ("-cp", f"{jar}:{folder}", "Peer", f"{folder}/{file}.csv", hierarchies, ",".join(QUASI))
        lines.append(compared(f"Noren `hierarchy`, {rows}", ours, ours))
        lines.append(compared(f"ARX, {rows}", result_of(run("timeout", LIMIT, "java", "-Xmx4g", *words)), ours))
    return table(["", "processor s", "times ours", "peak GB"], lines)


OURS_LIKE_ARX = """
import json, sys, time
import polars as pl, noren
from noren.data.schema import Schema

file, hierarchies, quasi = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
given = noren.Table.of(pl.read_parquet(file), Schema.preset("adult"))
asked = {"k": 5, "suppression": 0.05, "hierarchies": hierarchies, "quasi": quasi}
noren.protect(noren.Table(given.frame[:1000], given.schema), "hierarchy", seed=1, audit=False, **asked)
start = time.process_time()
noren.protect(given, "hierarchy", seed=1, audit=False, **asked)
print(json.dumps({"spent": time.process_time() - start}))
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the large table")
    parser.add_argument("--customers", type=int, nargs="+", default=[1_000, 4_000])
    parser.add_argument("--links", type=int, default=10_000, help="rows of the table whose rows are linked")
    options = parser.parse_args()
    with prepared(options.rows) as folder:
        python = peer("tables")
        parts: list[tuple[str, Callable[[], str]]] = [
            ("k-anonymity of tables: nine quasi columns, k = 5, 5 % may go", lambda: classes_of(folder, python)),
            ("Checkers of tables, on one release of Adult", lambda: checkers(folder, python)),
            ("Shares estimated from values kept with probability ρ, 16 values", lambda: frequencies(folder)),
            ("Sets of items: the most similar, and frequent ones", lambda: sets(folder, tuple(options.customers))),
            ("Linking rows of a released table", lambda: links(folder, options.links)),
            ("ARX", lambda: arx(folder)),
        ]  # fmt: skip
        pages = [f"## {title}\n\n{made()}" for title, made in parts]
    report(
        "peers",
        "Noren beside its peers",
        "One run, each peer in its own pinned environment (`benchmarks/peers/`). *Times ours* above 1: Noren is quicker"
        "; below 1: the peer is. Processor seconds of the work alone, reading and compiling left out; peaks of whole"
        " processes.",
        *pages,
        facts("polars", "numba", "numpy"),
    )


if __name__ == "__main__":
    main()
