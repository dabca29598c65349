"""What can be found of a file from elsewhere: one that somebody calls anonymised or synthetic.

Nobody says how such a file was made, so nothing is proved. Rows are counted that look alike, as they stand;
identifiers, hashes of them and orders that follow the original's are looked for; and where the file says whose row each
is, attacks are tried. Where it does not, it is counted how many people fit each row or pseudonym.

**Orders.** Under a random order a row stands at each place of its group equally often, a group being rows that lie
together because the file is sorted by its own content. Two statistics have mean 0 then: how many people rows fit at
their own place of the original (or near it, where rows were left out), beyond the mean over the places of the group;
and the correlation of their places with the mean places of the people they fit. Four standard errors are a false alarm
once in 10,000 files.

**Copies.** A sample that never saw the original would equal rows that come once in it with the chance 2·N₂/N (Good and
Turing; N₂ rows come twice). With a control group, copies of its rows are compared. Both are tested at four standard
errors.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from noren.attacks import attacks as every_attack
from noren.data.cells import is_generalised, is_interval
from noren.data.compatibility import consistent_customers, history_classes
from noren.data.foreign import ForeignFile, column_fits
from noren.data.frames import History, Records, Table
from noren.data.release import Release, Secret
from noren.data.schema import Role
from noren.data.statement import Statement
from noren.errors import InputError, listing
from noren.execution.engine import people_in
from noren.inference.study import inferred_from
from noren.judgement.evidence import CandidateCounts, CopyCounts, Facts, ForeignFacts, OrderLeak, Undone, facts_of
from noren.judgement.outcome import Outcome, examine
from noren.judgement.page_text import printable
from noren.judgement.release_facts import in_order, standard_errors
from noren.kernels.arrays import Flags, Whole
from noren.kernels.judging.shares import share_interval
from noren.measures.safety.table_classes import table_classes
from noren.progress import Progress, part_of, silent

_FAR = 4.0
_FEWEST, _MOST_ROWS, _MOST_CELLS, _BLOCK_CELLS = 8, 1_500, 60_000_000, 2_000_000
_MATCHED, _LEAST_MATCHED = 0.8, 3
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
    progress: Progress = silent,
) -> Facts:
    """Return all that can be found of a file from elsewhere; ``again`` counts people of earlier releases."""
    cells, published, statement = file.cells, file.published, Statement("unknown")
    known = original.without(name for name in original.schema.names if name not in cells.schema.names)
    tried, not_tried = ["identifiers"], list[tuple[str, str]]()

    def note(check: str, missing: str = "") -> None:
        if missing:
            not_tried.append((check, missing))
        else:
            tried.append(check)

    if file.unread:
        note(f"labels:{printable(listing(list(file.unread)))}", "labels")
    found: dict[str, Any] = {"truth": file.truth_by, "hashed": _hashed(published, original)}
    found["columns"] = {printable(a): None if b is None else printable(b) for a, b in file.columns.items()}
    found["by_values"] = tuple(printable(name) for name in file.by_values)
    exact = not file.unread and not cells.generalised
    names = [c.name for c in cells.schema.columns if c.role not in _NAMING]
    most = max(50, min(_MOST_ROWS, _MOST_CELLS // max(len(known), 1)))
    drawn = np.argsort(np.random.Philox(key=seed).random_raw(len(cells)), kind="stable")
    sample = np.sort(drawn[:most])
    fits, orders = _fits(cells, known, names, sample), list[tuple[Whole, Flags]]()
    if isinstance(cells, History) and fits.any(axis=1).mean() < 0.5:  # what was shifted or renamed fits nobody
        ways = (_fits(cells, known, [n for n in names if n != left], sample) for left in names if len(names) > 1)
        fits = max(ways, key=lambda way: way.any(axis=1).sum(), default=fits)
    elif names:  # of an order the rows tell most that look like few others
        alike = published.frame.select(pl.len().over(names)).to_series().to_numpy()
        rare = np.sort(drawn[np.argsort(alike[drawn], kind="stable")][: most // 2])
        orders.append((rare, _fits(cells, known, names, rare)))
    orders.append((sample, fits))
    progress(0.1)
    secret, fitting = _secret(file, original), int(fits.any(axis=1).sum()) >= _FEWEST
    order = next(filter(None, (_order(published, rows, fit, len(known)) for rows, fit in orders)), None)
    found["order"] = None if order is None else OrderLeak(errors=order)
    note("order", "" if fitting else "fits")
    if isinstance(cells, History):
        found |= _of_history(cells, known, published, file, seed, part_of(progress, 0.1, 0.4), note)
    else:
        found["people"] = _about_people(file, known, fits, exact=exact)
        leaks = {name: _order_by(name, published, sample, fits) for name in _numbering(published, original)}
        found["ids"] = tuple(OrderLeak(columns=(printable(n),), errors=e) for n, e in leaks.items() if e is not None)
        note("ids", "" if leaks and fitting else "inapplicable")
        found["candidates"] = _counted(fits.sum(axis=1))
        found |= _classes(published) if found["people"] else {}
        note("classes", "" if found["people"] else "inapplicable")
        copied = exact and bool(names) and (not found["people"] or found.get("least") == 1)
        found["copies"] = _copies(cells, known, control) if copied else None
        note("copies", "" if copied else "inapplicable")
    outcome = Outcome("", Release(published, secret, statement), people=people_in(original), original=original)
    note("attacks", "truth" if file.truth is None else "")
    if file.truth is not None:
        listed = [name.strip() for name in attacks.split(",") if name.strip()]
        ready = None if attacks == "all" else [] if attacks == "none" else listed
        part, release = part_of(progress, 0.5, 0.9), Release(cells, secret, statement)
        made = examine(known, release, attacks=ready, measures=[], progress=part, seed=seed)
        outcome = replace(outcome, guesses=made.guesses, failed=made.failed)
    if control is not None:
        others = control.without(name for name in control.schema.names if name not in known.schema.names)
        outcome = replace(outcome, inferred=inferred_from(known, others, cells, statement, seed=seed).inferred)
    note("inference", "" if outcome.inferred else "control" if control is None else "inapplicable")
    note("ledger", "ledger" if again is None else "secret" if again < 0 else "")
    found["again"] = again
    facts = facts_of(outcome)
    left_in = _left_in(published, original, found.pop("pairs", None))
    identifying = tuple(dict.fromkeys([*facts.identifying, *left_in]))
    alone = facts.alone if isinstance(cells, History) else found.get("alone", {})
    found["alone"] = {name: share for name, share in alone.items() if name not in identifying}
    # what classes of a table come to is counted here, over all that an attacker may know
    none: dict[str, Any] = {"known_least": None, "known_disclosed": (), "alone": {}, "table": None, "registered": False}
    foreign = ForeignFacts(**found, tried=tuple(tried), not_tried=tuple(not_tried))
    progress(1.0)
    return facts.model_copy(update=none | {"identifying": identifying, "foreign": foreign})


def _secret(file: ForeignFile, original: Records) -> Secret:
    """Return whose rows these are, as the file's own column says."""
    if file.truth is None or file.rows is None:
        return Secret.empty()
    if isinstance(file.cells, History):
        pairs = pl.DataFrame({"pseudonym": file.cells[Role.CUSTOMER].cast(pl.String), "customer": file.truth})
        return Secret(pairs.drop_nulls().unique(maintain_order=True), file.rows.alias("row"), len(original))
    return Secret(Secret.empty().pseudonyms, file.rows.alias("row"), len(original))


