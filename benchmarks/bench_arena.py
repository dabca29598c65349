"""The arena under load: a deadline, a full queue of guesses, many files with workers killed, and the winner's score.

deadline  100 teams hand in a release of 89,278 rows in the last minute: seconds until each is acknowledged, late and
          lost ones, time until the last score
guesses   the 552 guesses of 24 teams against each other, judged from a full queue by two workers (the bar: 10 minutes)
many      10,000 small files while workers are killed: lost, and judged twice (the bar: none)
winner    a release like that of the 2018 winner (`generalize`, k = 2) through the arena: U = 0.206 on the final data

python benchmarks/bench_arena.py [--part deadline] [--small] [--database postgresql+psycopg://…] [--winner A.csv]
                                 [--files 2000]

Data are the PWS Cup 2018 final where they are beside the checkout, else generated ones of that size. Each part keeps
its section of results/arena.md.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
from machine import RESULTS, facts, table

from noren.api import measure, protect
from noren.contest import actions
from noren.contest.client import AnsweredError, Client, create_login
from noren.contest.judging.prepared import original_of
from noren.contest.phases import moment, planned_phases
from noren.contest.rulebook import preset
from noren.contest.schemas import SubmissionOut
from noren.contest.simulation import make_data
from noren.data.release import submission_of
from noren.work.queue import new_id

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.rig.cup import Rehearsal, set_clock

FINAL = Path(__file__).resolve().parents[2] / "shared" / "data" / "pwscup2018_final_T.csv"
CUSTOMERS, ROWS = 1_000, 89_278
LAST_MINUTE = 60.0
ROUND = "final"
PARTS = ("deadline", "guesses", "many", "winner")
_DAYS = (1.0, 1.0, 1.0, 0.0, 1.0)
_POLL = 1.0


@dataclass(frozen=True)
class Size:
    """How large the parts are."""

    customers: int = CUSTOMERS
    rows: int = ROWS
    teams: int = 100
    minute: float = LAST_MINUTE
    attackers: int = 24
    files: int = 10_000
    file_teams: int = 50
    kills: int = 20


SMALL = Size(customers=12, rows=120, teams=4, minute=6.0, attackers=3, files=40, file_teams=4, kills=2)


class Cup:
    """A cup of one round on a server of its own, and the teams in it."""

    def __init__(self, rehearsal: Rehearsal, name: str, data: Path, teams: int, quota: int = 20) -> None:
        self.name, self.rehearsal = name, rehearsal
        book = preset("pwscup2018")
        limits = {"releases": quota, "guesses": quota, "files_per_day": 10**6}
        self.book = book.model_copy(update={"quota": book.quota.model_copy(update=limits)})
        self.organiser = rehearsal.organiser()
        self.phases = {one.id: one for one in planned_phases(self.organiser.session().now, _DAYS, [ROUND])}
        contest = {
            "id": name,
            "title": name,
            "rulebook": self.book.to_toml(),
            "settings": {"seconds": 3600},
            "phases": [one.as_dict() for one in self.phases.values()],
        }
        self.organiser.create(contest, {ROUND: data})
        with ThreadPoolExecutor(4) as threads:
            self.teams = list(threads.map(self._team, range(teams)))

    def _team(self, number: int) -> Client:
        headers = {"X-Forwarded-For": f"10.2.{number // 250}.{number % 250 + 1}"}
        address = self.rehearsal.hall.address
        login = create_login(address, f"{self.name}-{number}", new_id(), new=f"Team {number}", headers=headers)
        client = Client(address, login.token, headers=headers, patience=600.0)
        client.do(actions.register, self.name, name=f"Team {number}")
        return client

    def move_to(self, phase: str, before_end: float | None = None) -> None:
        """Move the clock into a phase, or to so many seconds before it closes."""
        at = self.phases[phase]
        to = dt.datetime.fromisoformat(at.opens) + dt.timedelta(seconds=10)
        if before_end is not None:
            to = dt.datetime.fromisoformat(str(at.closes)) - dt.timedelta(seconds=before_end)
        set_clock(self.organiser, moment(to))

    def handed(self) -> list[SubmissionOut]:
        """Return all that was handed in."""
        return self.organiser.submissions(self.name)

    def wait_until_judged(self, after: Callable[[int], None] = lambda judged: None) -> float:
        """Wait until nothing is left to judge; return the seconds."""
        began = time.monotonic()
        while True:
            polled = time.monotonic()
            submissions = self.handed()
            after(sum(one.is_over for one in submissions))
            if all(one.is_over for one in submissions):
                return time.monotonic() - began
            time.sleep(max(_POLL, 4 * (time.monotonic() - polled)))  # a long list is work for the server, too

    def close(self) -> None:
        """Let go of the connections."""
        for client in self.teams:
            client.close()


def renamed(content: bytes, seed: int) -> bytes:
    """Return a release under other pseudonyms: other bytes, the same release."""
    lines = pl.Series("line", content.decode().splitlines())
    cells = lines.str.splitn(",", 2).struct.unnest()
    names = cells["field_0"].unique(maintain_order=True)
    names = names.filter(names != "*")
    drawn = names.gather(np.random.default_rng(seed).permutation(len(names)))
    new = cells["field_0"].replace(names, drawn)
    joined = pl.DataFrame({"name": new, "rest": cells["field_1"]}).select(pl.concat_str(pl.all(), separator=","))
    return "".join(f"{line}\n" for line in joined.to_series()).encode()


def final_data(folder: Path, size: Size) -> Path:
    """Return the data: the final's where they are at hand and asked for, else generated."""
    if size.rows == ROWS and FINAL.exists():
        return FINAL
    return make_data(
        preset("pwscup2018"), folder, customers=size.customers, rows=size.rows, seed=1, name=f"T-{new_id()}"
    )


