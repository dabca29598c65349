"""The page Data says which columns tell people apart, and who is unique in a population."""

from __future__ import annotations

from tests.studio.quiet import SHOP, Quiet

import noren
from noren.data.samples.people import sample_people
from noren.judgement.numbers import count, percent
from noren.studio.actions.projects import add_project


def shown(quiet: Quiet, project: str, query: str) -> str:
    answer = quiet.client.get(f"/projects/{project}/data{query}")
    assert answer.status_code == 200
    return str(answer.text)


def test_columns_that_tell_people_apart_are_shown_on_request(quiet: Quiet) -> None:
    project = add_project(quiet.studio, name="people", sample="people").id
    people = sample_people(4_000, seed=1)
    plain = shown(quiet, project, "")
    assert "Which columns identify people" in plain
    assert "Distinction</th>" not in plain
    text = shown(quiet, project, "?apart=yes&people=300000000")
    best = noren.identifiers(people).sets[-5]
    assert " + ".join(best.columns) in text
    assert percent(best.alone) in text
    found = noren.population(people, 300_000_000)
    assert f"about {count(round(found.uniques))} of 300,000,000 people (" in text


def test_a_population_that_cannot_be_is_told(quiet: Quiet) -> None:
    project = add_project(quiet.studio, name="people", sample="people").id
    assert "is not a number of people; write it like" in shown(quiet, project, "?apart=yes&people=many")
    assert "is smaller than the table" in shown(quiet, project, "?apart=yes&people=7")


def test_purchases_have_no_such_card(quiet: Quiet) -> None:
    assert "Which columns identify people" not in shown(quiet, quiet.upload(SHOP, "shop.csv"), "?apart=yes")
