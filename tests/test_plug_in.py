"""Somebody else's package, unknown to this house: one method, one attack, two measures, each first-class by itself.

Nothing but the package says what they are called, in two languages, how strong they can be, what they cost and where
they place a release.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.studio.quiet import Quiet

from noren.attacks import attacks
from noren.data.frames import History
from noren.drawing.risk_map import use_title
from noren.errors import SchemaError
from noren.i18n import use_language
from noren.judgement.judging import judge
from noren.judgement.outcome import Outcome, run_outcome
from noren.measures import measures
from noren.methods import methods
from noren.registry import Registry, describe, reference_facts
from noren.reports.report import write_report
from noren.reports.run_view import measure_views, run_view
from noren.studio.forms.parameter_forms import controls, fresh
from noren.studio.pages.protect import by_promise
from noren.studio.result_figures import measured
from noren.sweeps.plan import settings_for

PACKAGE = '''
"""Move days by whole weeks, look for long histories, and tell what that does."""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Literal

import polars as pl
from pydantic import Field

from noren.data.release import Release, Statement
from noren.protocols import KeptShare, UtilityAxis, PromiseKind, Runtime, Strength, in_form, complement
from noren.methods.pseudonymize import pseudonymous
from noren.progress import silent
from noren.protocols import Attack, Guess, Measure, Method, Score


class BlurDays(Method):
    """Every date moves by whole weeks."""

    name = "blur-days"
    summary = "Moves every date by whole weeks; hides names."
    source = "a package of somebody else's"
    runtime = Runtime.HOURS
    strength = Strength("weeks", "1..3", beside=("which_way",))
    promises = PromiseKind("days", "Nobody knows the week", "What was bought when is off by whole weeks.")
    good_for = "Weekdays must stay exact."
    wrong_for = "An attacker knows items."
    best_so_far = "fewest weeks so far"
    translations: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "ja": {
            "Moves every date by whole weeks; hides names.": "すべての日付を週単位で動かします。",
            "Nobody knows the week": "どの週かは分からない",
            "Weeks a date moves": "日付を動かす週数",
            "how many weeks": "何週間か",
            "Which way": "向き",
            "to later weeks": "後の週へ",
            "rows told": "知られた行",
            "weeks kept": "保たれた週",
        }
    }

    weeks: int = Field(
        default=1, ge=0, title="Weeks a date moves", description="how many weeks", json_schema_extra=in_form(main=True)
    )
    which_way: Literal["later", "earlier"] = Field(
        default="later",
        title="Which way",
        description="to which side dates move",
        json_schema_extra=in_form(words={"later": "to later weeks", "earlier": "to earlier weeks"}),
    )
    least: int | None = Field(
        default=None, description="nothing below", json_schema_extra=in_form(help="a number of days", start="7")
    )

    def protect(self, original, *, seed, progress=silent):
        """Move the dates."""
        name = original.schema.role("date").name
        days = 7 * self.weeks * (1 if self.which_way == "later" else -1)
        moved = pl.col(name).dt.offset_by(f"{days}d")
        aligned = replace(
            original, frame=original.frame.with_columns(pseudonymous(original["customer"], seed), moved)
        )
        return Release.of_aligned(original, aligned, Statement(self.name, self.parameters()), seed=seed)


class LongFirst(Attack):
    """The longest public history is taken for the longest known one, and so on."""

    name = "long-first"
    summary = "Names customers by the length of their histories."

    def attack(self, original, public, *, seed, progress=silent):
        """Pair by length."""
        known, seen = (side["customer"].value_counts(sort=True)["customer"] for side in (original, public))
        most = min(len(known), len(seen))
        pairs = pl.DataFrame({"pseudonym": seen[:most], "customer": known[:most]})
        return Guess(self.name, pairs.with_columns(score=pl.lit(1.0)))


class WeeksKept(Measure):
    """The share of rows whose week is the true one."""

    name = "weeks-kept"
    summary = "The share of rows whose week stayed."
    goal = "lower"
    bounds = (0.0, 1.0)
    unit = "share of rows"
    needs = frozenset({"original", "public"})
    side = "utility"
    part_names: ClassVar[Mapping[str, str]] = {"weeks": "weeks kept"}
    utility_axis = UtilityAxis("of the weeks", "weeks that stayed", share=complement,
                              sentence="Of the weeks {use} stayed")
    keeps = KeptShare("weeks")

    def measure(self, evidence, *, progress=silent):
        """Count."""
        return Score(0.25, {"weeks": 0.75, "ann.weeks": 0.5})


class RowsTold(Measure):
    """The share of rows that somebody tells."""

    name = "rows-told"
    summary = "The share of rows that anybody tells."
    goal = "lower"
    bounds = (0.0, 1.0)
    unit = "share of rows"
    needs = frozenset({"original", "guess"})
    side = "safety"
    part_names: ClassVar[Mapping[str, str]] = {"told": "rows told"}

    def measure(self, evidence, *, progress=silent):
        """Count."""
        return Score(0.125, {"told": 0.125})
'''
POINTS = {
    "noren.methods": {"blur-days": "their_weeks:BlurDays"},
    "noren.attacks": {"long-first": "their_weeks:LongFirst"},
    "noren.measures": {"weeks-kept": "their_weeks:WeeksKept", "rows-told": "their_weeks:RowsTold"},
}
ROOMS: dict[str, Registry[Any]] = {one.group: one for one in (methods, attacks, measures)}


def lay(folder: Path) -> Path:
    """Lay the package into a folder as an installer does."""
    (folder / "their_weeks.py").write_text(PACKAGE, encoding="utf-8")
    about = folder / "their_weeks-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: their-weeks\nVersion: 1.0\n")
    lines = [
        f"[{group}]\n" + "".join(f"{n} = {place}\n" for n, place in some.items()) for group, some in POINTS.items()
    ]
    (about / "entry_points.txt").write_text("\n".join(lines))
    return folder


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The package, known to this process."""
    monkeypatch.delitem(sys.modules, "their_weeks", raising=False)
    for group, some in POINTS.items():
        monkeypatch.setattr(ROOMS[group], "_import_errors", {})
        for name, place in some.items():
            point = EntryPoint(name, place, group)
            ready = point._for(SimpleNamespace(name="their-weeks"))  # type: ignore[attr-defined]
            monkeypatch.setitem(ROOMS[group]._entries, name, ready)
    monkeypatch.syspath_prepend(lay(tmp_path))  # only now: a registry keeps the entry points that it first sees
    yield
    sys.modules.pop("their_weeks", None)


