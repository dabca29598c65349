"""Ten million rows of sample data, generated and written to CSV by the command line: seconds and peak memory.

python benchmarks/bench_sample.py [--rows 10000000]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from machine import facts, report, run, table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    most = parser.parse_args().rows
    rows = []
    with tempfile.TemporaryDirectory(prefix="noren-bench-") as folder:
        for count in sorted({most // 10, most}):
            out = Path(folder) / "sample.csv"
            arguments = ("--customers", str(count // 100), "--rows", str(count), "--items", "4000", "--seed", "1")
            done = run(sys.executable, "-m", "noren", "sample", *arguments, "--out", str(out))
            if not done.ok:
                sys.exit(f"noren sample ended with {done.code}: {done.output.strip()[-500:]}")
            size = out.stat().st_size
            rows.append(
                [
                    f"{count:,}",
                    f"{count // 100:,}",
                    f"{done.seconds:.1f}",
                    f"{count / done.seconds:,.0f}",
                    f"{size / done.seconds / 1e6:,.0f}",
                    f"{done.processor_seconds:.1f}",
                    f"{done.peak_bytes / 1e6:,.0f}",
                    f"{size / 1e6:,.0f}",
                ]
            )
            out.unlink()
    head = ["rows", "customers", "seconds", "rows/s", "MB/s", "processor seconds", "peak memory, MB", "written, MB"]
    report(
        "sample",
        "Generating sample data",
        "`noren sample --items 4000 --seed 1 --out sample.csv`, each in a fresh process, once.",
        table(head, rows),
        facts("noren", "numpy", "polars"),
    )


if __name__ == "__main__":
    main()
