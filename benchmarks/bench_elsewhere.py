"""``noren judge`` on synthetic files of Adult beside Anonymeter and SDMetrics: conclusions, seconds, memory.

Four synthesisers whose leak is known: each column drawn by itself (no leak), a new sample of the population (no leak,
though rows come again by chance), the same with 30 % of rows copied from the original, and copies of rows with one or
two cells changed. All three programs get the original, the file and a control group of people who are in neither.
Compared are what each says of copies or singling out, and the risk of attribute inference for the salary, which all of
them give with an interval or as a score. A few minutes::

    python benchmarks/bench_elsewhere.py

The peers get an environment of their own with pinned versions (``benchmarks/peers/elsewhere.txt``), made at the first
run. It needs the published data beside the checkout.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
from bench_peers import LIMIT, peer, result_of
from machine import facts, report, run, run_python, table

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
COLUMNS = (
    "age",
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "race",
    "sex",
    "native-country",
    "salary-class",
)
ROWS = 8_000
SEED = 1

OURS = """
import json, sys, time
import noren

folder, name, *quasi = sys.argv[1:]
roles = dict.fromkeys(quasi, "quasi") | {"salary-class": "sensitive"}
files = [f"{folder}/{file}.csv" for file in ("original", name, "control")]
start = time.process_time()
verdict = noren.judge(files[0], files[1], schema=roles, control=files[2])
spent = time.process_time() - start
copies, inferred = verdict.facts.foreign.copies, {}
for one in verdict.facts.inferred:
    number = one.numbers["risk" if one.threat == "attribute" else "tpr at 0.1"]
    old = inferred.get(one.threat)
    if old is None or number.value > old[0]:
        inferred[one.threat] = [number.value, number.low, number.high]
print(json.dumps({
    "spent": spent, "verdict": str(verdict.status), "flaws": [str(flaw.code) for flaw in verdict.flaws],
    "copies": None if copies is None else [copies.copied, copies.expected, copies.rows, copies.beyond],
} | inferred))
"""

ANONYMETER = """
import json, sys, time, warnings
import numpy as np, pandas as pd
warnings.filterwarnings("ignore")
from anonymeter.evaluators import InferenceEvaluator, SinglingOutEvaluator
folder, name = sys.argv[1:]
ori, syn, control = (pd.read_csv(f"{folder}/{file}.csv") for file in ("original", name, "control"))
np.random.seed(1)
start = time.process_time()
found = {}
known = [n for n in ori.columns if n != "salary-class"]
guess = InferenceEvaluator(ori, syn, control=control, aux_cols=known, secret="salary-class", n_attacks=1000)
risk = guess.evaluate(n_jobs=1).risk()
found["attribute"] = [risk.value, *risk.ci]
try:
    out = SinglingOutEvaluator(ori, syn, control=control, n_attacks=500, n_cols=5)
    risk = out.evaluate(mode="multivariate").risk()
    found["singling"] = [risk.value, *risk.ci]
except Exception as error:
    found["singling"] = str(error)[:60]
print(json.dumps({"spent": time.process_time() - start} | found))
"""

SDMETRICS = """
import json, sys, time, warnings
import pandas as pd
warnings.filterwarnings("ignore")
from sdmetrics.single_table import DCROverfittingProtection, NewRowSynthesis
folder, name = sys.argv[1:]
ori, syn, control = (pd.read_csv(f"{folder}/{file}.csv") for file in ("original", name, "control"))
types = {n: {"sdtype": "numerical" if n == "age" else "categorical"} for n in ori.columns}
about = {"metadata": {"tables": {"people": {"columns": types}}}, "table_name": "people"}
start = time.process_time()
found = {}
for against, rows in (("new", ori), ("new_control", control)):
    found[against] = NewRowSynthesis.compute(
        rows, syn, **about, numerical_match_tolerance=1e-9, synthetic_sample_size=2000
    )
