"""A CSV larger than anybody wants in memory, converted to Parquet: peak memory and speed, next to Polars and PyArrow.

The bar is less than 1 GB of peak resident memory for Noren. The floor is a plain copy of the same file.

    python benchmarks/bench_convert.py [--bytes 2000000000]
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path

from machine import REPEATS, Run, facts, report, run_python, runs_in_turns, table

BAR = 1_000_000_000

GENERATE = """
import io, sys
import polars as pl
from noren.data.samples.generator import generate

path, size = sys.argv[1], int(sys.argv[2])
block = pl.concat(generate(customers=4_000, rows=400_000, items=3_000, seed=1))
text = io.BytesIO()
block.write_csv(text, date_format="%Y/%m/%d", time_format="%H:%M")
header, rows = text.getvalue().split(b"\\n", 1)
with open(path, "wb") as file:
    file.write(header + b"\\n")
    while file.tell() < size:
        file.write(rows)
"""

GUESS = """
import sys
from noren.data.guessing.schema_guess import guess_schema
open(sys.argv[2], "w").write(guess_schema(sys.argv[1]).schema.to_toml())
"""

COPY = """
import os, sys
with open(sys.argv[1], "rb") as source, open(sys.argv[2], "wb") as target:
    while block := source.read(8 << 20):
        target.write(block)
    target.flush()
    os.fsync(target.fileno())
"""

READ = """
import sys
with open(sys.argv[1], "rb") as source:
    while source.read(8 << 20):
        pass
"""

NOREN = """
import sys
from noren.data.reading import convert
print(convert(sys.argv[1], sys.argv[2], sys.argv[3]))
"""

NOREN_GUESSING = """
import sys
from noren.data.reading import convert
print(convert(sys.argv[1], sys.argv[2]))
"""

POLARS = """
import sys
import polars as pl
text = dict.fromkeys(["customer", "invoice", "item", "description", "country", "date", "time"], pl.String)
frame = pl.scan_csv(sys.argv[1], schema_overrides=text | {"price": pl.Float64, "quantity": pl.Int64})
frame = frame.with_columns(pl.col("date").str.to_date("%Y/%m/%d"), pl.col("time").str.to_time("%H:%M"))
frame.sink_parquet(sys.argv[2], compression="zstd")
print(pl.scan_parquet(sys.argv[2]).select(pl.len()).collect().item())
"""

PYARROW = """
import sys
import pyarrow as pa, pyarrow.csv as csv, pyarrow.parquet as pq
text = dict.fromkeys(["customer", "invoice", "item", "description", "country", "time"], pa.string())
types = text | {"date": pa.timestamp("s"), "price": pa.float64(), "quantity": pa.int64()}
options = csv.ConvertOptions(column_types=types, timestamp_parsers=["%Y/%m/%d"])
reader = csv.open_csv(sys.argv[1], csv.ReadOptions(block_size=8 << 20), convert_options=options)
rows = 0
with pq.ParquetWriter(sys.argv[2], reader.schema, compression="zstd") as writer:
    for batch in reader:
        rows += batch.num_rows
        writer.write_batch(batch)
print(rows)
"""


PROGRAMS = {
    "plain copy, to the disk": COPY,
    "reading the bytes alone": READ,
    "Noren, schema given": NOREN,
    "Noren, schema guessed": NOREN_GUESSING,
    "Polars scan_csv → sink_parquet": POLARS,
    "PyArrow open_csv → ParquetWriter": PYARROW,
}


def row(name: str, done: Run, size: int, floor: Run, written: int) -> list[str]:
    if not done.ok:
        print(done.output, file=sys.stderr)
        return [name, "failed", "", "", "", "", ""]
    return [
        name,
        f"{done.seconds:.1f}",
        f"{size / done.seconds / 1e6:,.0f}",
        f"{done.seconds / floor.seconds:.1f}",
        f"{done.processor_seconds:.1f}",
        f"{done.peak_bytes / 1e6:,.0f}",
        f"{written / 1e6:,.0f}" if written else "",
    ]


def must(done: Run) -> Run:
    if not done.ok:
        sys.exit(done.output)
    return done


def measured(folder: Path, size: int) -> tuple[int, dict[str, Run], dict[str, int]]:
    """Return the size of the source, and of each program its run and the bytes it wrote."""
    source, schema = folder / "source.csv", folder / "schema.toml"
    must(run_python(GENERATE, str(source), str(size)))
    must(run_python(GUESS, str(source), str(schema)))
    targets = {name: folder / f"target{number}.parquet" for number, name in enumerate(PROGRAMS)}
    starts = [
        partial(run_python, code, str(source), str(targets[name]), str(schema)) for name, code in PROGRAMS.items()
    ]
    runs = dict(zip(PROGRAMS, runs_in_turns(starts), strict=True))
    return source.stat().st_size, runs, {name: t.stat().st_size if t.exists() else 0 for name, t in targets.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bytes", type=int, default=2_000_000_000)
    size = parser.parse_args().bytes
    with tempfile.TemporaryDirectory(prefix="noren-bench-") as folder:
        if shutil.disk_usage(folder).free < 3 * size:
            sys.exit(f"{folder} needs {3 * size / 1e9:.0f} GB of free disk; set TMPDIR to a larger one")
        size, runs, written = measured(Path(folder), size)
    noren, floor = runs["Noren, schema given"], runs["plain copy, to the disk"]
    counts = {int(done.output) for done in runs.values() if done.ok and done.output}
    if not noren.ok or len(counts) != 1:
        verdict = f"Something went wrong: the programs found {sorted(counts)} rows."
    else:
        outcome = "is kept" if noren.peak_bytes < BAR else "**is missed**"
        verdict = (
            f"A CSV file of {size / 1e6:,.0f} MB ({counts.pop():,} rows, 9 columns) to Parquet (zstd), {REPEATS} rounds"
            " of fresh processes in turns: the run of median wall time, and the highest peak of memory of the rounds."
            f" The bar of {BAR / 1e6:,.0f} MB peak memory {outcome}: {noren.peak_bytes / 1e6:,.0f} MB."
        )
    report(
        "convert",
        "Converting a large file",
        verdict,
        table(
            ["", "seconds", "MB/s", "× the copy", "processor seconds", "peak memory, MB", "written, MB"],
            [row(name, done, size, floor, written[name]) for name, done in runs.items()],
        ),
        "The file lies in the page cache for all of them. Noren also looks for NUL bytes, a wrong encoding, unclosed"
        " quotes and ragged rows, and checks every value against the schema; the others do not, and PyArrow leaves the"
        " time of day as text. Polars writes with its own settings for row groups.",
        facts("noren", "polars", "pyarrow"),
    )


if __name__ == "__main__":
    main()
