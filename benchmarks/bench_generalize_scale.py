"""What `generalize` costs as customers grow, and what blocks do to U.

python benchmarks/bench_generalize_scale.py [--part growth] [--customers 1000,10000,100000] [--seeds 11,12,13,14,15]
                                            [--method microaggregate]
python benchmarks/bench_generalize_scale.py --part blocks [--customers 4000] [--sizes 0,2000,1000,500,250]
python benchmarks/bench_generalize_scale.py --part quality --before FOLDER [--customers 500] [--seeds 11,12,13,14,15]
python benchmarks/bench_generalize_scale.py --part quality --before FOLDER --customers cdnow.parquet:1000

The first prints the mean over the seeds with its 95 % interval; the seed of generated data is that of the search, too.
The last two run this code and that of another checkout (its ``src``) on the same data, one after the other, and print
the ratio of U and of processor seconds, after to before: the mean over the seeds with its 95 % interval. Of a file so
many customers are drawn with each seed.

Each run is a process of its own: processor seconds of the method alone, once compiled, all its threads together, and
the peak of the whole process. Runs are kept as they end, so a long one can be left out or made up for later.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np
from machine import RESULTS, facts, run_python, table
from scipy import stats

ONE = """
import json, resource, sys, time
from noren.api import sample
from noren.data.reading import read
from noren.methods import methods
import numpy as np, polars as pl
from noren.data.frames import History
from noren.data.schema import Role
where, parameters, seed = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3])
where, _, few = where.partition(":")
Method = methods[parameters.pop("method")]
Method(**parameters).protect(sample(customers=60, rows=30_000, seed=1), seed=1)  # compiled, or loaded
original = sample(customers=int(where), rows=60 * int(where), seed=seed) if where.isdigit() else read(where).data
if few:  # customers drawn at random
    name = original[Role.CUSTOMER].name
    everybody = original.frame[name].drop_nulls().unique().sort()
    some = everybody.gather(np.random.default_rng(seed).permutation(len(everybody))[:int(few)])
    original = History(original.frame.filter(pl.col(name).is_in(some.implode())), original.schema)
begin = time.process_time()
release = Method(**parameters).protect(original, seed=seed)
seconds = time.process_time() - begin
notes = release.statement.notes
said = {"customers": len(original.customers), "rows": len(original), "seconds": seconds, "U": notes["U"]}
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print("RESULT", json.dumps(said | {"blocks": notes.get("blocks", 1), "deleted": release.deleted_rows, "peak": peak}))
"""
OWN = Path(__file__).parents[1] / "src"
KEPT = RESULTS / "scale_generalize.json"
PACKAGES = ("noren", "numpy", "numba", "scipy", "polars")
Said = dict[str, float]


def measured(where: str, *, seed: int = 1, source: str = "", **parameters: object) -> Said:
    """Run once in a process of its own, with the code in ``source`` if one is given, and return what it said."""
    program = f"import sys; sys.path.insert(0, {source!r})\n{ONE}" if source else ONE
    done = run_python(program, where, json.dumps({"method": "generalize", "effort": "quick"} | parameters), str(seed))
    lines = [text for text in done.output.splitlines() if text.startswith("RESULT ")]
    if not done.ok or not lines:
        sys.exit(f"{where} ended with {done.code}: {done.output.strip()[-800:]}")
    result: Said = json.loads(lines[0].removeprefix("RESULT "))
    print(where, parameters, result, flush=True)
    return result


def store(part: str, name: str, result: Said) -> None:
    """Keep a run beside those of before, and write the page anew."""
    every = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    every.setdefault(part, {})[name] = result | {"on": facts(*PACKAGES)}
    KEPT.write_text(json.dumps(every, indent=1) + "\n")
    write_page(every)


def growth_row(name: str, runs: list[Said]) -> list[str]:
    """Return the line of one size: means over its seeds, U with its interval where there are several."""
    first = runs[0]
    costs = [1000 * run["seconds"] / run["customers"] for run in runs]
    u = [run["U"] for run in runs]
    return [
        name,
        f"{first['rows']:,}",
        f"{first['blocks']:.0f}",
        f"{len(runs)}",
        f"{np.mean(costs) * first['customers'] / 1000:.0f}",
        f"{np.mean(costs):.1f}",
        mean_and_interval(u) if len(u) > 1 else f"{u[0]:.4f}",
        f"{np.mean([run['deleted'] for run in runs]):,.0f}",
        f"{max(run['peak'] for run in runs) / 1e9:.2f}",
    ]


def write_page(every: dict[str, dict[str, Said]]) -> None:
    sizes: dict[str, list[Said]] = {}
    for name, result in sorted(every.get("growth", {}).items()):
        sizes.setdefault(name.partition("; ")[0], []).append(result)
    growth = [growth_row(name, runs) for name, runs in sizes.items()]
    head = ["data", "rows", "blocks", "seeds", "processor s", "ms per customer", "U", "deleted rows", "peak GB"]
    text = [
        "# generalize: cost and U as customers grow",
        "`generalize`, or `microaggregate` where that is said; k = 3, effort quick, no lower bound. Generated "
        "customers of 60 rows each, and a wholesaler's real year. Means over the seeds, of U with its 95 % interval. "
        "Processor seconds of the method on all threads, without compilation; the highest "
        "peak memory of a whole process.",
        table(head, growth),
    ]
    cut = [
        [
            f"{result['k']:.0f}",
            "one block" if result["blocks"] == 1 else f"{result['size']:.0f}",
            f"{result['blocks']:.0f}",
            f"{result['U']:.5f}",
            f"{1000 * result['seconds'] / result['customers']:.1f}",
        ]
        for result in sorted(every.get("blocks", {}).values(), key=lambda entry: (entry["k"], entry["blocks"]))
    ]
    if cut:
        text += [
            "## U against the size of blocks",
            "Generated customers, effort quick, seed 1: one run each, so a small difference may be chance.",
            table(["k", "block", "blocks", "U", "ms per customer"], cut),
        ]
    # the load differs from run to run; it is kept with each
    stamps = sorted({str(result["on"]) for part in every.values() for result in part.values()}, reverse=True)
    text += ["\n".join(f"- {stamp}" for stamp in stamps)]
    (RESULTS / "scale_generalize.md").write_text("\n\n".join(text) + "\n", encoding="utf-8")


def mean_and_interval(ratios: list[float]) -> str:
    """Return the mean and its 95 % interval by Student's t."""
    low, high = stats.t.interval(0.95, len(ratios) - 1, np.mean(ratios), stats.sem(ratios))
    return f"{np.mean(ratios):.4f} ({low:.4f} to {high:.4f})"