# --- who fits ---------------------------------------------------------------------------------------------------------


def _fits(cells: Records, known: Records, names: list[str], rows: Whole) -> Flags:
    """Return for some rows which rows of the original they fit in all columns."""
    fits = np.ones((len(rows), len(known)), dtype=np.bool_)
    taken = pl.Series(rows, dtype=pl.UInt32)
    for name in names:
        cell, value, allowed = column_fits(cells.frame[name].gather(taken), known.frame[name])
        for start in range(0, len(rows), 64):
            fits[start : start + 64] &= allowed[cell[start : start + 64]][:, value]
    return fits


def _counted(counts: Whole) -> CandidateCounts:
    """Return how many fit, and how often a guess among them is right."""
    rates = np.where(counts > 0, 1 / np.maximum(counts, 1), 0.0)
    rate = float(rates.mean()) if len(rates) else 0.0
    low, high = share_interval(round(rates.sum()), len(rates))
    return CandidateCounts(
        tested=len(counts), fitted=int((counts > 0).sum()), single=int((counts == 1).sum()), rate=rate,
        low=min(low, rate), high=max(high, rate),
    )  # fmt: skip


def _about_people(file: ForeignFile, known: Records, fits: Flags, *, exact: bool) -> bool:
    """Tell whether rows are about people of the original: nearly each has a person of its own that it equals."""
    rows = file.cells.frame.select(c.name for c in file.cells.schema.columns if c.role not in _NAMING)
    if file.truth is not None or not exact or not rows.width:
        return True
    if any(rows[name].null_count() > known.frame[name].null_count() for name in rows.columns):
        return bool(fits.any(axis=1).mean() > 0.5)
    both = (
        rows.group_by(rows.columns)
        .len("mine")
        .join(known.frame.group_by(rows.columns).len("own"), on=rows.columns, how="left", nulls_equal=True)
    )
    matched = both.select(pl.min_horizontal("mine", pl.col("own").fill_null(0)).sum()).item()
    return bool(matched >= _ALIKE * len(rows))


