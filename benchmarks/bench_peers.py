"""Noren beside what people would use in its place, in one run: ``make bench-peers``.

Each peer in Python has an environment of its own with pinned versions (``benchmarks/peers/*.txt``), made under
``.peers/`` at the first run from the package index. Others run where they are present, else the page says why not: ARX
by its jar (``--arx libarx-3.9.2.jar``; it needs ``javac``), sdcMicro where ``Rscript`` finds it.

Every peer gets the same data as Noren and is asked for the same thing; where both compute the same number, the numbers
are compared. Seconds are processor seconds of the work alone, the best of up to three runs that take five seconds in
all, so that nobody pays for imports and compiling; peaks are those of whole processes. Rows where a peer wins stay in.
``tools/measured_pages.py`` makes ``docs/comparison.md`` of ``results/peers.json``. It needs the published data.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from bench_tables import ANJANA, ANONYPY, CHECK, NOREN, PYCANON, QUASI, SHARED, prepared
from machine import RESULTS, Run, facts, run, run_python

HERE = Path(__file__).resolve().parent
MADE = HERE.parent / ".peers"
PAGES = HERE.parent / "tools" / "measured_pages.py"
LIMIT = "900"
HIERARCHIES = SHARED / "adult_hierarchies"
NO_JAR = "not run: no jar given"

Answer = dict[str, Any]
Task = dict[str, Any]
"""What is asked (``task``) and the ``rows``: ours first, then the peers."""


def peer(name: str) -> str:
    """Return the Python of a peer's environment, making it where it is not there or its list has changed."""
    python, wanted, made = MADE / name / "bin" / "python", HERE / "peers" / f"{name}.txt", MADE / name / "made.txt"
    if not made.exists() or made.read_text(encoding="utf-8") != wanted.read_text(encoding="utf-8"):
        print(f"making .peers/{name}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", MADE / name], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", wanted], check=True)
        shutil.copy(wanted, made)
    return str(python)


def version(environment: str, package: str) -> str:
    """Return the version of a package that an environment pins."""
    pinned = (HERE / "peers" / f"{environment}.txt").read_text(encoding="utf-8").split()
    return next(line.partition("==")[2] for line in pinned if line.startswith(f"{package}=="))


def result_of(done: Run) -> Answer:
    """Return what a child said on its last line, with its peak; or why it said nothing."""
    if not done.ok:
        last = (done.output.strip().splitlines() or ["nothing said"])[-1]
        return {"failed": f"more than {LIMIT} s" if done.code == 124 else last[:80]}
    answer: Answer = json.loads(done.output.strip().splitlines()[-1])
    return answer | {"peak": done.peak_bytes}


def peer_result(name: str, code: str, *words: str) -> Answer:
    """Run lines of Python in a peer's environment."""
    return result_of(run("timeout", LIMIT, peer(name), "-c", TIMED + code, *words))


def our_result(code: str, *words: str) -> Answer:
    """Run lines of Python with Noren."""
    return result_of(run_python(TIMED + code, *words))


def row(environment: str, who: str, result: Answer, note: str = "") -> Answer:
    """Return a line of a task: the peer with its version, and its result."""
    return {"who": f"{who} {version(environment, who.lower())} {note}".rstrip(), **result}


TIMED = """
import time


def timed(work):
    spent = []
    while len(spent) < 3 and sum(spent) < 5:
        start = time.process_time()
        found = work()
        spent.append(time.process_time() - start)
    return min(spent), found


"""


# --- k-anonymity and its checkers ------------------------------------------------------------------------------------