def compared(customers: str, seeds: list[int], before: str, effort: str) -> None:
    """Print how U and processor seconds compare with those of another checkout."""
    u, seconds = [], []
    for seed in seeds:
        old, new = (
            measured(customers, seed=seed, source=str(src), k=3, effort=effort) for src in (Path(before) / "src", OWN)
        )
        u.append(new["U"] / old["U"])
        seconds.append(new["seconds"] / old["seconds"])
    print("U after / before", mean_and_interval(u))
    print("processor seconds after / before", mean_and_interval(seconds))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=["growth", "blocks", "quality"], default="growth")
    parser.add_argument(
        "--customers", default="", help="how many customers, with commas between; for quality also FILE:NUMBER"
    )
    parser.add_argument("--retail", default=str(Path(__file__).parents[2] / "shared/data/online_retail.parquet"))
    parser.add_argument("--sizes", default="0,2000,1000,500,250", help="block sizes; 0 is one block of all")
    parser.add_argument("--k", default="2,3")
    parser.add_argument("--effort", default="quick", help="of quality")
    parser.add_argument("--method", choices=["generalize", "microaggregate"], default="generalize", help="of growth")
    parser.add_argument("--before", help="a checkout to compare with")
    parser.add_argument("--seeds", default="11,12,13,14,15")
    options = parser.parse_args()
    seeds = [int(seed) for seed in options.seeds.split(",")]
    if options.part == "growth":
        method, data = options.method, "" if options.method == "generalize" else f"{options.method}, "
        for customers in [text for text in (options.customers or "1000,10000,100000").split(",") if text != "0"]:
            for seed in seeds:
                result = measured(customers, seed=seed, k=3, method=method)
                store("growth", f"{data}generated, {int(customers):>7,}; {seed}", result)
        if options.retail:
            for seed in seeds:
                result = measured(options.retail, seed=seed, k=3, method=method)
                store("growth", f"{data}online retail; {seed}", result)
        return
    if options.part == "quality":
        if not options.before:
            parser.error("--part quality needs --before, a checkout to compare with")
        compared(options.customers or "500", seeds, options.before, options.effort)
        return
    customers = options.customers or "4000"
    for k in map(int, options.k.split(",")):
        for size in map(int, options.sizes.split(",")):
            result = measured(customers, k=k, block=size or int(customers))
            store("blocks", f"k = {k}, {size}", result | {"k": k, "size": size})


if __name__ == "__main__":
    main()
