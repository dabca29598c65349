"""Several releases of one table: the bound against every way to give people rows, and what cannot be joined."""

import json
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from noren.api import protect
from noren.data.frames import Table
from noren.data.release import Statement
from noren.data.schema import Schema
from noren.errors import FileError, ParameterError
from noren.kernels.reconstruction.retention import Channel, decay_of, k_of_ratios, laplace, least_ratio
from noren.retention.joint_release import JointPart, joint, part_in, part_of_statement, planned_part

SCHEMA = Schema.of(
    {
        "kind": "table",
        "columns": {
            "sex": {"role": "quasi", "domain": ["f", "m"]},
            "town": {"role": "quasi", "domain": ["a", "b", "c"]},
            "age": {"role": "quasi", "type": "integer", "minimum": 0.0, "maximum": 9.0},
        },
    }
)


def people(rows: int = 60, seed: int = 1) -> Table:
    draws = np.random.default_rng(seed)
    return Table.of(
        {
            "sex": [("f", "m")[v] for v in draws.integers(0, 2, rows)],
            "town": [("a", "b", "c")[v] for v in draws.integers(0, 3, rows)],
            "age": draws.integers(0, 10, rows),
        },
        SCHEMA,
    )


# --- the bound ---------------------------------------------------------------------------------------------


def matrix(channel: Channel, size: int) -> np.ndarray:
    return channel if isinstance(channel, np.ndarray) else channel * np.eye(size) + (1 - channel) / size


def chances(values: np.ndarray, seen: np.ndarray, matrices: list[np.ndarray]) -> np.ndarray:
    """How likely each person's row is to be seen as each released row."""
    found = np.ones((len(values), len(seen)))
    for a, one in enumerate(matrices):
        found *= one[values[:, a]][:, seen[:, a]]
    return found


def posterior_linked(first: np.ndarray, second: np.ndarray) -> float:
    """The surest answer to whose a row is, for somebody who knows which rows of the releases belong together."""
    rows = len(first)
    owner = np.zeros((rows, rows))
    for way in permutations(range(rows)):
        owner[range(rows), way] += np.prod((first * second)[range(rows), way])
    return float((owner / owner.sum(axis=0)).max())


def posterior_unlinked(first: np.ndarray, second: np.ndarray) -> float:
    """The same, for somebody who does not know it: the rows of both may be dealt to people in any way."""
    rows = len(first)
    owner = np.zeros((rows, rows))
    for one in permutations(range(rows)):
        for two in permutations(range(rows)):
            owner[range(rows), one] += np.prod(first[range(rows), one]) * np.prod(second[range(rows), two])
    return float((owner / owner.sum(axis=0)).max())


@pytest.mark.parametrize("seed", range(10))
def test_nobody_is_told_by_all_releases_with_more_than_one_over_k(seed: int) -> None:
    draws = np.random.default_rng(seed)
    rows = int(draws.integers(2, 6))
    # the first release has two attributes, one of them perturbed again in the second, which has a number too
    rhos = draws.uniform(0.05, 0.6, 3)
    ratio = float(draws.uniform(0.3, 0.9))
    first = [matrix(float(rhos[0]), 2), matrix(float(rhos[1]), 3)]
    second = [matrix(float(rhos[2]), 2), matrix(laplace(4, decay_of(ratio, 4)), 4)]
    ratios = [least_ratio(float(r), m) for r, m in zip(rhos, (2, 3, 2), strict=True)] + [ratio]
    k = k_of_ratios(ratios, rows)
    for _trial in range(15):
        person = np.stack([draws.integers(0, m, rows) for m in (2, 3, 4)], axis=1)
        seen_1 = np.stack([draws.integers(0, m, rows) for m in (2, 3)], axis=1)
        seen_2 = np.stack([draws.integers(0, m, rows) for m in (2, 4)], axis=1)
        one = chances(person[:, [0, 1]], seen_1, first)
        two = chances(person[:, [0, 2]], seen_2, second)
        assert posterior_linked(one, two) <= 1 / k + 1e-12
        if rows <= 3:
            # who cannot link rows learns nothing of the first release from the second
            assert posterior_unlinked(one, two) <= 1 / k_of_ratios(ratios[:2], rows) + 1e-12
            assert posterior_unlinked(one, two) == pytest.approx(posterior_linked(one, np.ones((rows, rows))))


def test_the_joint_bound_is_attained() -> None:
    # two people who differ in everything, each seen as they are in both releases
    first, second = matrix(0.3, 2), matrix(0.2, 3)
    one = chances(np.array([[0], [1]]), np.array([[0], [1]]), [first])
    two = chances(np.array([[0], [2]]), np.array([[0], [2]]), [second])
    k = k_of_ratios([least_ratio(0.3, 2), least_ratio(0.2, 3)], 2)
    assert posterior_linked(one, two) == pytest.approx(1 / k)


# --- statements --------------------------------------------------------------------------------------------