def classes_of(folder: str) -> list[Task]:
    """Return full-domain k-anonymity beside anjana, and Mondrian beside anonypy."""
    whole = {"method": "hierarchy", "k": 5, "suppression": 0.05, "hierarchies": str(HIERARCHIES), "quasi": QUASI}
    tasks = []
    for rows, file in (("Adult", "adult"), ("a million", "million"), ("a million, moved", "moved")):
        ours = our_result(NOREN, f"{folder}/{file}.parquet", folder, json.dumps({**whole, "loss": "loss"}))
        theirs = peer_result("tables", ANJANA, f"{folder}/{file}.csv", str(HIERARCHIES), json.dumps(QUASI), "5")
        rows_of_task = [{"who": "`hierarchy`", **ours}, row("tables", "anjana", theirs)]
        tasks.append({"task": f"k-anonymity by levels, {rows}", "rows": rows_of_task})
    ours = our_result(
        NOREN, f"{folder}/adult.parquet", folder, json.dumps({"method": "mondrian", "k": 5, "quasi": QUASI})
    )
    theirs = peer_result("tables", ANONYPY, f"{folder}/adult.csv", json.dumps(QUASI), "5")
    rows_of_task = [{"who": "`mondrian`", **ours}, row("tables", "anonypy", theirs)]
    return [*tasks, {"task": "k-anonymity by Mondrian, Adult", "rows": rows_of_task}]


SDCMICRO = """
suppressMessages(library(sdcMicro))
given <- commandArgs(TRUE)
frame <- read.csv(given[1], check.names = FALSE, stringsAsFactors = TRUE)
quasi <- strsplit(given[2], ",")[[1]]
spent <- c()
while (length(spent) < 3 && sum(spent) < 5) {
  start <- proc.time()
  k <- min(freqCalc(frame, keyVars = quasi)$fk)
  l <- min(unclass(ldiversity(frame, keyVars = quasi, ldiv_index = given[3]))[, 1])
  spent <- c(spent, sum((proc.time() - start)[c("user.self", "sys.self")]))
}
cat(sprintf('{"spent": %f, "answer": {"k": %d, "l": %d}, "version": "%s"}\\n',
  min(spent), as.integer(k), as.integer(l), packageVersion("sdcMicro")))
"""


def checkers(folder: str) -> list[Task]:
    """Return k, ℓ and t of one release of Adult beside pyCANON and sdcMicro."""
    tasks = []
    for sensitive in ("salary-class", "hours-per-week"):
        parameters = {"k": 5, "suppression": 0.05, "hierarchies": str(HIERARCHIES), "with": sensitive}
        parameters |= {"loss": "discernibility", "quasi": QUASI[:-1]}
        ours = our_result(CHECK, f"{folder}/adult.parquet", folder, json.dumps(parameters))
        released, quasi = f"{folder}/released.csv", ours.get("quasi", [])
        theirs = peer_result("tables", PYCANON, released, json.dumps(quasi), sensitive)
        rows = [{"who": "`classes`", **ours}, row("tables", "pyCANON", theirs)]
        rows.append(sdcmicro(released, ",".join(quasi), sensitive))
        for checked in rows:
            if "k" in checked:
                checked["answer"] = {name: checked[name] for name in ("k", "l", "t")}
        tasks.append({"task": f"k, ℓ, t for {sensitive}, Adult", "rows": rows})
    return tasks


def sdcmicro(*words: str) -> Answer:
    """Return what sdcMicro makes of k and ℓ, where this machine has it."""
    if not shutil.which("Rscript"):
        return {"who": "sdcMicro", "failed": "not run: no Rscript here"}
    if not run("Rscript", "-e", "library(sdcMicro)").ok:
        return {"who": "sdcMicro", "failed": "not run: this R has no sdcMicro"}
    result = result_of(run("timeout", LIMIT, "Rscript", "-e", SDCMICRO, *words))
    return {"who": f"sdcMicro {result.get('version', '')}".strip(), **result}


# --- shares estimated from perturbed values, and the similarity of two columns ---------------------------------------