# --- orders -----------------------------------------------------------------------------------------------------------


def _sorted_groups(frame: pl.DataFrame) -> Whole:
    """Return for each row the group of rows that lie together because the file is sorted by its own content."""
    same = np.ones(max(len(frame) - 1, 0), dtype=np.bool_)
    keys = [key for values in frame.fill_null("") for key in (in_order(values), values)]
    ranks = [key.rank("dense").cast(pl.Int64).to_numpy() for key in keys]
    while ranks:
        steps = [np.diff(rank) for rank in ranks]
        at = next(
            (i for i, d in enumerate(steps) if d[same].any() and ((d[same] >= 0).all() or (d[same] <= 0).all())), None
        )
        if at is None:
            break
        same &= steps[at] == 0
        ranks.pop(at)
    return np.concatenate([[0], np.cumsum(~same)]).astype(np.int64)


def _order(published: Records, sample: Whole, fits: Flags, people: int) -> float | None:
    """Return by how many standard errors rows follow the original's order; None where chance explains it."""
    there = np.flatnonzero(fits.any(axis=1))
    if len(there) < _FEWEST:
        return None
    groups, place = _sorted_groups(published.frame), sample[there]
    rows, spread, beyond = len(groups), 0.0, 0.0
    # where rows were left out at random, the one at place i was at i·people/rows, with this many rows on either side
    left_out = abs(people - rows)
    near = round((max(people, rows) * left_out / min(people, rows)) ** 0.5)
    middle = (np.arange(rows) * 2 + 1) * people // (2 * rows)
    first, last = np.maximum(middle - near, 0), np.minimum(middle + near + 1, people)
    starts = np.searchsorted(groups, groups[place])
    stops = np.searchsorted(groups, groups[place], side="right")
    for block in np.array_split(np.arange(len(there)), 1 + len(there) * people // _BLOCK_CELLS):
        below = np.pad(np.cumsum(fits[there[block]], axis=1, dtype=np.int32), ((0, 0), (1, 0)))
        nearby = below[:, last] - below[:, first]
        at = np.arange(len(block))
        sums = [np.pad(np.cumsum(nearby.astype(np.float64) ** power, axis=1), ((0, 0), (1, 0))) for power in (1, 2)]
        mean, square = ((s[at, stops[block]] - s[at, starts[block]]) / (stops - starts)[block] for s in sums)
        beyond += float((nearby[at, place[block]] - mean).sum())
        spread += float((square - mean**2).sum())
    errors = [beyond / spread**0.5 if spread > 1e-9 else 0.0]
    counts = fits[there].sum(axis=1)
    means = (fits[there] @ np.arange(people, dtype=np.float64)) / counts
    ranks = pl.DataFrame({"class": groups[place], "name": place, "key": means})
    ranks = ranks.select("class", *(pl.col(key).rank().over("class") for key in ("name", "key")))
    errors.append(_errors(ranks))
    worst = max(errors, key=abs)
    return worst if abs(worst) > _FAR else None


def _errors(ranks: pl.DataFrame) -> float:
    """Return how many standard errors two orders are from independence inside classes.

    Eight that stand in one order by chance do so once in 20,160 times, though the formula counts fewer errors.
    """
    errors, one = standard_errors(ranks, "key"), ranks.select(pl.corr("name", "key")).item() or 0.0
    enough = len(ranks) >= _FEWEST and abs(one) > 0.9999
    return float(np.copysign(max(abs(errors), _FAR + 0.1), errors)) if enough else errors


def _order_by(name: str, published: Records, sample: Whole, fits: Flags) -> float | None:
    """Return by how many standard errors rows in the order of a column follow the original's order."""
    order = in_order(published.frame[name]).arg_sort()
    place = np.argsort(order.to_numpy())[sample]
    by = np.argsort(place)
    placed = replace(published, frame=published.frame[order]).without([name])
    return _order(placed, place[by], fits[by], fits.shape[1])


def _numbering(published: Records, original: Records) -> list[str]:
    """Return the columns of a table that have a number for nearly each row."""
    names = []
    for column in published.schema.columns:
        values = published.frame[column.name].drop_nulls()
        mine = column.role == Role.IDENTIFIER or column.name not in original.schema.names
        if mine and values.n_unique() > 0.9 * len(published):
            names.append(column.name)
    return names


# --- identifiers ------------------------------------------------------------------------------------------------------


def _own_names(original: Records) -> dict[str, pl.Series]:
    columns = original.schema.with_role(*_NAMING)
    return {c.name: original.frame[c.name].cast(pl.String).drop_nulls().unique() for c in columns}


def _left_in(published: Records, original: Records, pairs: pl.DataFrame | None) -> list[str]:
    """Return the columns that hold identifiers of the original; numbers without gaps are alike by chance."""
    found = []
    for name in published.frame.columns:
        values = published.frame[name].drop_nulls().unique()
        for own in _own_names(original).values():
            ends = own.filter(own.str.contains(r"^\d{1,15}$")).cast(pl.Int64).sort().to_numpy()
            dense = len(own) == len(ends) > 0 and len(own) > 0.2 * (int(ends[-1]) - int(ends[0]) + 1)
            alike = np.mean(values.is_in(own.implode()).to_numpy()) if len(values) >= 3 else 0.0
            if alike > 0.5 and not dense and 2 * len(own) > len(values):
                found.append(printable(name))
    same = np.zeros(0) if pairs is None else (pairs["pseudonym"] == pairs["customer"]).to_numpy()
    if len(same) >= _FEWEST and same.mean() > 0.5:
        found.append(printable(published.schema.role(Role.CUSTOMER).name))
    return list(dict.fromkeys(found))


def _hashed(published: Records, original: Records) -> tuple[str, ...]:
    """Return the columns whose values are plain hashes of identifiers of the original, whole or cut short."""
    found = []
    for name in published.frame.columns:
        values = published.frame[name].drop_nulls().unique().str.to_lowercase()
        width = values.str.len_chars()
        if len(values) < 3 or width.n_unique() > 1 or not 8 <= int(width[0]) <= 128:
            continue
        if values.str.contains(r"^[0-9a-f]+$").all() is False or not values.str.contains("[a-f]").any():
            continue
        shown, cut = set(values), int(width[0])
        for own in _own_names(original).values():
            some = own[:_MOST_HASHED]
            texts = [form.encode() for text in some for form in {text, text.strip().lower(), text.strip().upper()}]
            hashes = (
                {hashlib.new(by, text, usedforsecurity=False).hexdigest()[:cut] for text in texts} for by in _HASHES
            )
            if any(len(shown & listed) > 0.1 * len(shown) for listed in hashes):
                found.append(printable(name))
    return tuple(dict.fromkeys(found))


# --- tables -----------------------------------------------------------------------------------------------------------


def _classes(published: Records) -> dict[str, Any]:
    """Count rows alike in all columns that an attacker may know, as blanks stand and as if they were every value."""
    columns = published.schema.columns
    known = [c.name for c in columns if c.role == Role.QUASI or (c.role == Role.OTHER and c.known)]
    if not known or not isinstance(published, Table):
        return {}
    classes = table_classes(published, known)
    least = int(classes.sizes.to_numpy().min()) if len(classes.sizes) else None
    secrets = [c.name for c in columns if c.role == Role.SENSITIVE]
    rows = (
        published.frame.with_columns(classes.class_of.alias("\0class"))
        .select(*secrets, "\0class")
        .drop_nulls("\0class")
    )
    uniform = rows.group_by("\0class").agg((pl.all().n_unique() == 1) & (pl.all().null_count() == 0))
    alone = {}
    for name in (c.name for c in columns if c.name in known and c.role == Role.OTHER):
        values = published.frame[name].drop_nulls()
        alone[printable(name)] = int(values.is_unique().sum()) / max(len(published), 1)
    return {
        "known": tuple(printable(name) for name in known),
        "least": least,
        "least_wild": _wild(published.frame.select(known)),
        "disclosed": tuple(printable(name) for name in secrets if uniform[name].any()),
        "alone": alone,
    }


def _wild(frame: pl.DataFrame) -> int | None:
    """Return the fewest rows that agree with a row where a blank agrees with everything; None for many patterns.

    >>> _wild(pl.DataFrame({"age": ["20", "20", None], "sex": ["f", "f", "f"]}))
    3
    """
    names = frame.columns
    kinds = (
        frame.group_by(names)
        .len("n")
        .with_columns(at=pl.concat_str([pl.col(name).is_null().cast(pl.Int8) for name in names]))
    )
    patterns = kinds["at"].unique()
    if len(patterns) == 1 or len(patterns) > 64 or not len(frame):
        return None
    parts = {str(at): kinds.filter(pl.col("at") == at) for at in patterns}
    least = len(frame)
    for mine, rows in parts.items():
        total = rows.select(*names, total=pl.lit(0, dtype=pl.Int64))
        for other, theirs in parts.items():
            both = [n for n, a, b in zip(names, mine, other, strict=True) if a == b == "0"]
            if both:
                sums = theirs.group_by(both).agg(more=pl.col("n").sum().cast(pl.Int64))
                total = total.join(sums, on=both, how="left", maintain_order="left")
            else:
                total = total.with_columns(more=pl.lit(int(theirs["n"].sum()), dtype=pl.Int64))
            total = total.with_columns(total=pl.col("total") + pl.col("more").fill_null(0)).drop("more")
        if "0" in mine:  # a row without any value is nobody's
            least = min(least, int(total["total"].to_numpy().min()))
    return least


def _copies(cells: Records, known: Records, control: Records | None) -> CopyCounts | None:
    """Count released rows that equal a row that comes once in the original, and how many would by chance."""
    names = [c.name for c in cells.schema.columns if c.role not in _NAMING]
    kinds = known.frame.group_by(names).len("n")
    once = kinds.filter(pl.col("n") == 1)
    rows = cells.frame.select(names)

    def equal(those: pl.DataFrame) -> int:
        return len(rows.join(those.select(names), on=names, how="semi", nulls_equal=True))

    copied, size = equal(once), len(rows)
    if control is not None and set(names) <= set(control.frame.columns) and len(control):
        theirs = control.frame.group_by(names).len("n").filter(pl.col("n") == 1)
        share = len(once) / max(len(theirs), 1)
        by_chance = equal(theirs)
        expected, spread = by_chance * share, (by_chance + 1) ** 0.5 * share
        by = "control"
    else:
        twice = int((kinds["n"] == 2).sum())
        scale = 2 * size / max(len(known), 1)
        expected, spread, by = twice * scale, (twice + 1) ** 0.5 * scale, "original"
    most = expected + _FAR * spread
    beyond = copied > most + _FAR * most**0.5 + _LEAST_MATCHED
    return CopyCounts(rows=size, copied=copied, expected=min(expected, float(size)), beyond=beyond, by=by)


# --- histories --------------------------------------------------------------------------------------------------------


def _of_history(
    cells: History, known: Records, published: Records, file: ForeignFile, seed: int, progress: Progress, note: Any
) -> dict[str, Any]:
    """Return what is found of a history: equal histories, who fits each pseudonym, what can be undone, numbering."""
    found: dict[str, Any] = {}
    if not isinstance(known, History) or not isinstance(published, History):
        raise TypeError("a history from elsewhere has a history as its original")
    classes = history_classes(published)["class"].to_numpy()
    least = int(np.bincount(classes).min()) if len(classes) else 1
    found["least"] = least if least > 1 else None
    note("classes")
    pairs = pl.DataFrame(schema={"pseudonym": pl.String, "customer": pl.String})
    counts = np.zeros(0, dtype=np.int64)
    try:
        consistent = consistent_customers(known, cells, part_of(progress, 0.0, 0.6), enough=1_000)
        each = consistent.candidates.counts
        counts = each
        note("candidates")
        found["candidates"] = _counted(counts)
        single = np.flatnonzero(each == 1)
        who = consistent.candidates.customer[consistent.candidates.first[single]]
        pairs = pl.DataFrame({"pseudonym": consistent.pseudonyms.gather(single).cast(pl.String),
                              "customer": consistent.customers.gather(who).cast(pl.String)})  # fmt: skip
    except InputError:
        note("candidates", "fits")
    if not len(counts) or (counts > 0).mean() < 0.5:  # else rows fit as they stand, and nothing needs to be undone
        note("undone")
        undone = []
        for what, attack in (("dates", "shifted"), ("items", "recoded")):
            column = cells.schema.with_role(Role.DATE if what == "dates" else Role.ITEM)
            if (
                column
                and not is_generalised(cells.frame[column[0].name].dtype)
                and every_attack[attack].fits(known.schema)
            ):
                guess = every_attack.create(attack).attack(known, cells, seed=seed).pairs
                matched, constant = _matched_pairs(known, cells, guess, column[0].name, what)
                if matched is not None:
                    undone.append(Undone(what=what, constant=constant, named=len(matched), of=len(cells.customers)))
                    pairs = matched if len(matched) > len(pairs) else pairs
        found["undone"] = tuple(undone)
    if file.truth is not None:
        pairs = _secret(file, known).pseudonyms.unique("pseudonym").select("pseudonym", "customer")
    found["pairs"] = pairs
    found["ids"] = _numberedin_order(known, cells, pairs)
    note("ids")
    return found


def _matched_pairs(
    known: History, cells: History, guess: pl.DataFrame, target: str, what: str
) -> tuple[pl.DataFrame | None, bool]:
    """Return the pairs that match row for row once dates are shifted back or items translated, beyond chance.

    Chance is what the same pairs match when each pseudonym is given the next one's customer.
    """
    who = known.schema.role(Role.CUSTOMER).name
    others = [c.name for c in cells.schema.columns if c.name not in (who, target)]
    others = [
        name
        for name in others
        if not is_interval(cells.frame[name].dtype) and not is_generalised(cells.frame[name].dtype)
    ]
    guess = guess.select(pl.col("pseudonym", "customer").cast(pl.String)).unique(
        "pseudonym", keep="first", maintain_order=True
    )
    results = []
    for turn in (0, 1):
        pairs = guess.with_columns(pl.col("customer").shift(1, fill_value=guess["customer"].max())) if turn else guess
        mine = cells.frame.select(pl.col(who).cast(pl.String).alias("pseudonym"), *others, seen=target).with_row_index(
            "at"
        )
        mine = mine.join(pairs, on="pseudonym")
        own = known.frame.select(pl.col(who).cast(pl.String).alias("customer"), *others, true=target)
        both = mine.join(own, on=["customer", *others], how="inner", nulls_equal=True).drop_nulls(["seen", "true"])
        if what == "dates":
            both = both.with_columns(key=(pl.col("seen").cast(pl.Date) - pl.col("true").cast(pl.Date)).dt.total_days())
            votes = both.group_by("pseudonym", "key").agg(rows=pl.col("at").n_unique())
        else:
            both = both.with_columns(pl.col("seen", "true").cast(pl.String))
            code = both.group_by("seen", "true").agg(n=pl.col("at").n_unique())
            code = code.sort("n", "true", descending=[True, False]).unique("seen", keep="first")
            votes = both.join(code, on=["seen", "true"], how="semi").group_by("pseudonym").agg(
                rows=pl.col("at").n_unique(), key=pl.lit(0)
            )  # fmt: skip
        best = votes.sort("rows", "key", descending=[True, False]).unique("pseudonym", keep="first")
        whole = mine.group_by("pseudonym", "customer").len("whole").join(best, on="pseudonym")
        matched = whole.filter((pl.col("rows") >= _LEAST_MATCHED) & (pl.col("rows") >= _MATCHED * pl.col("whole")))
        results.append(matched)
    found, chance = results[0], len(results[1])
    moved = found.filter(pl.col("key") != 0) if what == "dates" else found
    if len(moved) <= chance + _FAR * (chance + 1) ** 0.5 + _LEAST_MATCHED or 2 * len(moved) < len(found):
        return None, False
    constant = what == "dates" and bool(found["key"].value_counts(sort=True)["count"][0] >= 0.9 * len(found))
    return found.select("pseudonym", "customer").sort("pseudonym"), constant


def _numberedin_order(known: History, cells: History, pairs: pl.DataFrame) -> tuple[OrderLeak, ...]:
    """Return whether pseudonyms follow the customers' own order or first rows, or the rows or sums they have."""
    who = known.schema.role(Role.CUSTOMER).name
    money = [
        c.name for c in cells.schema.with_role(Role.PRICE, Role.QUANTITY) if cells.frame[c.name].dtype.is_numeric()
    ]
    spent = pl.fold(pl.lit(1.0), lambda a, b: a * b, [pl.col(name).cast(pl.Float64) for name in money]).sum()
    rows = cells.frame.group_by(pl.col(who).cast(pl.String).alias("pseudonym")).agg(rows=pl.len(), spent=spent)
    first = known.frame.select(pl.col(who).cast(pl.String).alias("customer")).with_row_index("first").unique(
        "customer", keep="first"
    )  # fmt: skip
    linked = pairs.join(first, on="customer", how="inner")
    errors = []
    for frame, key in ((rows, "rows"), (rows, "spent"), (linked, "first"), (linked, "customer")):
        frame = frame.drop_nulls([key, "pseudonym"])
        if len(frame) < _FEWEST:
            continue
        ranks = (in_order(frame[name].cast(pl.String)).rank() for name in ("pseudonym", key))
        errors.append(
            _errors(pl.DataFrame(dict(zip(("name", "key"), ranks, strict=True))).with_columns(pl.lit(0).alias("class")))
        )
    worst = max(errors, key=abs, default=0.0)
    return (OrderLeak(columns=(printable(who),), errors=worst),) if abs(worst) > _FAR else ()