def test_of_two_releases() -> None:
    original = people(400)
    made = [
        protect(original, "retention", attributes=names, k=k, seed=7).statement
        for names, k in ((["sex", "town"], 50), (["sex", "age"], 40))
    ]
    parts = [part_of_statement(s, n) for s, n in zip(made, "ab", strict=True)]
    assert joint(parts[:1]).k == pytest.approx(50)
    found = joint(parts)
    assert found.k == pytest.approx(1 + 399 * (49 / 399) * (39 / 399))
    assert [part.k for part in found.parts] == pytest.approx([50, 40])
    assert found.attributes == ("sex", "town", "age")
    assert found.repeated == ("sex",)
    assert found.same_table is None
    # a third that keeps k = 3 with them
    room = found.room(3)
    assert room is not None
    assert joint([*found.parts, planned_part("c", ["town"], 400, room)]).k == pytest.approx(3)
    assert found.room(found.k + 0.1) is None


def test_releases_under_one_seed_have_noise_of_their_own() -> None:
    # the proof multiplies likelihoods, which needs independent noise: here the same attribute at the same rho
    original = people(4000)
    one = protect(original, "retention", attributes=["sex"], rho=0.5, seed=7).aligned().frame["sex"]
    two = protect(original, "retention", attributes=["sex", "town"], rho=0.5, seed=7).aligned().frame["sex"]
    kept_1, kept_2 = ((seen == original.frame["sex"]).to_numpy() for seen in (one, two))
    assert abs(float(np.corrcoef(kept_1, kept_2)[0, 1])) < 0.06


def test_folders_published_ones_and_statements_alone(tmp_path: Path) -> None:
    original = people()
    one = protect(original, "retention", attributes=["sex"], k=20, seed=1)
    two = protect(original, "retention", attributes=["town"], k=30, seed=2)
    one.save(tmp_path / "one")
    two.save(tmp_path / "two")
    two.publish(tmp_path / "published")
    kept = part_in(tmp_path / "one")
    assert kept.digest == original.digest()
    assert joint([kept, part_in(tmp_path / "two")]).same_table
    assert joint([kept, part_in(tmp_path / "published")]).same_table is None
    alone = part_in(tmp_path / "two" / "statement.json")
    assert alone.digest is None
    assert alone.k == pytest.approx(30)
    (tmp_path / "published" / "public.parquet").unlink()
    assert part_in(tmp_path / "published").k == pytest.approx(30)


def test_what_cannot_be_joined(tmp_path: Path) -> None:
    one = protect(people(60), "retention", attributes=["sex"], k=20, seed=1)
    other = protect(people(50), "retention", attributes=["sex"], k=20, seed=1)
    with pytest.raises(ParameterError, match=r"1 has 60 rows and 2 has 50, so there is no joint k"):
        joint([part_of_statement(one.statement, "1"), part_of_statement(other.statement, "2")])
    one.save(tmp_path / "one")
    protect(people(60, seed=2), "retention", attributes=["sex"], k=20, seed=1).save(tmp_path / "else")
    with pytest.raises(ParameterError, match=r"according to their secret parts, .* of different data; .*published"):
        joint([part_in(tmp_path / "one"), part_in(tmp_path / "else")])
    with pytest.raises(ParameterError, match="was made by mondrian, whose k means something else"):
        part_of_statement(Statement("mondrian", {"k": 3}), "m")
    with pytest.raises(ParameterError, match="there is no release"):
        joint([])
    with pytest.raises(ParameterError, match="k = 61 is out of range; use 1 < k <= 60"):
        planned_part("p", ["sex"], 60, 61)


@pytest.mark.parametrize(
    "notes",
    [
        {},
        {"rows": 1, "attributes": []},
        {"rows": 9, "attributes": [{"name": "a", "values": 2}]},
        {"rows": 9, "attributes": [{"name": "a", "values": 2, "rho": 1.5}]},
        {"rows": 9, "attributes": ["a"]},
    ],
)
def test_a_statement_that_says_too_little(notes: dict[str, object]) -> None:
    with pytest.raises(FileError, match="does not say how the table was perturbed"):
        part_of_statement(Statement("retention", notes=notes), "s")


@pytest.mark.parametrize("content", ["", "[]", '{"method": 3}', '{"method": "retention", "notes": 3}', "{}"])
def test_files_that_are_no_statements(content: str, tmp_path: Path) -> None:
    file = tmp_path / "statement.json"
    file.write_text(content)
    with pytest.raises(FileError, match="not the statement of a release"):
        part_in(file)
    with pytest.raises(FileError, match="not the statement of a release"):
        part_in(tmp_path / "absent")
    file.write_text(json.dumps({"method": "retention", "notes": {"rows": 5, "attributes": []}, "more": 1}))
    assert part_in(tmp_path).k == 5  # a release of nothing tells nothing


def test_one_release_is_joint_with_itself_alone() -> None:
    assert joint([JointPart("a", ("x",), 11, 0.1)]).k == pytest.approx(2)