SHARES = """
import json, sys
import numpy as np, polars as pl, noren
from noren.data.schema import Schema

folder, rho = sys.argv[1], float(sys.argv[2])
truth = pl.read_parquet(folder + "/million.parquet")["education"]
names = sorted(truth.unique().to_list())
schema = Schema.of({"kind": "table", "columns": {"education": {"role": "quasi", "domain": names}}})
release = noren.protect(noren.Table.of(truth.to_frame(), schema), "retention", rho=rho, seed=1)
release.public.frame.write_parquet(folder + "/reports.parquet")
spent, found = timed(lambda: noren.reconstruct(release, "ml").margin(["education"]))
share = np.array([(truth == name).mean() for name in names])
answer = dict(zip(names, (found / found.sum()).tolist()))
print(json.dumps({"spent": spent, "answer": answer, "error": float(np.abs(found / found.sum() - share).sum())}))
"""

SHARES_PEER = """
import json, sys
import numpy as np, polars as pl

folder, rho, way = sys.argv[1], float(sys.argv[2]), sys.argv[3]
texts = pl.read_parquet(folder + "/reports.parquet")["education"]
names = texts.unique().sort().to_list()
m = len(names)
keep = rho + (1 - rho) / m
epsilon = float(np.log(keep * (m - 1) / (1 - keep)))
if way != "inversion":
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_IBU, GRR_Aggregator_MI
    estimate = {"MI": GRR_Aggregator_MI, "IBU": GRR_Aggregator_IBU}[way]


def work():
    reports = texts.cast(pl.Enum(names)).to_physical().to_numpy().astype(np.int64)
    if way != "inversion":
        return estimate(reports, m, epsilon)
    seen = np.bincount(reports, minlength=m) / len(reports)
    return np.linalg.solve(rho * np.eye(m) + (1 - rho) / m, seen)


spent, found = timed(work)
truth = pl.read_parquet(folder + "/million.parquet")["education"]
share = np.array([(truth == name).mean() for name in names])
answer = dict(zip(names, np.asarray(found).tolist()))
print(json.dumps({"spent": spent, "answer": answer, "error": float(np.abs(found - share).sum())}))
"""


def shares(folder: str) -> list[Task]:
    """Return estimates of shares beside multi-freq-ldpy and the inverted matrix, all from the same million texts."""
    tasks = []
    for rho in ("0.05", "0.3"):
        rows = [{"who": "`reconstruct` by ml", **our_result(SHARES, folder, rho)}]
        for way in ("MI", "IBU"):
            result = peer_result("frequencies", SHARES_PEER, folder, rho, way)
            rows.append(row("frequencies", "multi-freq-ldpy", result, way))
        result = peer_result("frequencies", SHARES_PEER, folder, rho, "inversion")
        rows.append(row("frequencies", "numpy", result, "`linalg.solve`"))
        tasks.append({"task": f"16 shares, ρ = {rho}, a million", "rows": rows})
    return tasks


PAIRS = """
import json, sys
import polars as pl, noren

folder = sys.argv[1]
columns = ["education", "occupation"]
given = noren.Table.of(
    pl.read_parquet(folder + "/million.parquet", columns=columns),
    noren.Schema.of({"kind": "table", "columns": {name: {"role": "quasi"} for name in columns}}),
)
release = noren.protect(given, "retention", rho=0.5, seed=1, domains="data", reconstruct="none")
release.public.frame.write_csv(folder + "/pairs.csv")
spent, found = timed(lambda: noren.measure(given, release, "l1-precision"))
print(json.dumps({"spent": spent, "answer": {"similarity": found.parts["perturbed"]}}))
"""

PAIRS_PEER = """
import json, sys, warnings
import pandas as pd
from sdmetrics.column_pairs import ContingencySimilarity

warnings.filterwarnings("ignore")
columns = ["education", "occupation"]
real, released = (pd.read_csv(f"{sys.argv[1]}/{name}.csv")[columns] for name in ("million", "pairs"))
spent, found = timed(lambda: ContingencySimilarity.compute(real, released))
print(json.dumps({"spent": spent, "answer": {"similarity": float(found)}}))
"""


