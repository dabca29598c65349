"""Work of S4's experiments: perturb a table, reconstruct it, compare both with the original.

This module has only what changes a number; the paper's numbers and all texts are in other modules.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from noren.kernels.arrays import Real, Whole
from noren.kernels.reconstruction.retention import keep_probabilities
from noren.measures.utility.l1_precision import precision
from noren.methods.retention import Retention
from noren.reproduce.inputs import dataset
from noren.retention.perturbation import Perturbation
from noren.retention.reconstruction import Model, estimated

AGES = "age=20..90:5"
ATTRIBUTES = {
    "t1": ("race", "sex", "native-country"),
    "t2": ("occupation", "relationship", "marital-status"),
    "t3": ("age", "workclass", "education"),
    "t4": ("occupation", "workclass", "education"),
}
BLOOD = {
    "A": (0.8, 0.2 / 3, 0.2 / 3, 0.2 / 3),
    "B": (0.4, 0.4, 0.1, 0.1),
    "C": (0.4, 0.3, 0.2, 0.1),
    "D": (0.3, 0.3, 0.3, 0.1),
    "E": (0.25, 0.25, 0.25, 0.25),
}
MONTH = {
    "1": (0.45, *(0.05,) * 11),
    "2": (*(0.8 / 6,) * 6, *(0.2 / 6,) * 6),
    "3": tuple(m / 78 for m in range(12, 0, -1)),
    "4": (*(0.09,) * 11, 0.01),
    "5": (1 / 12,) * 12,
}
SIZES = (4, 12)


# --- Adult -----------------------------------------------------------------------------------------------------------


def adult_domains() -> dict[str, int]:
    """Return how many values each of the nine attributes may take, as the schema says, ages in classes of five."""
    data = dataset("adult")
    names = tuple(dict.fromkeys(name for table in ATTRIBUTES.values() for name in table))
    plan = Retention(attributes=names, rho=0.0, classes=(AGES,)).plan(data.schema, len(data))
    return {attribute.column.name: attribute.size for attribute in plan.attributes}


def adult(table: str, k: int, seed: int, model: Model) -> dict[str, Any]:
    """Return the L1 precision in per cent of the perturbed table and of its reconstruction; and the reconstruction."""
    plan, x, y = _perturbed(table, k, seed)
    estimate, _weights = estimated(y, list(plan.rhos), model, np.random.default_rng(seed))
    return {
        "perturbed": 100 * precision(x, y),
        "reconstructed": 100 * precision(x, estimate),
        "table": np.round(estimate, 2).tolist(),
    }


def adult_tables(table: str, k: int, seed: int) -> dict[str, Any]:
    """Return the names of the values, and the tables before and after perturbation."""
    plan, x, y = _perturbed(table, k, seed)
    return {"labels": [a.labels() for a in plan.attributes], "original": x.tolist(), "perturbed": y.tolist()}


def _perturbed(table: str, k: int, seed: int) -> tuple[Perturbation, Real, Real]:
    data = dataset("adult")
    names = ATTRIBUTES[table]
    plan = Retention(attributes=names, k=k, classes=(AGES,) if "age" in names else ()).plan(data.schema, len(data))
    codes = plan.codes(data.frame)
    return plan, plan.table(codes), plan.table(plan.perturbed(codes, seed=seed))


# --- synthetic -------------------------------------------------------------------------------------------------------


def synthetic(rows: int, pattern: str, k: int, seed: int, model: Model) -> dict[str, float]:
    """Return the L1 precision in per cent of a perturbed synthetic table and of its reconstruction by a model.

    Blood type and month are drawn independently, as the pattern says, with new draws for every seed.
    """
    draws = np.random.default_rng([seed, rows, k, *pattern.encode()])
    codes = [draws.choice(4, rows, p=BLOOD[pattern[0]]), draws.choice(12, rows, p=MONTH[pattern[2]])]
    rhos = keep_probabilities(k, SIZES, rows)
    seen = [
        np.where(draws.random(rows) < rho, c, draws.integers(0, m, rows))
        for c, m, rho in zip(codes, SIZES, rhos, strict=True)
    ]
    x, y = _tabulated(*codes), _tabulated(*seen)
    estimate, _weights = estimated(y, rhos, model, np.random.default_rng(seed))
    return {"perturbed": 100 * precision(x, y), "reconstructed": 100 * precision(x, estimate)}


def _tabulated(blood: Whole, month: Whole) -> Real:
    return np.bincount(blood * 12 + month, minlength=48).reshape(SIZES).astype(np.float64)