def quick_release(data: Path) -> bytes:
    """Return a release of pairs that takes seconds to make."""
    original = original_of(preset("pwscup2018"), data)
    return submission_of(protect(original, "generalize-by-count", k=2, suppress_cells=True, seed=1, audit=False))


def lost_and_twice(cup: Cup, acknowledged: Sequence[str]) -> tuple[int, int, int]:
    """Return how many acknowledged files are not in the log or not judged, how many were judged twice, and refunds."""
    entries = [json.loads(line) for line in cup.organiser.text("contests", cup.name, "log").splitlines()]
    received = {one["body"]["submission"] for one in entries if one["kind"].endswith("-received")}
    judged = Counter(one["body"]["submission"] for one in entries if one["kind"].endswith("-judged"))
    refunded = {one["body"]["submission"] for one in entries if one["kind"] == "refunded"}
    lost = sum(1 for name in acknowledged if name not in received or not (judged[name] or name in refunded))
    return lost, sum(1 for count in judged.values() if count > 1), len(refunded)


# --- parts -----------------------------------------------------------------------------------------------------------


def deadline(rehearsal: Rehearsal, size: Size, folder: Path) -> str:
    """Let every team hand in a release in the last minute."""
    data = final_data(folder, size)
    cup = Cup(rehearsal, f"deadline-{new_id()}", data, size.teams)
    base = quick_release(data)
    files = []
    for number in range(size.teams):
        files.append(folder / f"release-{number}.csv")
        files[-1].write_bytes(renamed(base, number))
    moments = np.sort(np.random.default_rng(1).uniform(0, 0.95 * size.minute, size.teams))
    cup.move_to(f"{ROUND}-protect", before_end=size.minute)
    began = time.monotonic()
    acknowledged: list[tuple[str, float]] = []
    refused: list[str] = []
    lock = threading.Lock()

    def hand_in(number: int) -> None:
        time.sleep(max(0.0, began + moments[number] - time.monotonic()))
        start = time.monotonic()
        try:
            got = cup.teams[number].submit(cup.name, files[number])
        except AnsweredError as error:
            with lock:
                refused.append(str(error))
            return
        with lock:
            acknowledged.append((got.submission, time.monotonic() - start))

    with ThreadPoolExecutor(size.teams) as threads:
        list(threads.map(hand_in, range(size.teams)))
    last = time.monotonic() - began
    scored = cup.wait_until_judged()
    lost, twice, refunded = lost_and_twice(cup, [name for name, _seconds in acknowledged])
    cup.close()
    took = sorted(seconds for _name, seconds in acknowledged)
    rows = [
        ("teams", f"{size.teams:,}"),
        ("rows of a release", f"{size.rows:,}"),
        ("megabytes in all", f"{sum(one.stat().st_size for one in files) / 1e6:,.0f}"),
        ("acknowledged", f"{len(acknowledged):,}"),
        ("refused as late", f"{len(refused):,}"),
        ("lost", f"{lost:,}"),
        ("judged twice", f"{twice:,}"),
        ("given back", f"{refunded:,}"),
        ("seconds to acknowledge, median", f"{statistics.median(took):.2f}"),
        ("95 of 100", f"{took[int(0.95 * (len(took) - 1))]:.2f}"),
        ("slowest", f"{took[-1]:.2f}"),
        ("seconds from the first upload to the last acknowledgement", f"{last:.0f}"),
        ("seconds from then to the last score", f"{scored:.0f}"),
    ]
    return table(("releases in the last minute", ""), rows)