def similarity(folder: str) -> list[Task]:
    """Return how similar two columns' joint counts are after retention, beside SDMetrics."""
    ours = our_result(PAIRS, folder)
    theirs = peer_result("elsewhere", PAIRS_PEER, folder)
    rows = [{"who": "`l1-precision`", **ours}, row("elsewhere", "SDMetrics", theirs, "`ContingencySimilarity`")]
    return [{"task": "joint counts of two columns, a million", "rows": rows}]


# --- sets of items ---------------------------------------------------------------------------------------------------

SETS = """
import hashlib, json, sys
import polars as pl, noren

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
    spent, guess = timed(lambda: noren.attack(history, release, "jaccard"))
    print(json.dumps({"spent": spent, "answer": {"mean similarity": guess.notes["mean_similarity"]}}))
else:
    from noren.kernels.items.item_similarity import basket_matrix, frequent_sets
    frame = pl.read_parquet(file)
    names = frame["item"].unique().sort()
    codes = [frame[c].rank("dense").cast(pl.Int64).to_numpy() - 1 for c in ("customer", "item")]
    matrix = basket_matrix(*codes, len(names))
    spent, found = timed(lambda: frequent_sets(matrix, int(0.02 * customers), 3))
    sets = sorted(sorted(names.gather(items).to_list()) for size in found for items in size.tolist())
    print(json.dumps({"spent": spent, "answer": {"itemsets": hashlib.sha256(json.dumps(sets).encode()).hexdigest()}}))
"""

SETS_PEER = """
import hashlib, json, sys
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


if way in ("apriori", "fpgrowth"):
    from mlxtend.frequent_patterns import apriori, fpgrowth
    frame = pd.DataFrame(matrix(known), columns=items)
    frequent = {"apriori": apriori, "fpgrowth": fpgrowth}[way]
    spent, found = timed(lambda: frequent(frame, min_support=0.02, max_len=3))
    sets = sorted(sorted(items[at] for at in some) for some in found["itemsets"])
    answer = {"itemsets": hashlib.sha256(json.dumps(sets).encode()).hexdigest()}
elif way == "sets":
    ours = [set(g) for _, g in known.groupby("customer")["item"]]
    theirs = [set(g) for _, g in public.groupby("customer")["item"]]
    spent, best = timed(lambda: [max(len(a & b) / len(a | b) for a in ours) for b in theirs])
    answer = {"mean similarity": float(np.mean(best))}
else:
    from sklearn.metrics import pairwise_distances_chunked
    a, b = matrix(public), matrix(known)
    parts = lambda: pairwise_distances_chunked(a, b, metric="jaccard")
    spent, best = timed(lambda: np.concatenate([part.min(axis=1) for part in parts()]))
    answer = {"mean similarity": 1 - float(best.mean())}
print(json.dumps({"spent": spent, "answer": answer}))
"""


def sets(folder: str, customers: Iterable[int]) -> list[Task]:
    """Return the most similar sets beside plain sets and scikit-learn, frequent ones beside mlxtend."""
    tasks = []
    for count in customers:
        result_of(run_python(SETS, folder, str(count), "write"))
        asked = partial(peer_result, "itemsets", SETS_PEER, folder, str(count))
        rows = [{"who": "`jaccard`", **our_result(SETS, folder, str(count), "jaccard")}]
        rows.append({"who": "plain Python sets", **asked("sets")})
        rows.append(row("itemsets", "scikit-learn", asked("sklearn")))
        tasks.append({"task": f"most similar baskets, {count:,} × {count:,}", "rows": rows})
        rows = [{"who": "itemsets", **our_result(SETS, folder, str(count), "itemsets")}]
        rows += [row("itemsets", "mlxtend", asked(way), f"`{way}`") for way in ("apriori", "fpgrowth")]
        tasks.append({"task": f"frequent itemsets, {count:,} baskets", "rows": rows})
    return tasks


