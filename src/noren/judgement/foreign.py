"""What can be found of a file from elsewhere: one that somebody calls anonymised or synthetic.

Nobody says how such a file was made, so nothing is proved. Rows are counted that look alike, as they stand;
identifiers, hashes of them and orders that follow the original's are looked for; and where the file says whose row each
is, attacks are tried. Where it does not, it is counted how many people fit each row or pseudonym.

**Orders.** Under a random order a row stands at each place of its group equally often, a group being rows that lie
together because the file is sorted by its own content. Two statistics have mean 0 then: how many people rows fit at
their own place of the original (or near it, where rows were left out), beyond the mean over the places of the group;
and the correlation of their places with the mean places of the people they fit. The original is taken in its own order
and sorted by each column that the file hides or coarsens, upwards and downwards; for m orders four standard errors
become √(16 + 2·ln m).

**Copies.** A sample that never saw the original would equal rows that come once in it with the chance 2·N₂/N (Good and
Turing; N₂ rows come twice). With a control group, copies of its rows are compared. Four standard errors are a false
alarm once in 10,000 files.

**Noise.** Where hardly a row fits anybody, the people nearest to it count as those it fits: numbers are as far apart as
their ranks in the original, other values are equal or not. A copy is then a row at least twice as near to one person as
to anybody else. Rows of a fresh sample are so as often as rows of the original that are left out of it, or as rows of
the control group.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from noren.attacks import attacks as every_attack
from noren.data.arrays import numbers
from noren.data.cells import cell_ends, is_generalised
from noren.data.compatibility import class_sizes, consistent_customers
from noren.data.foreign import ForeignFile, column_fits
from noren.data.frames import History, Records
from noren.data.release import Release, Secret
from noren.data.schema import Column, Role
from noren.data.statement import Statement
from noren.errors import InputError, listing
from noren.execution.engine import ReleaseCounts, people_in
from noren.inference.study import inferred_from
from noren.judgement.evidence import CandidateCounts, CopyCounts, Facts, ForeignFacts, OrderLeak, Undone, facts_of
from noren.judgement.outcome import Outcome, examine
from noren.judgement.page_text import printable
from noren.judgement.release_facts import in_order, standard_errors
from noren.kernels.arrays import Flags, Whole
from noren.kernels.judging.shares import share_interval
from noren.progress import Progress, part_of, silent

_FAR = 4.0
_FEWEST = 18
"""Fewer rows cannot lie four standard errors from a random order."""
_MOST_ROWS, _MOST_CELLS, _BLOCK_CELLS, _MOST_KINDS, _MOST_ORDERS = 1_500, 60_000_000, 2_000_000, 10_000, 20
_MATCHED, _LEAST_MATCHED, _COMMON = 0.8, 3, 20
_ALIKE = 0.998
_NAMING = (Role.CUSTOMER, Role.IDENTIFIER)
_HASHES = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512")
_MOST_HASHED = 20_000


def foreign_facts(
    original: Records,
    file: ForeignFile,
    control: Records | None = None,
    *,
    attacks: str = "all",
    seed: int = 0,
    again: int | None = None,
    budget: str | float | None = None,
    progress: Progress = silent,
) -> Facts:
    """Return all that can be found of a file from elsewhere; ``again`` counts people of earlier releases.

    Attacks end after the ``budget`` of time; without one, none is left out.
    """
    cells, published, statement = file.cells, file.published, Statement("unknown")
    listed = [name.strip() for name in attacks.split(",")]
    chosen = None if attacks == "all" else [every_attack.create(name) for name in listed if name not in ("", "none")]
    known = _beside(original, cells)
    control = _beside(control, cells) if control else None
    checks = {"identifiers": ""}  # each with what it lacks; nothing where it was made
    if file.unread:
        checks[f"labels:{printable(listing(list(file.unread)))}"] = "labels"
    names = [c.name for c in cells.schema.columns if c.role not in _NAMING]
    most = max(50, min(_MOST_ROWS, _MOST_CELLS // max(len(known), 1)))
    drawn = np.argsort(np.random.Philox(key=seed).random_raw(len(cells)), kind="stable")
    rows = np.sort(drawn[:most])
    fits = of_sample = _fits(cells, known, names, rows)
    if isinstance(cells, History) and fits.any(axis=1).mean() < 0.5:  # what was shifted or renamed fits nobody
        ways = (_fits(cells, known, [n for n in names if n != left], rows) for left in names if len(names) > 1)
        fits = max(ways, key=lambda way: way.any(axis=1).sum(), default=fits)
    elif names and len(rows) < len(cells):  # of an order the rows tell most that look like few others
        alike = published.frame.select(pl.len().over(names)).to_series().to_numpy()
        rows = np.sort(drawn[np.argsort(alike[drawn], kind="stable")][:most])
        fits = _fits(cells, known, names, rows)
    noisy = not isinstance(cells, History) and bool(names) and of_sample.any(axis=1).mean() < 0.5
    if noisy:
        away = _distances(cells, known, names, rows)
        fits = away == away.min(axis=1, keepdims=True)
    progress(0.1)
    checks["order"] = "" if fits.any(axis=1).sum() >= _FEWEST else "fits"
    looks = [{n: (side.frame[n].dtype, side.frame[n].null_count()) for n in names} for side in (cells, known)]
    hidden = [n for n in original.schema.names if n not in names or looks[0][n] != looks[1][n]]
    hidden = [n for n in hidden if not is_generalised(original.frame[n].dtype)][:_MOST_ORDERS]
    sorted_by = (in_order(original.frame[name]).arg_sort().to_numpy() for name in hidden)
    orders = [np.arange(len(known)), *sorted_by]
    order = _order(published, rows, fits, orders, part_of(progress, 0.1, 0.3))
    found: dict[str, Any] = {
        "truth": file.truth_by,
        "columns": {printable(a): None if b is None else printable(b) for a, b in file.columns.items()},
        "by_values": tuple(printable(name) for name in file.by_values),
        "order": None if order is None else OrderLeak(errors=order),
        "again": again,
    }
    if isinstance(cells, History):
        found |= _of_history(file, known, seed, part_of(progress, 0.3, 0.5), checks)
    else:
        found["people"] = _about_people(file, known, names, noisy=noisy)
        own = [
            c.name for c in published.schema.columns if c.role == Role.IDENTIFIER or c.name not in original.schema.names
        ]
        numbered = [name for name in own if published.frame[name].drop_nulls().n_unique() > 0.9 * len(published)]
        leaks = {name: _order_by(name, published, rows, fits, orders) for name in numbered}
        found["ids"] = tuple(OrderLeak(columns=(printable(n),), errors=e) for n, e in leaks.items() if e is not None)
        checks["ids"] = "" if leaks and not checks["order"] else "inapplicable"
        found["candidates"] = _counted(of_sample.sum(axis=1))
        found |= _classes(published) if found["people"] else {}
        checks["classes"] = "" if found["people"] else "inapplicable"
        exact = not file.unread and not cells.generalised and bool(names)
        copied = exact and (not found["people"] or found.get("least") == 1) and len(known) > 1
        fresh = control if control and set(names) <= set(control.frame.columns) else None
        copies = _copies(cells, known, fresh) if copied else None
        near = copies is not None and noisy and not copies.beyond
        found["copies"] = _copies(cells, known, fresh, np.sort(drawn[:most])) if near else copies
        checks["copies"] = "" if copied else "inapplicable"
    secret = _secret(file, original)
    outcome = Outcome("", Release(published, secret, statement), people=people_in(original), original=original)
    if file.truth is None:
        checks["attacks"] = "truth"
    elif chosen != []:
        part, release = part_of(progress, 0.5, 0.9), Release(cells, secret, statement)
        made = examine(known, release, attacks=chosen, measures=[], budget=budget, progress=part, seed=seed)
        outcome = replace(outcome, guesses=made.guesses, failed=made.failed, left_out=made.left_out)
        checks |= {"attacks": ""} if made.guesses or not made.left_out else {}
    if control is not None:
        outcome = replace(outcome, inferred=inferred_from(known, control, cells, statement, seed=seed).inferred)
    checks["inference"] = "" if outcome.inferred else "control" if control is None else "inapplicable"
    checks["ledger"] = "ledger" if again is None else "secret" if again < 0 else ""
    facts = facts_of(outcome)
    left_in, found["hashed"] = _naming(published, original, found.pop("pairs", None))
    identifying = tuple(dict.fromkeys([*facts.identifying, *left_in]))
    found["ids"] = tuple(leak for leak in found["ids"] if not {*leak.columns} <= {*identifying})
    alone = facts.alone if isinstance(cells, History) else found.get("alone", {})
    found["alone"] = {name: share for name, share in alone.items() if name not in identifying}
    # what classes of a table come to is counted here, over all that an attacker may know
    none: dict[str, Any] = {"known_least": None, "known_disclosed": (), "alone": {}, "table": None, "registered": False}
    found["tried"] = tuple(name for name, lacking in checks.items() if not lacking)
    found["not_tried"] = tuple((name, lacking) for name, lacking in checks.items() if lacking)
    progress(1.0)
    return facts.model_copy(update=none | {"identifying": identifying, "foreign": ForeignFacts(**found)})


def _beside(people: Records, cells: Records) -> Records:
    """Return the columns of people that a file has, too; whole numbers are decimals where the file's are."""
    known = people.without(name for name in people.schema.names if name not in cells.schema.names)
    columns = tuple(c.model_copy(update={"type": cells.schema[c.name].type}) for c in known.schema.columns)
    changed = [pl.col(c.name).cast(c.dtype) for c, own in zip(columns, known.schema.columns, strict=True) if c != own]
    schema = known.schema.model_copy(update={"columns": columns})
    return replace(known, frame=known.frame.with_columns(changed), schema=schema)


