"""Compile kernels ahead of their first use: ``python -m noren.compile_ahead [FOLDER]``.

Kernels and types are those of real use: the whole demo, and every method, attack and measure on a few customers and
people. Two processes work side by side and share what they compile.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from noren.kernels.caching import all_sources, source_stamp
from noren.kernels.compiling import ELSEWHERE, OBJECTS, baseline, makers

if TYPE_CHECKING:
    from noren.data.frames import Records

MADE_OF: Final = "made_of.json"
_DEMO: Final = ("noren", "demo", "--customers", "60", "--rows", "2000", "--out")
_REST: Final = ("noren.compile_ahead", "--rest")


def compile_ahead(folder: Path = OBJECTS) -> int:
    """Compile what real use needs into a folder, unless it is there already; return how many kernels it holds."""
    uses = source_stamp(Path(__file__))
    made_of = {"sources": all_sources(), "uses": uses, "processor": baseline(), "makers": makers()}
    stamp = json.dumps(made_of, indent=1) + "\n"
    if not (folder / MADE_OF).is_file() or (folder / MADE_OF).read_text(encoding="utf-8") != stamp:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".objects-") as aside:
            _use_everything(Path(aside))
            (Path(aside) / MADE_OF).write_text(stamp, encoding="utf-8")
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(aside, folder)
    return len(list(folder.glob("*.bin")))


def _use_everything(objects: Path) -> None:
    """Run the demo and the rest, both writing what they compile to one folder."""
    processor = baseline()
    surroundings = os.environ | {ELSEWHERE: str(objects)}
    if processor is not None:
        surroundings |= dict(zip(("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"), processor, strict=True))
    with tempfile.TemporaryDirectory() as place:
        surroundings["NUMBA_CACHE_DIR"] = f"{place}/kept"  # what Numba kept for this machine alone is no help
        running = [
            subprocess.Popen(
                [sys.executable, "-m", *words, f"{place}/{i}"],
                env=surroundings,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                encoding="utf-8",
            )
            for i, words in enumerate((_DEMO, _REST))
        ]
        complaints = [process.communicate()[1] for process in running]
    for process, complaint in zip(running, complaints, strict=True):
        if process.returncode:
            raise SystemExit(complaint)


def _samples(place: Path) -> Iterator[tuple[Records, str, dict[str, object]]]:
    """Yield small data sets, each with the methods to run and their parameters."""
    from noren import api
    from noren.data.frames import Table
    from noren.data.hierarchies import mask_hierarchy, write_hierarchy
    from noren.data.samples.people import sample_people
    from noren.data.schema import Schema

    parameters: dict[str, object] = {"k": 3, "effort": "quick", "clusters": 5, "share": 0.3}
    yield api.sample(customers=18, rows=3_600, seed=1), "all", parameters  # long histories: the demo's are short
    people = sample_people(rows=200, seed=1).frame.select("age", "region", "illness")
    region, illness = (sorted(set(people[name])) for name in ("region", "illness"))
    columns = {
        "age": {"role": "quasi", "type": "integer", "minimum": 0, "maximum": 99},
        "region": {"role": "quasi", "domain": region},
        "illness": {"role": "sensitive", "domain": illness},
    }
    place.mkdir()
    for name in ("age", "region"):
        write_hierarchy(mask_hierarchy(name, map(str, people[name])), place / f"{name}.csv")
    table = Table.of(people, Schema.of({"kind": "table", "columns": columns}))
    yield table, "hierarchy,microaggregate,mondrian", {"k": 2, "hierarchies": place}


def main() -> None:
    """Compile into the folder given, or beside the kernels."""
    words = sys.argv[1:]
    if words[:1] == ["--rest"]:
        from noren import api
        from noren.judgement.outcome import examine
        from noren.sweeps.plan import settings_for

        # every method, then every attack and measure: by then the demo has compiled most of what those need
        releases = [
            (data, api.protect(data, setting.method, seed=1))
            for data, methods, parameters in _samples(Path(words[1]))
            for setting in settings_for(methods, parameters, data)[0]
        ]
        for data, release in releases:
            examine(data, release)
        return
    folder, start = Path(words[0]) if words else OBJECTS, time.monotonic()
    print(f"{compile_ahead(folder)} kernels compiled ahead in {time.monotonic() - start:.0f} s: {folder}")


if __name__ == "__main__":
    main()