# --- linking rows of tables ------------------------------------------------------------------------------------------

LINKS = """
import json, sys
import polars as pl, noren
from noren.data.schema import Schema

folder, rows = sys.argv[1], int(sys.argv[2])
schema = Schema.preset("adult")
given = noren.Table.of(pl.read_parquet(folder + "/adult.parquet")[:rows], schema)
release = noren.protect(given, "mondrian", k=5, seed=1)
release.to_polars().write_parquet(folder + "/released.parquet")
given.frame.write_parquet(folder + "/known.parquet")
spent, guess = timed(lambda: noren.attack(given, release, "row-linkage"))
print(json.dumps({"spent": spent}))
"""

LINKS_PEER = """
import json, sys
import pandas as pd
from anonymeter.evaluators import LinkabilityEvaluator

folder, quasi = sys.argv[1], json.loads(sys.argv[2])
known, released = (pd.read_parquet(f"{folder}/{name}.parquet")[quasi].astype(str) for name in ("known", "released"))
half = len(quasi) // 2
known, control = known[: len(known) // 2], known[len(known) // 2 :]


def work():
    asked = LinkabilityEvaluator(
        ori=known, syn=released, control=control, n_attacks=min(2000, len(control)),
        aux_cols=(quasi[:half], quasi[half:]), n_neighbors=5,
    )
    asked.evaluate(n_jobs=1)
    return asked.risk().value


print(json.dumps({"spent": timed(work)[0]}))
"""


def links(folder: str, rows: int) -> list[Task]:
    """Return linking rows of a table: ours asks about every row, Anonymeter about 2,000 of them."""
    ours = our_result(LINKS, folder, str(rows))
    theirs = peer_result("linkability", LINKS_PEER, folder, json.dumps(QUASI))
    lines = [{"who": "`row-linkage`", **ours}, row("linkability", "Anonymeter", theirs, "2,000 of them")]
    return [{"task": f"linking {rows:,} rows", "rows": lines}]


# --- ARX -------------------------------------------------------------------------------------------------------------

ARX = """
import java.nio.charset.StandardCharsets;
import java.util.*;
import org.deidentifier.arx.*;
import org.deidentifier.arx.AttributeType.Hierarchy;
import org.deidentifier.arx.criteria.KAnonymity;
import org.deidentifier.arx.metric.Metric;

public class Peer {
    public static void main(String[] given) throws Exception {
        String file = given[0], hierarchies = given[1];
        List<String> quasi = Arrays.asList(given[2].split(","));
        Data data = Data.create(file, StandardCharsets.UTF_8, ',');
        for (int at = 0; at < data.getHandle().getNumColumns(); at++) {
            String name = data.getHandle().getAttributeName(at);
            if (!quasi.contains(name)) {
                data.getDefinition().setAttributeType(name, AttributeType.INSENSITIVE_ATTRIBUTE);
                continue;
            }
            String levels = hierarchies + "/adult_hierarchy_" + name + ".csv";
            data.getDefinition().setAttributeType(name, Hierarchy.create(levels, StandardCharsets.UTF_8, ';'));
        }
        double spent = Double.MAX_VALUE;
        DataHandle out = null;
        for (int round = 0; round < 3; round++) {
            data.getHandle().release();
            ARXConfiguration asked = ARXConfiguration.create();
            asked.addPrivacyModel(new KAnonymity(5));
            asked.setSuppressionLimit(0.05d);
            asked.setQualityModel(Metric.createDiscernabilityMetric());
            java.lang.management.ThreadMXBean watch = java.lang.management.ManagementFactory.getThreadMXBean();
            long start = watch.getCurrentThreadCpuTime();
            out = new ARXAnonymizer().anonymize(data, asked).getOutput(false);
            spent = Math.min(spent, (watch.getCurrentThreadCpuTime() - start) / 1e9);
        }
        Map<String, Long> sizes = new HashMap<>();
        long deleted = 0, squares = 0;
        for (int at = 0; at < out.getNumRows(); at++) {
            if (out.isOutlier(at)) { deleted++; continue; }
            StringBuilder cells = new StringBuilder();
            for (String name : quasi) cells.append(out.getValue(at, out.getColumnIndexOf(name))).append('|');
            sizes.merge(cells.toString(), 1L, Long::sum);
        }
        for (long size : sizes.values()) squares += size * size;
        squares += deleted * out.getNumRows();
        System.out.println("{\\"spent\\": " + spent + ", \\"answer\\": {\\"discernibility\\": " + squares + "}}");
    }
}
"""