def _secret(file: ForeignFile, original: Records) -> Secret:
    """Return whose rows these are, as the file's own column says."""
    if file.truth is None or file.rows is None:
        return Secret.empty()
    pairs = Secret.empty().pseudonyms
    if isinstance(file.cells, History):
        pairs = pl.DataFrame({"pseudonym": file.cells[Role.CUSTOMER].cast(pl.String), "customer": file.truth})
    return Secret(pairs.drop_nulls().unique(maintain_order=True), file.rows.alias("row"), len(original))


# --- who fits ---------------------------------------------------------------------------------------------------------


def _fits(cells: Records, known: Records, names: list[str], rows: Whole) -> Flags:
    """Return for some rows which rows of the original they fit in all columns."""
    fits = np.ones((len(rows), len(known)), dtype=np.bool_)
    taken = pl.Series(rows, dtype=pl.UInt32)
    for name in names:
        cell, value, allowed = column_fits(cells.frame[name].gather(taken), known.frame[name])
        fits &= allowed[cell].take(value, axis=1)
    return fits


def _counted(counts: Whole) -> CandidateCounts:
    """Return how many fit, and how often a guess among them is right."""
    found = counts[counts > 0]
    rates = float((1 / found).sum())
    rate = rates / max(len(counts), 1)
    low, high = share_interval(round(rates), len(counts))
    numbers = {"tested": len(counts), "fitted": len(found), "single": int((counts == 1).sum())}
    return CandidateCounts(**numbers, rate=rate, low=min(low, rate), high=max(high, rate))


