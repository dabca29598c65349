"""What is certified holds for every draw of the pseudonyms, and no draw decides whether a period is released."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.ledger.books import MONTHS, SCHEMA, history, ledger

from noren.api import protect
from noren.attacks import attacks
from noren.data.frames import History
from noren.data.release import Release
from noren.ledger import BudgetError, Ledger
from noren.ledger.certificate import certified, least_possible, sizes_of, why_uncertified
from noren.ledger.joined import of_period
from noren.ledger.risk import attack_all, guess_rates
from noren.methods.pseudonymize import Pseudonymize
from noren.registry import build

PAIRS: list[Any] = [{"method": "generalize-by-count", "k": 2}]
TRIPLES: list[Any] = [{"method": "generalize-by-count", "k": 3}]


def shop(customers: int = 31) -> History:
    """Customers who buy four things in each of three months, one of them in two months alone."""
    generator = np.random.default_rng(3)
    lines = [
        f"c{customer:02} {month}/{generator.integers(1, 28)} i{generator.integers(9)} {generator.integers(1, 9)}.5 1"
        for month in MONTHS
        for customer in range(customers)
        for _row in range(4)
        if customer or month != MONTHS[1]
    ]
    return history(lines)


@pytest.fixture(scope="module")
def year(tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    """Three months in classes of three, accepted by a budget on the certificate."""
    book = ledger(tmp_path_factory.mktemp("year") / "l", chain=TRIPLES, budget={"emm": 0.334}, attacks=["s1"])
    for _month in range(3):
        book.add(shop(), seed=1)
    return book


def releases(book: Ledger) -> list[Release]:
    return [Release.load(book.release_folder(entry.period)) for entry in book.entries]


class TestTheNumbers:
    def test_by_hand(self, tmp_path: Path) -> None:
        book = ledger(tmp_path / "l", chain=PAIRS)
        for _month in MONTHS:
            book.add(history(), seed=1)
        told = [entry.certificate for entry in book.entries]
        assert [(c.k, c.claimed, c.periods, c.classes, c.live) for c in told if c] == [
            (2, 2, 1, 1, 2),
            (2, 2, 2, 2, 4),
            (2, 2, 3, 3, 6),
        ]
        assert [c.rate for c in told if c] == [
            {"um": 1 / 2, "mm": 1 / 2, "emm": 1 / 2},
            {"um": 1 / 4, "mm": 1 / 2, "emm": 1 / 2},
            {"um": 1 / 8, "mm": 1 / 2, "emm": 1 / 2},
        ]
        assert [c.once for c in told if c] == [1 / 2, 3 / 4, 7 / 8]
        assert [c.tail["mm"] for c in told if c] == [1.0] * 3  # of so few anything may happen

    def test_of_a_month_and_what_it_could_be_at_least(self, year: Ledger) -> None:
        made = releases(year)
        sizes = sizes_of(made, shop().customers)
        last = year.certificate()
        assert last is not None
        assert last == certified(made, shop().customers)
        live = (sizes > 0).sum()
        assert last.live == live == sum(entry.pseudonyms for entry in year.entries)
        assert last.classes == sum((np.bincount(column)[3:] // np.arange(3, column.max() + 1)).sum() for column in
                                   sizes.T if column.any())  # fmt: skip
        assert last.rate["mm"] == pytest.approx(last.classes / live)
        # one class of all customers of the last month in place of its classes of three
        past = last.classes - len(set(classes_of(made[-1]).values()))
        assert least_possible(made, shop().customers)["mm"] == pytest.approx((past + 1) / live)


def classes_of(release: Release) -> dict[str, str]:
    """The public history of each pseudonym as text."""
    rows = release.public.texts()
    column = release.public.schema.role("customer").name
    lines = rows.select(column, pl.concat_str(pl.exclude(column).fill_null(""), separator="|").alias("line"))
    whole = lines.group_by(column).agg(pl.col("line").sort().str.join("\n"))
    return dict(whole.iter_rows())


class TestRedraws:
    def test_no_class_attacker_does_better_in_2000_draws(self, year: Ledger) -> None:
        generator = np.random.default_rng(7)
        rates = {"the same": [], "rotated": [], "one for all": []}  # type: dict[str, list[float]]
        classes = []
        for release in releases(year):
            found: dict[str, list[str]] = {}
            for name, text in classes_of(release).items():
                found.setdefault(text, []).append(name)
            classes += [len(names) for names in found.values()]
        assert min(classes) >= 3
        live = sum(classes)
        for _draw in range(2000):
            hits = dict.fromkeys(rates, 0)
            for size in set(classes):
                many = classes.count(size)
                drawn = generator.permuted(np.tile(np.arange(size), (many, 1)), axis=1)
                hits["the same"] += int((drawn == np.arange(size)).sum())
                hits["rotated"] += int((drawn == np.roll(np.arange(size), 1)).sum())
                hits["one for all"] += int((drawn == 0).sum())
            for name, count in hits.items():
                rates[name].append(count / live)
        certificate = year.certificate()
        assert certificate is not None
        for found_rates in rates.values():
            error = np.std(found_rates) / 2000**0.5
            assert np.mean(found_rates) <= certificate.rate["mm"] + 4 * error + 1e-12 <= 1 / 3 + 4 * error + 1e-12
            assert np.mean(np.array(found_rates) > certificate.tail["mm"]) <= 0.001

    def test_the_exact_mean_is_that_of_many_draws(self, year: Ledger) -> None:
        made = releases(year)[:2]
        months = [entry.period for entry in year.entries][:2]
        originals = [protected_rows(year, month) for month in months]
        bought = History(pl.concat([one.frame for one in originals]), originals[0].schema)
        drawn = []
        for seed in range(25):
            again = [of_period(release, month, (), seed) for release, month in zip(made, months, strict=True)]
            again[1] = of_period(again[1], months[1], [str(10**6)], seed)
            guesses = attack_all(originals, again, [build(attacks["linkage"], {})])
            exact = guess_rates(bought, again, guesses, exactly=True)
            drawn.append((exact["linkage"]["mm"], guess_rates(bought, again, guesses)["linkage"]["mm"]))
        means, hits = np.array(drawn).T
        assert hits.std() > 0
        assert np.mean(hits - means) == pytest.approx(0, abs=4 * np.std(hits - means) / 25**0.5)
        certificate = year.certificate()
        assert certificate is not None
        assert max(means) <= 1 / 3 + 1e-12


def protected_rows(book: Ledger, month: str) -> History:
    rows = pl.read_parquet(book.release_folder(month) / "secret/original.parquet")
    return History(rows, SCHEMA)


def test_names_are_uniform_whatever_the_method_drew() -> None:
    # with the method's own permutation applied twice, no two of three customers would ever change places
    rows = history(["ann 2010/12/1 tea 1 1", "bob 2010/12/1 cup 1 1", "cho 2010/12/1 jar 1 1"])
    found: dict[tuple[str, ...], int] = {}
    for seed in range(150):
        made = of_period(Pseudonymize().protect(rows, seed=seed), "2010/12", (), seed)
        order = tuple(made.secret.pseudonyms.sort("pseudonym")["customer"])
        found[order] = found.get(order, 0) + 1
    assert len(found) == 6
    assert sum((count - 25) ** 2 / 25 for count in found.values()) < 20.5  # chi-square of 5, one in a thousand


class TestBudget:
    @pytest.mark.parametrize(("limit", "released"), [(0.2, False), (0.34, True)])
    def test_no_draw_decides(self, tmp_path: Path, limit: float, released: bool) -> None:
        book = ledger(tmp_path / "l", chain=TRIPLES, budget={"emm": limit}, attacks=["s1"])
        data = shop(14)
        weighed = [book.weigh(data, seed=seed) for seed in range(8)]
        assert {not proposal.broken for proposal in weighed} == {released}
        assert len({json.dumps(proposal.certificate.model_dump()) for proposal in weighed if proposal.certificate}) == 1
        names = [proposal.release.secret.pseudonyms.sort("pseudonym")["customer"] for proposal in weighed]
        assert len({tuple(order) for order in names}) == 8

    def test_without_classes_the_means_of_other_draws_decide(self, tmp_path: Path) -> None:
        noise: list[Any] = [{"method": "thin", "share": 0.3}, "perturb", "monthly-pseudonyms"]
        book = ledger(tmp_path / "l", chain=noise, attacks=["s7"])
        data = shop(14)
        weighed = [book.weigh(data, seed=seed) for seed in range(4)]
        assert {proposal.certificate for proposal in weighed} == {None}
        assert {proposal.uncertified for proposal in weighed} == {
            f"the release of {weighed[0].period} does not claim classes of k identical histories"
        }
        assert len({proposal.release.public.digest() for proposal in weighed}) == 4
        risks = {json.dumps(proposal.after.model_dump(), sort_keys=True) for proposal in weighed}
        assert len(risks) == 1
        assert weighed[0].after.redraws == 4
        low, high = weighed[0].after.interval["mm"]
        assert low < weighed[0].after.mm < high

    def test_the_error_tells_the_size_that_would_do(self, tmp_path: Path) -> None:
        book = ledger(tmp_path / "l", chain=TRIPLES, budget={"emm": 0.2}, attacks=["s1"])
        with pytest.raises(BudgetError, match=r"EMM would be 0\.3\d+, above the budget of 0\.2; protect it in classes"):
            book.add(shop(), seed=1)
        k = book.weigh(shop(), seed=1).enough
        assert k is not None
        for size, kept in ((k, True), (k - 1, False)):
            proposal = book.weigh(shop(), seed=1, chain=[{"method": "generalize-by-count", "k": size}])
            assert (not proposal.broken) == kept

    def test_the_error_tells_the_least_possible(self, tmp_path: Path) -> None:
        book = ledger(tmp_path / "l", chain=PAIRS, budget={"mm": 0.1})
        with pytest.raises(BudgetError) as refused:
            book.add(history(), seed=1)
        assert "no release of this period can be certified below 0.5000, even with all" in str(refused.value)
        assert refused.value.proposal.enough is None

    def test_the_certificate_uses_the_budget_up(self, year: Ledger) -> None:
        certificate = year.certificate()
        assert certificate is not None
        assert year.left() == pytest.approx({"emm": 0.334 - certificate.rate["emm"]})
        risk = year.risk()
        assert risk is not None
        assert risk.redraws == 0
        assert risk.mm <= certificate.rate["mm"]
        assert year.certified_curve() == [e.certificate.rate["mm"] for e in year.entries if e.certificate]


class TestUncertified:
    def test_a_customer_of_several_names(self) -> None:
        release = protect(history(), "monthly-pseudonyms", seed=1)
        assert "does not claim classes" in why_uncertified(release, "2010/12")

    def test_what_came_before_counts(self, tmp_path: Path) -> None:
        book = ledger(tmp_path / "l")
        book.add(history(), seed=1)
        proposal = book.weigh(history(), seed=1, chain=PAIRS)
        assert (proposal.certificate, proposal.uncertified) == (None, "2010/12 was released without a certificate")
