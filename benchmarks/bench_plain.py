"""Cell-error, S1 to S6 and E1 to E3 beside plain Python: dictionaries and loops over rows, as a judge would write them.

python benchmarks/bench_plain.py [--repeats 5]

Everything in one run on the contests' data, in turns. Both sides start from two histories in memory; the plain side
gets their rows as text first, which is what it reads from a file, and is also timed with its rows ready. Answers are
compared before anything is timed. Processor time, medians; ours runs ten times in its turn.
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

from bench_cell_error import row_by_row
from bench_signatures import NAMES, plain
from bench_signatures import rows_of as named_rows
from machine import Times, facts, in_turns, report, table

from noren.api import measure
from noren.attacks import attacks
from noren.attacks.signatures import Signature
from noren.data.frames import History
from noren.data.reading import read, read_release
from noren.data.release import Release
from noren.measures import measures
from noren.protocols import Evidence

SHARED = Path(__file__).resolve().parents[2] / "shared"
TOP = 100
AT_ONCE = 10
"""How often ours runs in its turn: a few milliseconds are too little for the clock."""

Rows = list[dict[str, str]]
Pieces = dict[str, dict[str, int]]


# --- plain Python: the errors of recommendations (PWS Cup 2017, E1 to E3) --------------------------------------------


def pieces_of(rows: Rows) -> Pieces:
    """Return how many pieces each user bought of each item."""
    pieces: Pieces = defaultdict(dict)
    for row in rows:
        mine = pieces[row["customer"]]
        mine[row["item"]] = mine.get(row["item"], 0) + int(row["quantity"])
    return pieces


def alike(pieces: Pieces, score: Callable[[int], int], only: set[str] | None = None) -> dict[tuple[str, str], float]:
    """Return the cosine of every two items that somebody scores both of."""
    products: dict[tuple[str, str], float] = defaultdict(float)
    squares: dict[str, float] = defaultdict(float)
    for bought in pieces.values():
        scores = sorted(
            (item, score(count)) for item, count in bought.items() if score(count) and (only is None or item in only)
        )
        for at, (one, mine) in enumerate(scores):
            squares[one] += mine * mine
            for other, theirs in scores[at + 1 :]:
                products[one, other] += mine * theirs
    return {(a, b): value / math.sqrt(squares[a] * squares[b]) for (a, b), value in products.items()}


def distance(original: dict[tuple[str, str], float], released: dict[tuple[str, str], float]) -> float:
    """Return the sum of differences over the pairs that are alike in the original, over the original's sum."""
    total = sum(original.values())
    return min(sum(abs(value - released.get(pair, 0.0)) for pair, value in original.items()) / total, 1.0)


def top_items(pieces: Pieces) -> list[str]:
    buyers = Counter(item for bought in pieces.values() for item in bought)
    return sorted(buyers, key=lambda item: (buyers[item], item), reverse=True)[:TOP]