def _about_people(file: ForeignFile, known: Records, names: list[str], *, noisy: bool) -> bool:
    """Tell whether rows are about people of the original: nearly each has a person of its own that it equals.

    So are means of classes, which equal nobody, and come twice at least.
    """
    cells = file.cells.frame
    if noisy and cells.select(pl.len().over(names).min()).item() > 1:
        return True
    names = [name for name in names if cells[name].null_count() <= known.frame[name].null_count()]
    if file.truth is not None or file.unread or file.cells.generalised or not names:
        return True
    mine, own = cells.group_by(names).len("mine"), known.frame.group_by(names).len("own")
    matched = mine.join(own, on=names, nulls_equal=True).select(pl.min_horizontal("mine", "own").sum()).item()
    return bool(matched >= _ALIKE * len(cells))


# --- orders -----------------------------------------------------------------------------------------------------------


def _sorted_groups(frame: pl.DataFrame) -> Whole:
    """Return for each row the group of rows that lie together because the file is sorted by its own content."""
    same = np.ones(max(len(frame) - 1, 0), dtype=np.bool_)
    keys = (key.rank("dense").cast(pl.Int64) for values in frame.fill_null("") for key in (in_order(values), values))
    steps = [np.diff(key.to_numpy()) for key in keys]
    at: int | None = 0
    while at is not None:
        inside = ((i, step[same]) for i, step in enumerate(steps))
        at = next((i for i, step in inside if step.any() and (step.min() >= 0 or step.max() <= 0)), None)
        if at is not None:
            same &= steps.pop(at) == 0
    return np.concatenate([[0], np.cumsum(~same)]).astype(np.int64)