@pytest.fixture
def outcome(installed: None, small: History) -> Outcome:
    judges: dict[str, Any] = {"attacks": ["long-first"], "measures": ["weeks-kept", "rows-told"]}
    return run_outcome(small, "blur-days", weeks=2, seed=1, **judges)


@pytest.mark.usefixtures("installed")
class TestWhatIsKnown:
    """What pages know of the components before anything runs."""

    def test_lists(self, noren: Any) -> None:
        for room, names in (("methods", ["blur-days"]), ("attacks", ["long-first"]), ("measures", ["rows-told"])):
            listed = noren(room, "--json").json
            assert "broken" not in listed
            assert set(names) <= {about["name"] for about in listed[room]}
        told = noren("methods", "blur-days").out
        assert "--which-way" in told
        assert "Runtime: hours for tens of thousands of rows." in told
        assert describe(methods["blur-days"])["runtime"] == "hours"
        assert describe(attacks["long-first"])["runtime"] == "seconds"
        assert describe(measures["rows-told"])["side"] == "safety"
        assert describe(methods["blur-days"])["strength"] == {"parameter": "weeks", "safer": "higher", "values": "1..3"}

    def test_reference_page(self) -> None:
        told = reference_facts(methods["blur-days"])
        assert "- **Promise**: Nobody knows the week" in told
        assert "- **Not suitable for**: An attacker knows items." in told
        assert "- **Strength**: `weeks`; higher is safer" in told
        assert "| `--weeks` | whole number | `1` | how many weeks |" in told
        assert "- **Runtime**: hours for tens of thousands of rows" in told
        assert "- **Kind**: safety" in reference_facts(measures["rows-told"])
        with use_language("ja"):
            assert "すべての日付を週単位で動かします。" in reference_facts(methods["blur-days"])
            assert "どの週かは分からない" in reference_facts(methods["blur-days"])

    def test_form(self) -> None:
        method = methods["blur-days"]
        shown = {one.field: one for one in controls(method, fresh(method, []), [])}
        assert [one.label for one in shown.values()] == ["Weeks a date moves", "Which way", "Least"]
        assert (shown["weeks"].main, shown["weeks"].help, shown["weeks"].text) == (True, "How many weeks", "1")
        assert shown["which_way"].choices == (("later", "to later weeks"), ("earlier", "to earlier weeks"))
        assert (shown["least"].help, shown["least"].text) == ("A number of days", "7")
        with use_language("ja"):
            japanese = controls(method, {}, [])
        assert [one.label for one in japanese] == ["日付を動かす週数", "向き", "Least"]
        assert japanese[1].choices[0] == ("later", "後の週へ")

    def test_promise(self) -> None:
        found = by_promise([methods[name] for name in methods])
        assert [group.key for group, _some in found][-2:] == ["names", "days"]
        assert [method.name for method in found[-1][1]] == ["blur-days"]

    def test_sweep(self, small: History) -> None:
        labels = [one.label for one in settings_for("blur-days", {}, small)[0]]
        assert labels == ["blur-days", "blur-days, weeks = 2", "blur-days, weeks = 3"]
        assert [one.label for one in settings_for("blur-days", {"weeks": [3]}, small)[0]] == ["blur-days, weeks = 3"]

    def test_studio(self, tmp_path: Path) -> None:
        quiet = Quiet(tmp_path / "studio")
        rows = "".join(f"c{n % 6},2010/12/{n + 1},tea,1.50,{n}\n" for n in range(24))
        project = quiet.upload("customer,date,item,price,quantity\n" + rows)
        where = f"/projects/{project}"
        chosen = unescape(quiet.client.get(f"{where}/protect").text)
        assert "Nobody knows the week" in chosen
        assert "Weekdays must stay exact." in chosen
        form = unescape(quiet.client.get(f"{where}/protect", params={"method": "blur-days"}).text)
        assert "Weeks a date moves" in form
        assert "to earlier weeks" in form
        assert "Names customers by the length of their histories." in form
        japanese = quiet.client.get(
            f"{where}/protect", params={"method": "blur-days"}, headers={"Accept-Language": "ja"}
        )
        assert "日付を動かす週数" in unescape(japanese.text)
        compared = unescape(quiet.client.get(f"{where}/compare").text)
        assert 'value="1..3"' in compared
        assert "The share of rows that anybody tells." in unescape(quiet.client.get("/about").text)
        quiet.studio.close()