def guesses(rehearsal: Rehearsal, size: Size, folder: Path) -> str:
    """Let all teams attack all others while no judge works, then let two work the queue off."""
    data = final_data(folder, size)
    cup = Cup(rehearsal, f"guesses-{new_id()}", data, size.attackers)
    base = quick_release(data)
    cup.move_to(f"{ROUND}-protect")
    for number, team in enumerate(cup.teams):
        path = folder / "release.csv"
        path.write_bytes(renamed(base, number))
        team.submit(cup.name, path)
    releases = cup.wait_until_judged()
    cup.move_to(f"{ROUND}-attack")
    while not cup.organiser.contest(cup.name)["rounds"][0]["targets"]:
        time.sleep(_POLL)
    for name in rehearsal.hall.workers:
        rehearsal.hall.stop(name)
    acknowledged = _attack_all(cup, data, folder)
    for name in rehearsal.hall.workers:
        rehearsal.hall.go_on(name)
    scored = cup.wait_until_judged()
    lost, twice, refunded = lost_and_twice(cup, acknowledged)
    cup.close()
    rows = [
        ("teams", f"{size.attackers:,}"),
        ("rows of a release", f"{size.rows:,}"),
        ("workers", f"{len(rehearsal.hall.workers)}"),
        ("seconds until the releases were judged", f"{releases:.0f}"),
        ("guesses", f"{len(acknowledged):,}"),
        ("lost", f"{lost:,}"),
        ("judged twice", f"{twice:,}"),
        ("given back", f"{refunded:,}"),
        ("seconds until the guesses were judged", f"{scored:.0f}"),
        ("guesses a second", f"{len(acknowledged) / scored:.2f}"),
    ]
    return table(("a full queue of guesses", ""), rows)


def _attack_all(cup: Cup, data: Path, folder: Path) -> list[str]:
    """Hand in a guess of every team against every other; names are drawn by lot."""
    people = original_of(cup.book, data)
    customers = people.frame.to_series(0).cast(pl.String).unique().sort()
    acknowledged = []
    for number, team in enumerate(cup.teams):
        for target in team.targets(cup.name, ROUND):
            public, guess = folder / "target.csv", folder / "guess.csv"
            team.download("contests", cup.name, "rounds", ROUND, "targets", target.target, out=public)
            lines = pl.Series(public.read_text().splitlines())
            names = lines.str.splitn(",", 2).struct.field("field_0").unique().sort()
            draws = np.random.default_rng([number, int(target.target)])
            drawn = customers.gather(draws.permutation(len(customers))[: len(names)])
            guess.write_text("".join(f"{a},{b}\n" for a, b in zip(names, drawn, strict=False)))
            acknowledged.append(team.submit(cup.name, guess, target=target.target).submission)
    return acknowledged