def _order(
    published: Records, sample: Whole, fits: Flags, orders: list[Whole], progress: Progress = silent
) -> float | None:
    """Return by how many standard errors rows follow the original's order; None where chance explains it."""
    there = np.flatnonzero(fits.any(axis=1))
    if len(there) < _FEWEST:
        return None
    groups, place = _sorted_groups(published.frame), sample[there]
    rows, people = len(groups), fits.shape[1]
    # where rows were left out at random, the one at place i was at i·people/rows, with this many rows on either side
    near = round((max(people, rows) * abs(people - rows) / min(people, rows)) ** 0.5)
    middle = (np.arange(rows) * 2 + 1) * people // (2 * rows)
    first, last = np.maximum(middle - near, 0), np.minimum(middle + near + 1, people)
    starts, stops = (np.searchsorted(groups, groups[place], side) for side in ("left", "right"))
    errors = []
    for n, order in enumerate(orders):
        beyond, spread, largest = np.zeros(2), np.zeros(2), 1
        for block in np.array_split(np.arange(len(there)), 1 + len(there) * people // _BLOCK_CELLS):
            below = _sums(fits[np.ix_(there[block], order)])
            at, start, stop, own = np.arange(len(block)), starts[block], stops[block], place[block]
            for way, (low, high) in enumerate(((first, last), (people - last, people - first))):
                here = below[at, high[own]] - below[at, low[own]]
                if rows == people:  # then 0 or 1, which squares leave as it is
                    ends = low[[start, stop - 1]].min(axis=0), high[[start, stop - 1]].max(axis=0)
                    sums = [below[at, ends[1]] - below[at, ends[0]]] * 2
                else:
                    nearby = below[:, high] - below[:, low]
                    largest = max(largest, int(nearby.max()))
                    sums = [s[at, stop] - s[at, start] for s in (_sums(nearby), _sums(nearby * nearby))]
                mean, square = (s / (stop - start) for s in sums)
                beyond[way] += (here - mean).sum()
                spread[way] += (square - mean**2).sum()
        progress((n + 1) / len(orders))
        means = (fits[there] @ np.argsort(order).astype(np.float64)) / fits[there].sum(axis=1)
        ranks = pl.DataFrame({"class": groups[place], "name": place, "key": means})
        ranks = ranks.select("class", *(pl.col(key).rank().over("class") for key in ("name", "key")))
        errors.append(standard_errors(ranks, "key"))
        # few matches are no normal sum: by Bennett's inequality, what is beyond has this many standard errors at most
        excess = largest * np.maximum(beyond, 0) / np.maximum(spread, 1e-9)
        tail = (2 * spread * ((1 + excess) * np.log1p(excess) - excess)) ** 0.5 / largest
        errors += [*np.where(beyond > 0, tail, beyond / np.maximum(spread, 1e-9) ** 0.5)[spread > 1e-9]]
    worst = float(max(errors, key=abs))
    return worst if abs(worst) > (_FAR**2 + 2 * math.log(len(orders))) ** 0.5 else None


def _sums(values: np.ndarray[Any, Any]) -> Whole:
    """Return for each place of each row the sum of what stands before it."""
    sums = np.zeros((len(values), values.shape[1] + 1), dtype=np.int64)
    np.cumsum(values, axis=1, out=sums[:, 1:])
    return sums


def _order_by(name: str, published: Records, sample: Whole, fits: Flags, orders: list[Whole]) -> float | None:
    """Return by how many standard errors rows in the order of a column follow the original's order."""
    order = in_order(published.frame[name]).arg_sort()
    place = np.argsort(order.to_numpy())[sample]
    by = np.argsort(place)
    placed = replace(published, frame=published.frame[order]).without([name])
    return _order(placed, place[by], fits[by], orders)


# --- identifiers ------------------------------------------------------------------------------------------------------


def _naming(
    published: Records, original: Records, pairs: pl.DataFrame | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the columns that hold identifiers of the original, and those that hold their plain hashes.

    Numbers without gaps are alike by chance. Hashes may be cut short.
    """
    names = (column.name for column in original.schema.with_role(*_NAMING))
    everyone = [original.frame[name].cast(pl.String).drop_nulls().unique() for name in names]
    plain, hashed = [], []
    for name in published.frame.columns:
        values = published.frame[name].drop_nulls().unique()
        shown = set(values.str.to_lowercase())
        width = len(min(shown, default=""))
        digests = all(re.fullmatch(f"[0-9a-f]{{{max(width, 8)}}}", value) for value in shown)
        for own in everyone if len(values) >= 3 else ():
            ends = own.cast(pl.Int64, strict=False).drop_nulls().sort().to_numpy()
            dense = len(own) == len(ends) > 0 and len(own) > 0.2 * (int(ends[-1]) - int(ends[0]) + 1)
            alike = int(values.is_in(own.implode()).sum())
            if alike > 0.5 * len(values) and not dense and 2 * len(own) > len(values):
                plain.append(printable(name))
            if not digests:
                continue
            texts = [form.encode() for text in own[:_MOST_HASHED] for form in {text, text.strip().lower()}]
            for by in _HASHES:
                hashes = {hashlib.new(by, text, usedforsecurity=False).hexdigest()[:width] for text in texts}
                if len(shown & hashes) > 0.1 * len(shown):
                    hashed.append(printable(name))
    same = 0 if pairs is None else int((pairs["pseudonym"] == pairs["customer"]).sum())
    if pairs is not None and len(pairs) >= 3 and same > 0.5 * len(pairs):
        plain.append(printable(published.schema.role(Role.CUSTOMER).name))
    return tuple(plain), tuple(dict.fromkeys(hashed))


# --- tables -----------------------------------------------------------------------------------------------------------


def _classes(published: Records) -> dict[str, Any]:
    """Count rows alike in all columns that an attacker may know, as blanks stand and as if they were every value."""
    columns = [c for c in published.schema.columns if c.role == Role.QUASI or (c.role == Role.OTHER and c.known)]
    if not columns:
        return {}
    known, secrets = [c.name for c in columns], [c.name for c in published.schema.with_role(Role.SENSITIVE)]
    counts = ReleaseCounts(Release(published, Secret.empty(), Statement("unknown")))
    least, disclosed = counts.smallest_class(known, secrets)
    own = {c.name: published.frame[c.name].drop_nulls().is_unique().sum() for c in columns if c.role == Role.OTHER}
    return {
        "known": tuple(printable(name) for name in known),
        "least": least,
        "least_wild": _wild(published.frame.select(known)),
        "disclosed": tuple(printable(name) for name in disclosed),
        "alone": {printable(name): number / max(len(published), 1) for name, number in own.items()},
    }


def _wild(frame: pl.DataFrame) -> int | None:
    """Return the fewest rows that agree with a row where a blank agrees with everything; None for many kinds of rows.

    >>> _wild(pl.DataFrame({"age": ["20", "20", None], "sex": ["f", "f", "f"]}))
    3
    """
    kinds = frame.group_by(frame.columns).len("\0rows")
    values = kinds.select(pl.col(frame.columns).rank("dense").fill_null(0)).to_numpy()
    if values.all() or len(kinds) > _MOST_KINDS:
        return None
    rows = kinds["\0rows"].to_numpy()
    agree = (((values == one) | (values == 0) | (one == 0)).all(axis=1) for one in values if one.any())
    return min((int(rows[fits].sum()) for fits in agree), default=None)


def _distances(cells: Records, people: Records, names: list[str], rows: Whole) -> np.ndarray[Any, Any]:
    """Return how far some rows are from each row of the original: a number by its rank among the original's.

    What a row does not say is as far from everybody.
    """
    away = np.zeros((len(rows), len(people)), dtype=np.float32)
    taken = pl.Series(rows, dtype=pl.UInt32)
    for name in names:
        values, own = cells.frame[name].gather(taken), people.frame[name]
        if own.dtype.is_numeric() or own.dtype.is_temporal():
            known = np.sort(numbers(own.drop_nulls()))
            low, high, theirs = (
                ((np.searchsorted(known, x) + np.searchsorted(known, x, "right")) / (2 * max(len(known), 1)))
                for x in map(numbers, (*cell_ends(values), own))
            )
            apart = np.abs(((low + high) / 2).astype(np.float32)[:, None] - theirs[None, :].astype(np.float32))
            apart[:, own.is_null().to_numpy()] = 1
            apart[values.is_null().to_numpy()] = 0
            away += apart
        else:
            cell, value, allowed = column_fits(values, own)
            away += ~allowed[cell].take(value, axis=1)
    return away


def _copies(cells: Records, known: Records, control: Records | None, rows: Whole | None = None) -> CopyCounts:
    """Count released rows that equal a row that comes once in the original, and how many would by chance.

    Of some ``rows``, those count that are much nearer to one person than to anybody else. Rare values do not count
    then: synthesisers repeat the original's, which single rows that are left out of it lack.
    """
    names = [c.name for c in cells.schema.columns if c.role not in _NAMING]
    if rows is None:
        shown, kinds = cells.frame.select(names), known.frame.group_by(names).len("n")
        total, theirs = len(shown), kinds if control is None else control.frame.group_by(names).len("n")
        copied, by_chance = (
            len(shown.join(those.filter(n=1), on=names, how="semi", nulls_equal=True)) for those in (kinds, theirs)
        )
        scale = len(kinds.filter(n=1)) / max(len(theirs.filter(n=1)), 1)
        if control is None:
            by_chance, scale = int((kinds["n"] == 2).sum()), 2 * total / max(len(known), 1)
    else:
        types, alike = known.frame.schema, known.frame.select(pl.len().over(name).mean().alias(name) for name in names)
        names = [n for n in names if types[n].is_numeric() or types[n].is_temporal() or alike[n].item() >= _COMMON]
        fresh, total = control or known, len(rows)
        tested = np.linspace(0, len(fresh) - 1, min(total, len(fresh))).astype(np.int64)
        unseen = _distances(fresh, known, names, tested)
        if control is None:
            unseen[np.arange(len(tested)), tested] = np.inf
        nearest = (np.partition(away, 1, axis=1) for away in (_distances(cells, known, names, rows), unseen))
        copied, by_chance = (int((away[:, 0] < away[:, 1] / 2).sum()) for away in nearest)
        scale = total / max(len(tested), 1)
    expected = by_chance * scale
    most = expected + _FAR * (by_chance + 1) ** 0.5 * scale
    return CopyCounts(
        rows=total, copied=copied, expected=min(expected, total), near=rows is not None,
        beyond=copied > most + _FAR * most**0.5 + _LEAST_MATCHED, by="original" if control is None else "control",
    )  # fmt: skip


# --- histories --------------------------------------------------------------------------------------------------------


def _of_history(
    file: ForeignFile, known: Records, seed: int, progress: Progress, checks: dict[str, str]
) -> dict[str, Any]:
    """Return what is found of a history: equal histories, who fits each pseudonym, what can be undone, numbering."""
    cells, published = file.cells, file.published
    if not (isinstance(known, History) and isinstance(cells, History) and isinstance(published, History)):
        raise TypeError("a history from elsewhere has a history as its original")
    least = min(class_sizes(published), default=1)
    found: dict[str, Any] = {"least": least if least > 1 else None}
    checks |= {"classes": "", "candidates": ""}
    pairs = pl.DataFrame(schema={"pseudonym": pl.String, "customer": pl.String})
    undone, fitted = list[Undone](), 0.0
    try:
        consistent = consistent_customers(known, cells, progress, enough=1_000)
        candidates = consistent.candidates
        found["candidates"] = _counted(candidates.counts)
        fitted = float((candidates.counts > 0).mean()) if len(candidates.counts) else 0.0
        single = np.flatnonzero(candidates.counts == 1)
        who = consistent.customers.gather(candidates.customer[candidates.first[single]])
        pairs = pl.DataFrame({"pseudonym": consistent.pseudonyms.gather(single), "customer": who}).cast(pl.String)
    except InputError:
        checks["candidates"] = "fits"
    if fitted < 0.5:  # else rows fit as they stand, and nothing needs to be undone
        checks["undone"] = ""
        exact = [c for c in cells.schema.columns if c.role != Role.CUSTOMER]
        exact = [c for c in exact if not is_generalised(cells.frame[c.name].dtype)]
        for what, attack, role in (("dates", "shifted", Role.DATE), ("items", "recoded", Role.ITEM)):
            columns = [c for c in exact if c.role == role]
            if columns and every_attack[attack].fits(known.schema):
                guess = every_attack.create(attack).attack(known, cells, seed=seed).pairs
                matched, constant = _matched_pairs(known, cells, columns[:1], guess)
                if matched is not None:
                    undone.append(Undone(what=what, constant=constant, named=len(matched), of=len(cells.customers)))
                    pairs = matched if len(matched) > len(pairs) else pairs
        few = [] if undone or least > 1 else [left for n in (1, 2, 3) for left in combinations(exact, n)]
        for left in few[:_MOST_ORDERS]:  # what was changed in a way that nobody can undo need not be known
            matched, _constant = _matched_pairs(known, cells, left)
            if matched is not None and len(matched) > len(pairs):
                names = tuple(printable(column.name) for column in left)
                undone = [Undone(what="values", columns=names, named=len(matched), of=len(cells.customers))]
                pairs = matched
    if file.truth is not None:
        pairs = _secret(file, known).pseudonyms.unique("pseudonym")
    checks["ids"] = ""
    return found | {"undone": tuple(undone), "pairs": pairs, "ids": _numbered_in_order(known, cells, pairs)}


def _shared_rows(own: pl.DataFrame, mine: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    """Return for each pseudonym the customer with whom it shares most rows that few have, by some columns."""
    own = own.select("customer", *names).unique().with_columns(weight=1 / pl.len().over(names))
    both = mine.select("pseudonym", *names).unique()
    both = both.join(own.filter(pl.col("weight") * _MOST_ORDERS >= 1), on=names, nulls_equal=True)
    both = both.group_by("pseudonym", "customer").agg(pl.col("weight").sum())
    best = both.sort("weight", "customer", descending=[True, False]).unique("pseudonym", keep="first")
    return best.filter(pl.len().over("customer") == 1).sort("pseudonym")  # of equal histories none is known


def _matched_pairs(
    known: History, cells: History, left: Sequence[Column], guess: pl.DataFrame | None = None
) -> tuple[pl.DataFrame | None, bool]:
    """Return the pairs that match row for row but for some columns, or once these are undone, beyond chance.

    Pairs of a ``guess`` are undone: a date by shifting it back, items by translating them. Without one, they are those
    that share most rows. Chance is what the same pairs match when each pseudonym is given the next one's customer, or
    what pairs match that share most once rows are dealt to pseudonyms anew.
    """
    who, column, undo = known.schema.role(Role.CUSTOMER).name, left[0], guess is not None
    others = [name for name, dtype in cells.frame.schema.items() if not is_generalised(dtype)]
    others = [name for name in others if name != who and name not in {c.name for c in left}]
    mine = cells.frame.select(pl.col(who).cast(pl.String).alias("pseudonym"), *others, seen=column.name)
    mine = mine.with_row_index("at")
    own = known.frame.select(pl.col(who).cast(pl.String).alias("customer"), *others, true=column.name)
    if guess is None and others:
        guess = _shared_rows(own, mine, others)
    if guess is None or not (others and len(guess)):
        return None, False
    guess = guess.select(pl.col("pseudonym", "customer").cast(pl.String)).unique("pseudonym", maintain_order=True)

    def matched(pairs: pl.DataFrame, mine: pl.DataFrame = mine) -> pl.DataFrame:
        paired = mine.join(pairs, on="pseudonym")
        both = paired.join(own, on=["customer", *others], nulls_equal=True).with_columns(key=pl.lit(1, pl.Int64))
        both = both.drop_nulls(["seen", "true"]) if undo else both
        if undo and column.role == Role.DATE:
            both = both.with_columns(key=(pl.col("seen").cast(pl.Date) - pl.col("true").cast(pl.Date)).dt.total_days())
        elif undo:
            both = both.with_columns(pl.col("seen", "true").cast(pl.String))
            code = both.group_by("seen", "true").agg(n=pl.col("at").n_unique())
            code = code.sort("n", "true", descending=[True, False]).unique("seen", keep="first")
            both = both.join(code, on=["seen", "true"], how="semi")
        votes = both.group_by("pseudonym", "customer", "key").agg(rows=pl.col("at").n_unique())
        best = votes.sort("rows", "key", descending=[True, False]).unique("pseudonym", keep="first")
        whole = best.join(paired.group_by("pseudonym").len("whole"), on="pseudonym")
        return whole.filter(pl.col("rows") >= pl.max_horizontal(_LEAST_MATCHED, _MATCHED * pl.col("whole")))

    found = matched(guess)
    chance = len(matched(guess.with_columns(pl.col("customer").shift(1, fill_value=guess["customer"].last()))))
    if not undo:
        dealt = np.random.default_rng(0).permutation(len(mine))
        anew = mine.with_columns(pl.col("pseudonym").gather(dealt))
        chance = max(chance, len(matched(_shared_rows(own, anew, others), anew)))
    moved = found.filter(pl.col("key") != 0)
    if len(moved) <= chance + _FAR * (chance + 1) ** 0.5 + _LEAST_MATCHED or 2 * len(moved) < len(found):
        return None, False
    constant = undo and column.role == Role.DATE
    constant = constant and bool(found["key"].value_counts(sort=True)["count"][0] >= 0.9 * len(found))
    return found.select("pseudonym", "customer").sort("pseudonym"), constant


def _numbered_in_order(known: History, cells: History, pairs: pl.DataFrame) -> tuple[OrderLeak, ...]:
    """Return whether pseudonyms follow the customers' own order or first rows, or the rows or sums they have."""
    who = known.schema.role(Role.CUSTOMER).name
    factors = [c.name for c in cells.schema.with_role(Role.PRICE, Role.QUANTITY)]
    factors = [name for name in factors if cells.frame[name].dtype.is_numeric()]
    spent = pl.fold(pl.lit(1.0), lambda a, b: a * b, [pl.col(name).cast(pl.Float64) for name in factors]).sum()
    rows = cells.frame.group_by(pl.col(who).cast(pl.String).alias("pseudonym")).agg(rows=pl.len(), spent=spent)
    first = known.frame.select(pl.col(who).cast(pl.String).alias("customer")).with_row_index("first")
    linked = pairs.join(first.unique("customer", keep="first"), on="customer")
    errors = [0.0]
    for frame, key in ((rows, "rows"), (rows, "spent"), (linked, "first"), (linked, "customer")):
        both = frame.drop_nulls([key, "pseudonym"])
        if len(both) >= _FEWEST:
            ranks = {n: in_order(both[k].cast(pl.String)).rank() for n, k in (("name", "pseudonym"), ("key", key))}
            errors.append(standard_errors(pl.DataFrame(ranks).with_columns(pl.lit(0).alias("class")), "key"))
    worst = max(errors, key=abs)
    return (OrderLeak(columns=(printable(who),), errors=worst),) if abs(worst) > _FAR else ()
