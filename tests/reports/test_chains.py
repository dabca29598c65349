"""A chain is shown as its steps, and made again from its file."""

from noren.data.frames import History
from noren.data.statement import Statement
from noren.judgement.outcome import label_of, run_outcome
from noren.methods.chain import Chain
from noren.reports.scripts import ScriptOrder, commands


def test_a_chain_is_called_by_its_steps(history: History) -> None:
    chain = Chain(steps=[{"method": "thin", "share": 0.2, "rarest": True}, "monthly-pseudonyms"])
    outcome = run_outcome(history, chain, attacks=[], measures=["cell-error"], seed=1)
    assert outcome.label == "thin, share = 0.2, rarest → monthly-pseudonyms"
    first = commands(ScriptOrder.of(history, outcome))[0]
    assert first == ("noren protect ORIGINAL --schema pwscup2018 --chain chain.toml --seed SEED --out release/")


def test_a_single_method_is_made_again_by_its_flags(history: History) -> None:
    outcome = run_outcome(history, "perturb", days=2, attacks=[], measures=["cell-error"], seed=1)
    assert outcome.label == "perturb, days = 2"
    assert (
        "--method perturb --period month --days 2 --no-whole-baskets --price 0.05"
        in commands(ScriptOrder.of(history, outcome))[0]
    )


def test_a_chain_that_does_not_tell_its_steps_is_called_chain() -> None:
    assert label_of(Statement("chain", {"steps": 3})) == "chain, steps = 3"