def many(rehearsal: Rehearsal, size: Size, folder: Path) -> str:
    """Hand in many small files while workers are killed."""
    data = make_data(preset("pwscup2018"), folder, customers=8, rows=60, seed=3, name=f"small-{new_id()}")
    cup = Cup(rehearsal, f"many-{new_id()}", data, size.file_teams, quota=size.files)
    base = quick_release(data)
    cup.move_to(f"{ROUND}-protect")
    each = size.files // size.file_teams
    before = rehearsal.hall.killed["worker"]
    acknowledged: list[str] = []
    lock = threading.Lock()
    every = max(1, size.files // size.kills)

    def kill_in_turn(done: int) -> None:
        killed = rehearsal.hall.killed["worker"] - before
        if killed < size.kills and done >= every * (killed + 1) * 0.5:
            workers = rehearsal.hall.workers
            rehearsal.hall.kill(workers[killed % len(workers)])

    def hand_in(number: int) -> None:
        path = folder / f"many-{number}.csv"
        for turn in range(each):
            path.write_bytes(renamed(base, number * each + turn))
            got = cup.teams[number].submit(cup.name, path)
            with lock:
                acknowledged.append(got.submission)
                kill_in_turn(len(acknowledged))

    began = time.monotonic()
    with ThreadPoolExecutor(min(8, size.file_teams)) as threads:
        list(threads.map(hand_in, range(size.file_teams)))
    sent = time.monotonic() - began
    cup.wait_until_judged(kill_in_turn)
    all_judged = time.monotonic() - began
    lost, twice, refunded = lost_and_twice(cup, acknowledged)
    cup.close()
    rows = [
        ("files", f"{len(acknowledged):,}"),
        ("teams", f"{size.file_teams:,}"),
        ("workers killed", f"{rehearsal.hall.killed['worker'] - before:,}"),
        ("lost", f"{lost:,}"),
        ("judged twice", f"{twice:,}"),
        ("given back", f"{refunded:,}"),
        ("seconds until the last was acknowledged", f"{sent:.0f}"),
        ("seconds until the last was judged", f"{all_judged:.0f}"),
    ]
    return table(("many small files", ""), rows)


def winner(rehearsal: Rehearsal, size: Size, folder: Path, file: Path | None) -> str:
    """Hand in a release of pairs with the least error, and see what the judge makes of it."""
    data = final_data(folder, size)
    original = original_of(preset("pwscup2018"), data)
    if file is None:
        release = protect(original, "generalize", k=2, seed=1, audit=False)
        content, known = submission_of(release), measure(original, release, "cell-error").value
    else:
        content, known = file.read_bytes(), float("nan")
    cup = Cup(rehearsal, f"winner-{new_id()}", data, 1)
    cup.move_to(f"{ROUND}-protect")
    path = folder / "winner.csv"
    path.write_bytes(content)
    got = cup.teams[0].submit(cup.name, path)
    seconds = cup.wait_until_judged()
    submission = cup.organiser.submission(cup.name, got.submission)
    cup.close()
    rows = [
        ("data", "PWS Cup 2018, final" if data == FINAL else f"generated, {size.rows:,} rows"),
        ("valid", str(submission.valid)),
        ("U by the arena", f"{(submission.judgement.values or {})['cell-error']:.5f}"),
        ("U by noren measure", "–" if known != known else f"{known:.5f}"),
        ("seconds to judge it, with the house's attacks", f"{seconds:.0f}"),
    ]
    return table(("a release like the winner's", ""), rows)


# --- results ---------------------------------------------------------------------------------------------------------


def keep(part: str, text: str) -> None:
    """Put the section of a part into the page of results, and leave the others as they are."""
    path = RESULTS / "arena.md"
    sections = {}
    if path.exists():
        for section in path.read_text(encoding="utf-8").split("\n## ")[1:]:
            name, _, body = section.partition("\n")
            sections[name.strip()] = body.strip()
    line = facts("noren", "polars", "numpy", "fastapi", "uvicorn", "sqlalchemy", "psycopg")
    sections[part] = f"{text}\n\n{line}"
    row = (
        "Server, workers and teams share the machine; teams are threads of one process that speak the public "
        "interface. Written by `benchmarks/bench_arena.py`, each part by a run of its own."
    )
    parts = [f"## {name}\n\n{sections[name]}" for name in PARTS if name in sections]
    RESULTS.mkdir(exist_ok=True)
    path.write_text("\n\n".join(["# The arena under load", row, *parts]) + "\n", encoding="utf-8")


def main() -> None:
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=PARTS, action="append", help="one part alone; may be given again")
    parser.add_argument("--small", action="store_true", help="small enough for a test; nothing is kept")
    parser.add_argument("--database", help="a PostgreSQL address; SQLite where left out")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--files", type=int, help="how many small files the part many hands in; 10,000 where left out")
    parser.add_argument("--winner", type=Path, help="the release to hand in, in the row order of the final data")
    options = parser.parse_args()
    size = SMALL if options.small else Size()
    size = size if options.files is None else replace(size, files=options.files)
    with (
        tempfile.TemporaryDirectory(prefix="noren-bench-") as folder,
        Rehearsal(workers=options.workers, database=options.database) as rehearsal,
    ):
        for part in options.part or PARTS:
            place = Path(folder)
            if part == "winner":
                text = winner(rehearsal, size, place, options.winner)
            else:
                text = {"deadline": deadline, "guesses": guesses, "many": many}[part](rehearsal, size, place)
            if options.database:
                text += "\n\nOn PostgreSQL."
            print(f"{text}\n", flush=True)
            if not options.small:
                keep(part, text)


if __name__ == "__main__":
    main()