OURS_LIKE_ARX = """
import json, sys
import polars as pl, noren
from noren.data.schema import Schema

file, hierarchies, quasi = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
given = noren.Table.of(pl.read_parquet(file), Schema.preset("adult"))
asked = {"k": 5, "suppression": 0.05, "hierarchies": hierarchies, "quasi": quasi, "loss": "discernibility"}
spent, release = timed(lambda: noren.protect(given, "hierarchy", seed=1, audit=False, **asked))
sizes = release.public.frame.group_by(quasi).len()["len"].cast(pl.Int64)
deleted = len(given.frame) - len(release.public.frame)
answer = {"discernibility": int((sizes * sizes).sum()) + deleted * len(given.frame)}
print(json.dumps({"spent": spent, "answer": answer}))
"""


def arx(folder: str, jar: Path | None) -> list[Task]:
    """Return the best levels by discernibility beside ARX, whose machine is warm from the second round on."""
    tasks = []
    if jar:
        code = Path(folder) / "Peer.java"
        code.write_text(ARX, encoding="utf-8")
        compiled = run("javac", "-cp", str(jar), "-d", folder, str(code))
    for rows, file in (("Adult", "adult"), ("a million", "million")):
        theirs: Answer = {"failed": NO_JAR}
        if jar and not compiled.ok:
            theirs = result_of(compiled)
        elif jar:
            words = ("-Xmx4g", "-cp", f"{jar}:{folder}", "Peer", f"{folder}/{file}.csv", str(HIERARCHIES))
            theirs = result_of(run("timeout", LIMIT, "java", *words, ",".join(QUASI)))
        who = f"ARX {''.join(re.findall(r'[0-9.]+[0-9]', jar.name)[:1])}".strip() if jar else "ARX"
        ours = our_result(OURS_LIKE_ARX, f"{folder}/{file}.parquet", str(HIERARCHIES), json.dumps(QUASI))
        tasks.append(
            {
                "task": f"best levels by discernibility, {rows}",
                "rows": [{"who": "`hierarchy`", **ours}, {"who": who, **theirs}],
            }
        )
    return tasks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the large table")
    parser.add_argument("--customers", type=int, nargs="+", default=[1_000, 4_000])
    parser.add_argument("--links", type=int, default=10_000, help="rows of the table whose rows are linked")
    parser.add_argument("--arx", type=Path, help="the jar of ARX, such as libarx-3.9.2.jar")
    options = parser.parse_args()
    tasks: list[Task] = []
    with prepared(options.rows) as folder:
        parts: list[Callable[[], list[Task]]] = [
            partial(classes_of, folder),
            partial(arx, folder, options.arx),
            partial(checkers, folder),
            partial(shares, folder),
            partial(similarity, folder),
            partial(sets, folder, options.customers),
            partial(links, folder, options.links),
        ]
        for part in parts:
            tasks += part()
            print(json.dumps(tasks[-1]), file=sys.stderr, flush=True)
    measured = {"tasks": tasks, "machine": facts("polars", "numba", "numpy")}
    (RESULTS / "peers.json").write_text(json.dumps(measured, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    subprocess.run([sys.executable, str(PAGES)], check=True)


if __name__ == "__main__":
    main()
