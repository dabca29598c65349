"""Costs of pairs of customers in Triton: one block of threads for each pair, which holds the whole assignment.

The steps are those of :func:`noren.kernels.linkage.assignment.assign`. A vector of registers holds what it keeps for
each column or row; entries of the matrix of costs are formed when they are asked for, from the two histories' rows.
Products and sums are not fused, so that digits are the kernel's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import triton
import triton.language as tl


@triton.jit
def _line(i, x, y, z, item, worth, inside, xs, ys, zs, items, alone, constants):
    """Return what row i adds with each row of the longer history."""
    slope = tl.load(constants)
    ceiling = tl.load(constants + 1)
    unlike = tl.load(constants + 2)
    half = tl.load(constants + 3)
    deletion = tl.load(constants + 4)
    no_distance = tl.load(constants + 5)
    dx = tl.abs(xs - tl.load(x + i))
    dy = tl.abs(ys - tl.load(y + i))
    dz = tl.abs(zs - tl.load(z + i))
    mine = tl.load(item + i)
    cost = tl.where(dx < no_distance, tl.minimum(slope * dx, ceiling), half)
    cost = cost + tl.where(dy < no_distance, tl.minimum(slope * dy, ceiling), half)
    cost = cost + tl.where(dz < no_distance, tl.minimum(slope * dz, ceiling), half)
    other = tl.where((items >= 0) & (mine >= 0), unlike, half)
    cost = cost + tl.where(items == mine, 0.0, other)
    apart = tl.load(worth + i) * deletion
    cost = tl.minimum(cost, apart + alone) - alone
    return tl.where(inside, cost, tl.load(constants + 8))


@triton.jit
def _at(values, j, place):
    """Return one entry of a vector."""
    return tl.sum(tl.where(j == place, values, 0), axis=0)


@triton.jit
def _first(there, j, width: tl.constexpr):
    return tl.min(tl.where(there, j, width - 1), axis=0)


@triton.jit
def _costs(start, point, item, worth, few, many, limits, values, constants, total_rows, width: tl.constexpr):
    pair = tl.program_id(0)
    shorter = tl.load(few + pair)
    longer = tl.load(many + pair)
    a = tl.load(start + shorter)
    b = tl.load(start + longer)
    rows = (tl.load(start + shorter + 1) - a).to(tl.int32)
    columns = (tl.load(start + longer + 1) - b).to(tl.int32)
    deletion = tl.load(constants + 4)
    far = tl.load(constants + 6)
    tiny = tl.load(constants + 7)
    nothing = tl.load(constants + 9)
    huge = tl.load(constants + 8)
    j = tl.arange(0, width)
    inside = j < columns
    x = point + a
    y = x + total_rows
    z = y + total_rows
    its = item + a
    its_worth = worth + a
    xs = tl.load(point + b + j, mask=inside, other=0.0)
    ys = tl.load(point + total_rows + b + j, mask=inside, other=0.0)
    zs = tl.load(point + 2 * total_rows + b + j, mask=inside, other=0.0)
    items = tl.load(item + b + j, mask=inside, other=0)
    theirs = tl.load(worth + b + j, mask=inside, other=0.0)
    alone = theirs * deletion
    left = tl.sum(theirs, axis=0) * deletion
    limit = tl.load(limits + pair) - left

    bound = nothing
    for i in range(rows):
        bound += tl.min(_line(i, x, y, z, its, its_worth, inside, xs, ys, zs, items, alone, constants), axis=0)
    value = bound
    alive = bound <= limit

    row_of = tl.full((width,), -1, dtype=tl.int32)
    column_of = tl.full((width,), -1, dtype=tl.int32)
    price = tl.zeros((width,), dtype=tl.float64)
    free = j
    waiting = rows
    for _round in range(2):
        k = 0
        ahead = tl.where(alive, waiting, 0)
        waiting = 0
        bids = 0
        while k < ahead:
            i = _at(free, j, k)
            k += 1
            bids += 1
            reduced = _line(i, x, y, z, its, its_worth, inside, xs, ys, zs, items, alone, constants) - price
            least = tl.min(reduced, axis=0)
            j1 = _first(reduced == least, j, width)
            rest = tl.where(j == j1, huge, reduced)
            second = tl.min(rest, axis=0)
            j2 = _first(rest == second, j, width)
            second = tl.where(columns == 1, least, second)
            gap = second - least
            strictly = gap > tiny
            loser = _at(row_of, j, j1)
            price = tl.where((j == j1) & strictly, price - gap, price)
            other = (gap <= tiny) & (loser >= 0) & (columns > 1)
            j1 = tl.where(other, j2, j1)
            loser = _at(row_of, j, j1)
            row_of = tl.where(j == j1, i, row_of)
            column_of = tl.where(j == i, j1, column_of)
            lost = loser >= 0
            column_of = tl.where((j == loser) & lost, -1, column_of)
            again = lost & strictly & (bids < 4 * rows + 16)
            k = tl.where(again, k - 1, k)
            free = tl.where((j == tl.where(again, k, waiting)) & lost, loser, free)
            waiting = tl.where(lost & (again == 0), waiting + 1, waiting)

    if alive:
        bound = nothing
        for at in range(columns):
            bound += _at(price, j, at)
        for i in range(rows):
            line = _line(i, x, y, z, its, its_worth, inside, xs, ys, zs, items, alone, constants)
            bound += tl.min(line - price, axis=0)
        value = bound
        alive = bound <= limit

    begin_row = 0
    while (begin_row < rows) & alive:
        if _at(column_of, j, begin_row) < 0:
            line = _line(begin_row, x, y, z, its, its_worth, inside, xs, ys, zs, items, alone, constants)
            open_price = price
            reach = line - price
            before = tl.zeros((width,), dtype=tl.int32) + begin_row
            length = tl.zeros((width,), dtype=tl.float64)
            scanned = tl.zeros((width,), dtype=tl.int32)
            shortest = tl.min(reach, axis=0)
            begin = shortest
            near = reach <= shortest
            arrived = tl.max((near & (row_of < 0)).to(tl.int32), axis=0)
            sink = tl.where(arrived > 0, _first(near & (row_of < 0), j, width), tl.max(tl.where(near, j, 0), axis=0))
            while arrived == 0:
                here = j == sink
                scanned = tl.where(here, 1, scanned)
                length = tl.where(here, shortest, length)
                i = _at(row_of, j, sink)
                line = _line(i, x, y, z, its, its_worth, inside, xs, ys, zs, items, alone, constants)
                offset = _at(line, j, sink) - _at(price, j, sink) - shortest
                reach = tl.where(here, far, reach)
                open_price = tl.where(here, -far, open_price)
                through = line - open_price - offset
                closer = through < reach
                reach = tl.where(closer, through, reach)
                before = tl.where(closer, i, before)
                shortest = tl.min(reach, axis=0)
                near = reach <= shortest
                arrived = tl.max((near & (row_of < 0)).to(tl.int32), axis=0)
                sink = tl.where(
                    arrived > 0, _first(near & (row_of < 0), j, width), tl.max(tl.where(near, j, 0), axis=0)
                )
            bound += shortest - begin
            value = bound
            alive = bound <= limit
            if alive:
                price = tl.where(scanned > 0, price + (length - shortest), price)
                going = 1
                while going > 0:
                    i = _at(before, j, sink)
                    row_of = tl.where(j == sink, i, row_of)
                    previous = _at(column_of, j, i)
                    column_of = tl.where(j == i, sink, column_of)
                    sink = previous
                    going = tl.where(i == begin_row, 0, 1)
        begin_row += 1
    if alive:
        value = nothing
        for i in range(rows):
            line = _line(i, x, y, z, its, its_worth, inside, xs, ys, zs, items, alone, constants)
            value += _at(line, j, _at(column_of, j, i))
    tl.store(values + pair, left + value)


def costs(laid: Any, few: Any, many: Any, limits: Any, columns: int) -> Any:
    """Return what pairs cost whose longer history has at most ``columns`` rows, a power of two."""
    accelerator, tariff = laid.accelerator, laid.tariff
    torch = accelerator.torch
    charges = tariff.slope, tariff.ceiling, tariff.item, tariff.half_missing, tariff.deletion
    constants = np.array([*charges, 1e29, 1e290, 1e-12, 1e299, 0], np.float64)
    values = torch.empty(len(few), dtype=torch.float64, device=accelerator.device)
    places = [accelerator.tensor(np.asarray(array)) for array in (few, many, limits)]
    _costs[(len(few),)](
        laid.start, laid.point, laid.item, laid.worth, *places, values,
        accelerator.tensor(constants), laid.point.shape[1],
        columns, num_warps=1 if columns <= 128 else 4, enable_fp_fusion=False,
    )  # fmt: skip
    return values.cpu().numpy()
