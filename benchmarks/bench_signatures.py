"""The attacks S1 to S6 of PWS Cup 2017 beside a plain version: two dictionaries, written row by row.

The plain version does what the contest's programs do and nothing else: a dictionary from each key to the pseudonym of
the last public row that has it, then one from customer and month to the pseudonym of the last known row that leads
anywhere. It is run twice: from the same two histories that the attack is given, and from rows of text that are ready in
memory, which leaves out the making of the text. Answers are compared before anything is timed.
"""

from __future__ import annotations

import statistics
from pathlib import Path

from machine import REPEATS, Times, facts, in_turns, report, table

from noren.api import sample
from noren.attacks import attacks
from noren.attacks.signatures import Signature
from noren.data.frames import History
from noren.data.reading import read
from noren.methods.monthly_pseudonyms import MonthlyPseudonyms

SHARED = Path(__file__).resolve().parents[2] / "shared"
NAMES = ("s1", "s2", "s3", "s4", "s5", "s6")
SAMPLE_ROWS = 500_000

Rows = list[dict[str, str]]


def rows_of(history: History) -> Rows:
    return list(history.texts().iter_rows(named=True))


def plain(key: tuple[str, ...], known: Rows, public: Rows) -> dict[tuple[str, str], str]:
    pseudonym_of: dict[tuple[str, ...], str] = {}
    for row in public:
        pseudonym_of[tuple(row[name][:2] if name == "item" else row[name] for name in key)] = row["customer"]
    guess: dict[tuple[str, str], str] = {}
    for row in known:
        pseudonym = pseudonym_of.get(tuple(row[name][:2] if name == "item" else row[name] for name in key))
        if pseudonym is not None:
            year, month, _day = row["date"].split("/")
            guess[row["customer"], f"{year}/{month}"] = pseudonym
    return guess


def compared(label: str, known: History, public: History) -> list[str]:
    """Return the paragraphs about one pair of histories."""
    known_rows, public_rows = rows_of(known), rows_of(public)
    lines, ratios, ready_ratios = [], [], []
    for name in NAMES:
        attack = attacks.create(name)
        assert isinstance(attack, Signature)
        key = tuple(str(role) for role in attack.key)
        # compiled and compared before the clock runs
        pairs = attack.attack(known, public, seed=0).pairs.select("pseudonym", "customer", "period")
        if {(customer, period): p for p, customer, period in pairs.iter_rows()} != plain(key, known_rows, public_rows):
            raise SystemExit(f"{name} answers otherwise than the plain version")
        ours, whole, ready = in_turns(
            [
                lambda attack=attack: attack.attack(known, public, seed=0),
                lambda key=key: plain(key, rows_of(known), rows_of(public)),
                lambda key=key: plain(key, known_rows, public_rows),
            ]
        )
        lines.append([name, " + ".join(key), *map(_milliseconds, (ours, whole, ready)), *_over(whole, ready, ours)])
        ratios.append(whole.processor_seconds / ours.processor_seconds)
        ready_ratios.append(ready.processor_seconds / ours.processor_seconds)
    head = ["attack", "key", "ours, ms", "plain, ms", "plain, rows ready, ms", "plain / ours", "rows ready / ours"]
    return [
        f"## {label}",
        f"{len(known):,} known rows, {len(public):,} public rows.",
        table(head, lines),
        f"In the median {statistics.median(ratios):.0f} times as fast as the plain version,"
        f" and {statistics.median(ready_ratios):.0f} times where its rows are ready.",
    ]


def _milliseconds(times: Times) -> str:
    return f"{1000 * times.processor_seconds:,.1f}"


def _over(whole: Times, ready: Times, ours: Times) -> list[str]:
    return [f"{times.processor_seconds / ours.processor_seconds:.0f}" for times in (whole, ready)]


def main() -> None:
    parts: list[str] = []
    if (SHARED / "oracles").exists():
        known = read(SHARED / "data" / "pwscup2017_T100.csv", "pwscup2017").data
        public = read(SHARED / "oracles" / "pwscup2017" / "noise_light" / "S.csv.gz", "pwscup2017").data
        assert isinstance(known, History)
        assert isinstance(public, History)
        parts += compared("The contest's data, light noise", known, public)
    original = sample(customers=SAMPLE_ROWS // 90, rows=SAMPLE_ROWS, items=2_800, seed=1, schema="pwscup2017")
    published = MonthlyPseudonyms().protect(original, seed=1).public
    assert isinstance(published, History)
    parts += compared("Generated purchases under monthly pseudonyms", original, published)
    report(
        "signatures",
        "Matching rows by a key",
        f"One attack as a whole, from two histories in memory to its ranked guess; processor time, median of {REPEATS}"
        " rounds in turns. The plain version writes two dictionaries row by row and gives the same answers.",
        *parts,
        facts("noren", "polars", "numpy", "numba"),
    )


if __name__ == "__main__":
    main()