def dozens(count: int) -> int:
    return min(max(count // 12, 0), 6)


def few(count: int) -> int:
    return max(count, 0) if count < 12 else 0


def plain_errors(name: str, original: Rows, released: Rows) -> float:
    """Return E1, E2 or E3."""
    before, after = pieces_of(original), pieces_of(released)
    if name in ("e1", "e2"):
        score = dozens if name == "e1" else few
        return distance(alike(before, score), alike(after, score))
    top = set(top_items(before))
    lost = len(top - set(top_items(after))) / TOP
    return max(lost, distance(*(alike(side, lambda count: 1, top) for side in (before, after))))


# --- both sides ------------------------------------------------------------------------------------------------------

Line = tuple[str, Callable[[], object], Callable[[], object], Callable[[], object]]


def contest_of_2017() -> Iterator[Line]:
    """Yield S1 to S6 and E1 to E3: ours, the plain version from histories, the plain version with rows ready."""
    known, original, public = (
        read(path, "pwscup2017").data
        for path in (
            SHARED / "data" / "pwscup2017_T100.csv",
            SHARED / "data" / "pwscup2017_T.csv",
            SHARED / "oracles" / "pwscup2017" / "noise_light" / "S.csv.gz",
        )
    )
    assert isinstance(known, History)
    assert isinstance(original, History)
    assert isinstance(public, History)
    known_rows, rows, public_rows = named_rows(known), named_rows(original), named_rows(public)
    for name in NAMES:
        attack = attacks.create(name)
        assert isinstance(attack, Signature)
        key = tuple(str(role) for role in attack.key)
        pairs = attack.attack(known, public, seed=0).pairs.select("pseudonym", "customer", "period")
        answer = {(customer, period): pseudonym for pseudonym, customer, period in pairs.iter_rows()}
        agree(name, answer == plain(key, known_rows, public_rows))
        yield (
            name,
            lambda attack=attack: attack.attack(known, public, seed=0),
            lambda key=key: plain(key, named_rows(known), named_rows(public)),
            lambda key=key: plain(key, known_rows, public_rows),
        )
    release = read_release(SHARED / "oracles" / "pwscup2017" / "noise_light" / "AT.csv.gz", original)
    assert isinstance(release, Release)
    evidence, released = Evidence(original, release), release.public
    assert isinstance(released, History)
    released_rows = named_rows(released)
    for name in ("e1", "e2", "e3"):
        judge = measures.create(name)
        agree(name, math.isclose(judge.measure(evidence).value, plain_errors(name, rows, released_rows), rel_tol=1e-9))
        yield (
            name,
            lambda judge=judge: judge.measure(evidence),
            lambda name=name: plain_errors(name, named_rows(original), named_rows(released)),
            lambda name=name: plain_errors(name, rows, released_rows),
        )


def contest_of_2018() -> Iterator[Line]:
    """Yield cell-error."""
    data = read(SHARED / "data" / "pwscup2018_final_T.csv", "pwscup2018").data
    release = read_release(SHARED / "oracles" / "pwscup2018" / "pair_final" / "A.csv.gz", data)

    def texts(history: object) -> list[list[str]]:
        return [list(row) for row in history.texts().iter_rows()]  # type: ignore[attr-defined]

    aligned = release.aligned()
    original, released = texts(data), texts(aligned)
    agree("cell-error", math.isclose(measure(data, release, "cell-error").value, row_by_row(original, released)))
    yield (
        "cell-error",
        lambda: measure(data, release, "cell-error"),
        lambda: row_by_row(texts(data), texts(aligned)),
        lambda: row_by_row(original, released),
    )


def often(work: Callable[[], object]) -> None:
    for _ in range(AT_ONCE):
        work()


def agree(name: str, equal: bool) -> None:
    if not equal:
        raise SystemExit(f"{name} answers otherwise than the plain version")


def line(name: str, times: list[Times]) -> tuple[list[str], float]:
    ours, whole, ready = (one.processor_seconds for one in times)
    ours /= AT_ONCE
    cells = [name, *(f"{1000 * seconds:,.1f}" for seconds in (ours, whole, ready))]
    return [*cells, f"{whole / ours:.0f}", f"{ready / ours:.0f}"], whole / ours


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    lines, ratios = [], []
    for contest in (contest_of_2018, contest_of_2017):
        for name, ours, *plain_ones in contest():
            cells, ratio = line(name, in_turns([lambda ours=ours: often(ours), *plain_ones], options.repeats))
            lines.append(cells)
            ratios.append(ratio)
            print(*cells, flush=True)
    report(
        "plain",
        "Beside plain Python",
        f"From two histories in memory to the answer; processor time, medians of {options.repeats} rounds in turns, of"
        f" which ours is {AT_ONCE} runs. The"
        " plain side is dictionaries and loops over rows, and gives the same answers (checked). Its rows are texts:"
        " made from the same histories, or ready. cell-error is of the PWS Cup 2018 final data, the others of PWS Cup"
        " 2017, light noise.",
        table(["", "ours, ms", "plain, ms", "plain, rows ready, ms", "plain / ours", "rows ready / ours"], lines),
        f"The bar of 50 is kept by {sum(ratio >= 50 for ratio in ratios)} of {len(ratios)}; the least ratio is"
        f" {min(ratios):.0f}, the median {statistics.median(ratios):.0f}.",
        facts("noren", "polars", "numpy", "numba", "scipy"),
    )


if __name__ == "__main__":
    main()
