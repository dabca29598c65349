"""Which setting to take, how sure that is, what is tried where nobody says it, and the map of all that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest
import vl_convert

from noren.api import sample
from noren.data.samples.people import sample_people
from noren.data.schema import Kind
from noren.drawing.base import live
from noren.errors import ParameterError
from noren.judgement.frontier import RiskUtilityPoint, recommend
from noren.judgement.rule import get_rule
from noren.judgement.verdict import Verdict
from noren.methods import methods
from noren.sweeps.advice import advice, answer, sureness
from noren.sweeps.defaults import sensible_methods, sensible_values
from noren.sweeps.page import SettingsMap, settings_map
from noren.sweeps.plan import settings_for

PARTNER = get_rule("partner")


@dataclass(frozen=True)
class Tried:
    """A setting whose place is made by hand."""

    label: str
    place: RiskUtilityPoint
    uses: Sequence[float] = (0.5,)
    verdict: Verdict | None = None
    scores: Mapping[str, float] = field(default_factory=dict)

    @property
    def method(self) -> str:
        return self.label.split(",")[0]

    @property
    def strength(self) -> str:
        return [*self.label.split(", "), ""][1]


def tried(label: str, word: str, use: float, risk: float) -> Tried:
    return Tried(label, RiskUtilityPoint(label=label, status=word, use=use, risk=risk))


RAW = tried("pseudonymize", "broken", 1.0, 0.99)
SWAPS = [tried(f"swap, share = 0.{n}", "broken", 0.99, 0.9) for n in range(1, 8)]
THREE = tried("generalize, k = 3", "broken", 0.7, 0.33)
FIVE = tried("generalize, k = 5", "proved", 0.6, 0.2)
SIX = tried("generalize, k = 6", "proved", 0.5, 0.167)
THIN = tried("thin, share = 0.5", "withstands", 0.4, 0.1)
ALL = [RAW, *SWAPS, THREE, FIVE, SIX, THIN]


def found(settings: Sequence[Tried]) -> SettingsMap:
    made = settings_map(settings, recommend([one.place for one in settings]), PARTNER)
    assert made is not None
    return made


# --- words -----------------------------------------------------------------------------------------------------------


def test_one_seed_is_said_to_be_one() -> None:
    assert sureness(FIVE) == "These numbers are from one run; other releases by generalize, k = 5 will differ."
    assert sureness(Tried("a", FIVE.place, uses=())) == ""


def test_several_seeds_have_their_mean_and_interval() -> None:
    # the deviation of 0.5, 0.6 and 0.7 is 0.1, of their mean 0.0577; Student's t with 2 degrees of freedom is 4.303
    assert sureness(Tried("thin", THIN.place, uses=(0.5, 0.6, 0.7))) == (
        "Over 3 runs, thin keeps 60.0% of the utility on average (95 % confidence interval: 35.2% to 84.8%); "
        "verdict and risk are those of the worst run."
    )


def test_the_advice_is_the_answer_in_parts() -> None:
    choices = recommend([one.place for one in ALL])
    (one,) = advice(ALL, choices)
    assert one.more_useful.startswith("generalize, k = 3 keeps 0.100 more of the utility.")
    assert one.safer == (
        "generalize, k = 6 is safer (proved, risk 16.7% instead of 20.0%), but keeps 0.100 less of the utility."
    )
    assert answer(ALL, choices)[1:] == one.sentences
    assert answer(ALL, choices)[0] == (
        "Recommended: generalize, k = 5. It keeps the most utility (60.0%) of the 3 settings that meet your rule."
    )


def test_where_nothing_may_be_handed_out_nothing_lies_beside() -> None:
    (one,) = advice([RAW, THREE], recommend([RAW.place, THREE.place]))
    assert (one.more_useful, one.safer) == ("", "")


# --- the map ---------------------------------------------------------------------------------------------------------


def test_the_map_draws_what_can_be_chosen_and_tells_the_rest() -> None:
    made = found(ALL)
    assert made.labels == ["◆ generalize, k = 5", "▲ generalize, k = 3", "◆ generalize, k = 6", "● thin, share = 0.5"]
    assert made.brief == ["◆ k = 5", "▲ k = 3", "◆ k = 6", "● share = 0.5"]
    assert made.taken == [0]
    assert made.far.startswith("Not drawn: pseudonymize; swap, share = 0.1; ")
    assert "None of these 8 meets the rule: their risk is 90.0% – 99.0%" in made.far
    assert list(made.shapes) == ["generalize", "thin"]
    assert len(set(made.shapes.values())) == 2


def test_where_all_is_hopeless_the_safest_is_drawn() -> None:
    made = found([RAW, *SWAPS])
    assert made.labels == ["▲ swap, share = 0.1"]
    assert made.taken == []


def test_settings_on_one_spot_are_one_mark() -> None:
    alike = [tried(f"hierarchy, k = {k}, l = 2", "proved", 0.4, 0.09) for k in range(2, 10)]
    made = found(alike)
    assert made.labels == ["◆ hierarchy, k = 2 and 7 more"]


def test_no_line_leads_to_what_may_not_be_handed_out() -> None:
    chart = found(ALL).chart((600, 300))
    (line,) = [one for one in chart["layer"] if one["mark"]["type"] == "line"]
    assert [row["label"] for row in line["data"]["values"]] == ["thin, share = 0.5", "generalize, k = 6", FIVE.label]
    marks = [one for one in chart["layer"] if one["mark"]["type"] == "point" and "shape" in one["encoding"]]
    assert {one["mark"]["filled"]: len(one["data"]["values"]) for one in marks} == {False: 1, True: 3}
    (rule,) = [one for one in chart["layer"] if one["mark"]["type"] == "rule" and one["mark"]["color"] == "$persimmon"]
    assert rule["data"]["values"][0]["text"] == "allowed: 20.0%"
    assert vl_convert.vegalite_to_vega(chart)["marks"]


def test_a_chart_may_have_another_for_narrow_places() -> None:
    made = found(ALL)
    chart = live(made.chart((600, 300)) | {"narrow": made.chart((250, 280), narrow=True)})
    assert chart["narrow"]["width"] == chart["width"] == "container"
    assert "narrow" not in chart["narrow"]


# --- what is tried ---------------------------------------------------------------------------------------------------


def test_a_rule_adds_the_k_it_asks_for() -> None:
    history = sample(customers=20, rows=200, items=30, seed=1)
    asked, _left = settings_for("generalize-by-count", {}, history, get_rule("public"))
    assert [one.label.split(" = ")[1] for one in asked] == ["2", "3", "4", "5", "6", "11", "17"]
    assert len(settings_for("generalize-by-count", {"k": 3}, history, get_rule("public"))[0]) == 1


def test_sensitive_values_are_asked_to_differ_where_nobody_says_how_strong() -> None:
    people = sample_people(rows=60, seed=1)
    usual, _left = settings_for("mondrian", {}, people)
    assert {one.method.parameters()["l"] for one in usual} == {2}
    said, _left = settings_for("mondrian", {"k": 5}, people)
    assert [one.method.parameters()["l"] for one in said] == [None]


@pytest.mark.parametrize(
    ("kind", "names"), [("history", ["generalize", "generalize-by-count"]), ("table", ["mondrian", "hierarchy"])]
)
def test_sensible_methods_make_people_alike(kind: str, names: list[str]) -> None:
    every = [methods[name] for name in methods if name != "chain" and Kind(kind) in methods[name].accepts]
    assert [one.name for one in sensible_methods(every)] == names


def test_too_few_people_for_a_rule_are_told() -> None:
    assert sensible_values(PARTNER, 5) == [4, 5]
    assert sensible_values(PARTNER, 2000) == [4, 5, 8]
    for people in (1, 2, 4):
        with pytest.raises(ParameterError, match=f"describe {people} people, and this rule requires classes of 5; use"):
            sensible_values(PARTNER, people)