class TestWhatComesOut:
    """What pages tell of a run."""

    def test_map(self, outcome: Outcome, small: History) -> None:
        verdict = judge(outcome)
        place = run_view(small, outcome).place(verdict)
        assert (place.use, place.use_of, place.risk_of) == (0.75, "weeks-kept", "attacks")
        assert place.risk == max(one.customers for one in verdict.evidence)  # a plug-in's attack is evidence as ours is
        assert [one.attack for one in verdict.evidence] == ["long-first"]
        assert use_title([place]) == "weeks that stayed"

    def test_our_measures_come_first(self, installed: None, small: History) -> None:
        every = ["weeks-kept", "rows-told", "cell-error", "reid-rate"]
        found = run_outcome(small, "pseudonymize", seed=1, attacks=["long-first"], measures=every)
        place = run_view(small, found).place(judge(found))
        assert (place.use, place.use_of) == (1.0, "cell-error")

    def test_result_page(self, outcome: Outcome) -> None:
        facts = {one.name: one for one in measure_views(outcome.scores)}
        assert {name: one.group for name, one in facts.items()} == {"weeks-kept": "utility", "rows-told": "safety"}
        shown = measured(facts["weeks-kept"])
        assert [part.label for part in shown.parts] == ["weeks kept", "ann: weeks kept"]
        assert shown.fact.direction == "useful-low"
        assert measured(facts["rows-told"]).fact.direction == "safer"
        with use_language("ja"):
            assert [part.label for part in measured(facts["rows-told"]).parts] == ["知られた行"]

    def test_report(self, outcome: Outcome, small: History, tmp_path: Path) -> None:
        page = unescape(write_report(small, [outcome], tmp_path / "report.html").read_text(encoding="utf-8"))
        assert "Moves every date by whole weeks; hides names." in page
        assert "The share of rows whose week stayed." in page
        assert "weeks kept" in page
        assert "long-first" in page