found["dcr"] = DCROverfittingProtection.compute(ori, syn, control, **about, num_rows_subsample=1000)
print(json.dumps({"spent": time.process_time() - start} | found))
"""


def write_files(folder: Path) -> list[str]:
    """Write the original, the control group and what four synthesisers make of the original."""
    names = list(COLUMNS)
    raw = pl.read_csv(SHARED / "adult.data", has_header=False).with_columns(pl.col(pl.String).str.strip_chars())
    places = (0, 1, 3, 5, 6, 8, 9, 13, 14)
    rows = raw.select(pl.nth(at).alias(name) for at, name in zip(places, names, strict=True)).drop_nulls()
    rows = rows.sample(len(rows), shuffle=True, seed=SEED)
    original, control, fresh = rows[:ROWS], rows[ROWS : 2 * ROWS], rows[2 * ROWS : 3 * ROWS]
    draw = np.random.default_rng(SEED)
    apart = original.select(
        pl.col(name).sample(pl.len(), with_replacement=True, seed=at) for at, name in enumerate(names)
    )
    taken = original[draw.integers(0, ROWS, ROWS).tolist()]
    some = pl.Series(draw.random(ROWS) < 0.3)
    copied = fresh.select(pl.when(some).then(taken[name]).otherwise(fresh[name]).alias(name) for name in names)
    changed = pl.DataFrame({n: draw.random(ROWS) < 0.15 for n in names})
    noisy = taken.select(pl.when(changed[name]).then(apart[name]).otherwise(taken[name]).alias(name) for name in names)
    made = {"independent": apart, "fresh sample": fresh, "30 % copied": copied, "noisy copies": noisy}
    for name, frame in {"original": original, "control": control, **made}.items():
        frame.write_csv(folder / f"{name}.csv")
    return list(made)


def interval(found: object) -> str:
    """Format a share with its interval, in percent."""
    if not isinstance(found, list):
        return str(found or "–")
    value, low, high = (100 * float(part) for part in found)
    return f"{value:.1f} ({low:.1f} to {high:.1f})"


def overlap(ours: object, theirs: object) -> str:
    """Tell whether two intervals have a point in common."""
    if not isinstance(ours, list) or not isinstance(theirs, list):
        return "–"
    return "yes" if ours[1] <= theirs[2] and theirs[1] <= ours[2] else "no"


def main() -> None:
    lines, risks, costs = [], [], []
    with TemporaryDirectory() as place:
        folder = Path(place)
        for name in write_files(folder):
            ours = result_of(run_python(OURS, place, name, *COLUMNS[:-1]))
            python = peer("elsewhere")
            theirs = result_of(run("timeout", LIMIT, python, "-c", ANONYMETER, place, name))
            scores = result_of(run("timeout", LIMIT, python, "-c", SDMETRICS, place, name))
            copies, new, usual = ours.get("copies"), scores.get("new"), scores.get("new_control")
            mine = f"{copies[0]:,} ({copies[1]:,.0f})" if isinstance(copies, list) else str(ours.get("failed", "–"))
            again = f"{100 * (1 - float(new)):.1f} ({100 * (1 - float(usual)):.1f})" if isinstance(new, float) else "–"
            said = ", ".join(map(str, ours.get("flaws", []))) or "none"
            singling = theirs.get("singling", theirs.get("failed"))
            lines.append(
                [name, str(ours.get("verdict")), said, mine, again, interval(singling), f"{scores.get('dcr')}"]
            )
            attribute = ours.get("attribute"), theirs.get("attribute", theirs.get("failed"))
            risks.append([name, interval(ours.get("membership")), *map(interval, attribute), overlap(*attribute)])
            cells = [
                f"{r.get('spent', 0):.1f} s, {float(str(r.get('peak', 0))) / 1e9:.2f} GB"
                for r in (ours, theirs, scores)
            ]
            costs.append([name, *cells])
    head = ["", "verdict", "flaws", "copied rows (expected)", "SDMetrics: rows not new, % (of control)"]
    report(
        "elsewhere",
        "Synthetic files of Adult: noren judge beside Anonymeter and SDMetrics",
        f"{ROWS:,} rows of Adult, nine columns, as original; as many as control. Copied rows equal a row that comes "
        "once in the original or, where fewer than half of the rows fit anybody (the first two files), are of 1,500 "
        "rows those at least twice as near to one person as to anybody else; expected is what the control group gives. "
        "SDMetrics looks at 2,000 rows for new ones "
        "and at 1,000 for distances (1: no nearer to the original than to control).",
        table([*head, "Anonymeter: singling out, %", "SDMetrics: DCR overfitting"], lines),
        "Inference with intervals of 95 %, in percent: membership is the true positive rate at 10 % false positives; "
        "attribute the risk of telling the salary beyond the control group, which both define alike.",
        table(["", "membership, ours", "attribute, ours", "attribute, Anonymeter", "intervals meet"], risks),
        "Processor seconds of the work, and the peak of the whole process.",
        table(["", "noren judge", "Anonymeter", "SDMetrics"], costs),
        facts("noren", "polars", "numpy"),
    )


if __name__ == "__main__":
    main()
