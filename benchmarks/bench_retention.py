"""Retention over a stream: seconds and peak memory as the rows grow, beside plain copying of the same file.

python benchmarks/bench_retention.py [--rows 1000000,10000000,100000000] [--folder where]

Each run is a child process; the file is made of generated rows of three attributes (5, 2 and 42 values), and deleted
afterwards. The floor is what Polars takes to read the file and write it again (`scan_parquet(…).sink_parquet(…)`); that
neither looks at values nor changes their order.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from machine import facts, report, run_python, table

MAKE = """
import sys
import numpy as np, polars as pl, pyarrow.parquet as pq
rows, path = int(sys.argv[1]), sys.argv[2]
writer = None
for first in range(0, rows, 1_000_000):
    draws = np.random.default_rng(first)
    n = min(1_000_000, rows - first)
    block = pl.DataFrame({name: pl.Series([f"{name}{v}" for v in range(m)]).gather(pl.Series(draws.integers(0, m, n)))
                          for name, m in (("race", 5), ("sex", 2), ("country", 42))}).to_arrow()
    writer = writer or pq.ParquetWriter(path, block.schema, compression="zstd")
    writer.write_table(block)
writer.close()
"""
PROTECT = """
import sys
from noren.data.schema import Schema
from noren.methods.retention import Retention
from noren.methods.retention import protect_file
columns = {name: {"role": "quasi", "domain": [f"{name}{v}" for v in range(m)]}
           for name, m in (("race", 5), ("sex", 2), ("country", 42))}
said = protect_file(sys.argv[1], sys.argv[2], Retention(k=2), Schema.of({"kind": "table", "columns": columns}), seed=1)
print(said.notes["attributes"][0]["rho"])
"""
COPY = """
import sys
import polars as pl
pl.scan_parquet(sys.argv[1]).sink_parquet(sys.argv[2], compression="zstd")
"""
HEAD = [
    "rows",
    "seconds",
    "processor seconds",
    "peak MB",
    "million rows/s",
    "copy: seconds",
    "processor seconds",
    "peak MB",
    "times the copy's processor seconds",
    "rho",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default="1000000,10000000,100000000")
    parser.add_argument("--folder", help="where to put the files; a temporary folder where left out")
    options = parser.parse_args()
    lines = []
    with TemporaryDirectory(dir=options.folder) as folder:
        for rows in (int(n) for n in options.rows.split(",")):
            source = Path(folder) / f"{rows}.parquet"
            made = run_python(MAKE, str(rows), str(source))
            done = run_python(PROTECT, str(source), str(Path(folder) / f"r{rows}"))
            copied = run_python(COPY, str(source), str(Path(folder) / "copy.parquet"))
            if not (made.ok and done.ok and copied.ok):
                raise SystemExit(made.output + done.output + copied.output)
            lines.append(
                [
                    f"{rows:,}",
                    f"{done.seconds:.1f}",
                    f"{done.processor_seconds:.1f}",
                    f"{done.peak_bytes / 2**20:.0f}",
                    f"{rows / done.seconds / 1e6:.2f}",
                    f"{copied.seconds:.1f}",
                    f"{copied.processor_seconds:.1f}",
                    f"{copied.peak_bytes / 2**20:.0f}",
                    f"{done.processor_seconds / copied.processor_seconds:.1f}",
                    f"{float(done.output.split()[-1]):.3f}",
                ]
            )
            source.unlink()
            (Path(folder) / "copy.parquet").unlink()
    report(
        "retention",
        "Retention over a stream",
        "Three attributes of 5, 2 and 42 values, k = 2; Parquet in, Parquet out; and Polars copying the same file.",
        table(HEAD, lines),
        facts("noren", "polars", "pyarrow", "numpy"),
    )


if __name__ == "__main__":
    main()