@pytest.mark.slow
def test_a_whole_study_by_the_command_line(tmp_path: Path, small_csv: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    path = os.pathsep.join([str(lay(site)), *filter(None, [os.environ.get("PYTHONPATH")])])
    words = ["--schema", "pwscup2018", "--methods", "blur-days", "--attacks", "long-first"]
    words += ["--measures", "weeks-kept,rows-told", "--seeds", "1", "--workers", "1", "--out", str(tmp_path / "study")]
    done = subprocess.run(
        [sys.executable, "-m", "noren", "explore", str(small_csv), *words, "--json"],
        env=os.environ | {"PYTHONPATH": path, "NOREN_LANG": "en", "NOREN_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    told = json.loads(done.stdout)
    assert [one["label"] for one in told["settings"]] == ["blur-days", "blur-days, weeks = 2", "blur-days, weeks = 3"]
    page = unescape((tmp_path / "study" / "report.html").read_text(encoding="utf-8"))
    assert "weeks kept at 0.75" in page
    assert "The share of rows whose week stayed." in page


MEASURE, METHOD = (measures, "rows-told", "RowsTold"), (methods, "blur-days", "BlurDays")


@pytest.mark.parametrize(
    ("component", "change", "message"),
    [
        (
            MEASURE,
            ('    side = "safety"\n', ""),
            'does not set side; set each in its class (side is "safety" or "utility")',
        ),
        (MEASURE, ('    side = "safety"\n', '    side = "privacy"\n'), "rows-told in noren.measures does not set side"),
        (MEASURE, ('    needs = frozenset({"original", "guess"})\n', ""), "in noren.measures does not set needs"),
        (METHOD, ('Strength("weeks",', 'Strength("months",'), "is months, which is not one of its parameters"),
        (
            METHOD,
            ("    least: int", "    roles: int"),
            "the parameter roles of blur-days in noren.methods has a reserved",
        ),
        (METHOD, ("Runtime.HOURS", '"hours"'), "does not set runtime"),
        (METHOD, ('    summary = "Moves every date by whole weeks; hides names."\n', ""), "does not set summary"),
    ],
)
@pytest.mark.filterwarnings("ignore:Field name .* shadows an attribute")
def test_a_component_with_missing_or_wrong_facts_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, component: Any, change: tuple[str, str], message: str
) -> None:
    registry, name, kind = component
    assert PACKAGE.count(change[0]) == 1
    (tmp_path / "wrong_weeks.py").write_text(PACKAGE.replace(*change), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "wrong_weeks", raising=False)
    monkeypatch.setattr(registry, "_import_errors", {})
    monkeypatch.setitem(registry._entries, name, EntryPoint(name, f"wrong_weeks:{kind}", registry.group))
    with pytest.raises(SchemaError) as error:
        _ = registry[name]
    assert message in str(error.value)
    assert name not in list(registry)
    assert message in registry.broken()[name]
    sys.modules.pop("wrong_weeks", None)
