"""Nothing finished is lost: a component that breaks down is named, and the rest is shown and written."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

import noren as package
from noren.attacks import attacks
from noren.data.release import Release
from noren.errors import AuditUnfinishedError, CheckFailedError, NorenError
from noren.measures import measures
from noren.measures.safety import classes
from noren.work.store import PieceStore

SCHEMA = ("--schema", "pwscup2018")
ERRORS = [ZeroDivisionError("a\nbug"), NorenError("it cannot be done"), MemoryError(), OSError(28, "No space")]
REASONS = ["ZeroDivisionError: a bug", "it cannot be done", "MemoryError", "OSError: [Errno 28] No space"]
TROUBLES = [pytest.param(error, said, id=type(error).__name__) for error, said in zip(ERRORS, REASONS, strict=True)]


def breaking(error: BaseException) -> Any:
    def broken(*_: Any, **__: Any) -> None:
        raise error

    return broken


@pytest.fixture
def release(noren: Any, small_csv: Path, tmp_path: Path) -> Path:
    out = tmp_path / "release"
    words = ("protect", small_csv, *SCHEMA, "--method", "generalize-by-count", "--k", 3, "--seed", 1, "--out", out)
    assert noren(*words).code == 0
    return out


# --- measure, attack, report, demo ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("error", "said"), TROUBLES)
def test_a_measure_that_fails_is_named_and_the_others_are_shown(
    noren, small_csv, release, monkeypatch, error, said
) -> None:
    names = "rfm,cell-error,item-similarity"
    whole = noren("measure", small_csv, release, *SCHEMA, "--measures", names, "--json").json
    assert whole["failed"] == {}
    monkeypatch.setattr(measures["cell-error"], "measure", breaking(error))
    answer = noren("measure", small_csv, release, *SCHEMA, "--measures", names, "--json")
    assert answer.code == 1
    assert answer.json["failed"] == {"cell-error": said}
    del whole["results"]["cell-error"]
    assert answer.json["results"] == whole["results"]
    assert f"cell-error failed: {said}\n" in answer.err
    shown = noren("measure", small_csv, release, *SCHEMA, "--measures", names)
    assert shown.code == 1
    assert "rfm" in shown.out
    assert "failed" in shown.out


def test_all_measures_go_on_too(noren, small_csv, release, monkeypatch) -> None:
    monkeypatch.setattr(measures["rfm"], "measure", breaking(ValueError("no")))
    answer = noren("measure", small_csv, release, *SCHEMA, "--json")
    assert answer.code == 1
    assert answer.json["failed"] == {"rfm": "ValueError: no"}
    assert {"cell-error", "classes", "survival"} <= set(answer.json["results"])


@pytest.mark.parametrize(("kind", "name"), [("measure", "rfm"), ("attack", "jaccard")])
def test_one_that_is_named_alone_is_an_error(noren, small_csv, release, monkeypatch, kind, name) -> None:
    component = measures[name] if kind == "measure" else attacks[name]
    words = (kind, small_csv, release, *SCHEMA, f"--{kind}s", name)
    monkeypatch.setattr(component, kind, breaking(NorenError("it cannot be done")))
    answer = noren(*words)
    assert (answer.code, answer.out, answer.err.splitlines()[-1]) == (2, "", "noren: it cannot be done")
    monkeypatch.setattr(component, kind, breaking(ValueError("no")))
    answer = noren(*words)
    assert (answer.code, answer.out) == (2, "")
    wanted = f"noren: {name} failed (ValueError: no); leave it out, or run again with --debug and report it"
    assert answer.err.splitlines()[-1] == wanted
    with pytest.raises(ValueError, match="no"):
        noren(*words, "--debug")


@pytest.mark.parametrize(("error", "said"), TROUBLES)
def test_an_attack_that_fails_is_named_and_the_others_are_written(
    noren, small_csv, release, tmp_path, monkeypatch, error, said
) -> None:
    monkeypatch.setattr(attacks["jaccard"], "attack", breaking(error))
    words = ("attack", small_csv, release, *SCHEMA, "--attacks", "unique-rows,jaccard,s1")
    answer = noren(*words, "--out", tmp_path / "guesses", "--json")
    assert answer.code == 1
    assert answer.json["failed"] == {"jaccard": said}
    assert set(answer.json["results"]) == {"unique-rows", "s1"}
    assert sorted(path.name for path in (tmp_path / "guesses").iterdir()) == ["s1.csv", "unique-rows.csv"]
    assert noren(*words).code == 1


def test_a_report_is_written_without_what_failed(noren, small_csv, release, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(attacks["jaccard"], "attack", breaking(ValueError("an <odd> value")))
    monkeypatch.setattr(measures["rfm"], "measure", breaking(ValueError("no")))
    answer = noren("report", small_csv, release, *SCHEMA, "--out", tmp_path / "r.html")
    assert answer.code == 1
    assert "release, jaccard failed: ValueError: an <odd> value\n" in answer.err
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "jaccard failed: ValueError: an &lt;odd&gt; value" in page
    assert "rfm failed: ValueError: no" in page
    assert "unique-rows" in page


@pytest.mark.slow
def test_a_demo_is_written_without_what_failed(noren, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(measures["rfm"], "measure", breaking(ValueError("no")))
    answer = noren("demo", "--customers", 8, "--rows", 60, "--out", tmp_path / "demo", "--json")
    assert answer.code == 1
    assert set(answer.json["failed"].values()) == {"ValueError: no"}
    assert len(answer.json["releases"]) == 5
    assert (tmp_path / "demo/report.html").exists()


# --- protect ----------------------------------------------------------------------------------------------------------


def test_an_audit_that_breaks_down_does_not_lose_the_release(noren, small_csv, tmp_path, monkeypatch) -> None:
    words = ("protect", small_csv, *SCHEMA, "--method", "generalize-by-count", "--k", 3, "--seed", 5)
    assert noren(*words, "--out", tmp_path / "sound").code == 0
    with monkeypatch.context() as patched:
        patched.setattr(classes, "audit", breaking(ValueError("customer c0001 is odd")))
        answer = noren(*words, "--out", tmp_path / "out", "--json")
    assert answer.code == 1
    assert (
        "the audit of the release did not finish (ValueError: customer c0001 is odd); do not publish the release"
        in answer.err
    )
    assert answer.json["failed"]["audit"] in answer.err
    found, sound = Release.load(tmp_path / "out"), Release.load(tmp_path / "sound")
    assert found.public.frame.equals(sound.public.frame)
    assert (found.secret.seed, found.secret.digest) == (5, sound.secret.digest)
    # the statement is public, so it says that it failed, but nothing of what the error says
    assert found.statement.notes == sound.statement.notes | {"audit": "failed: ValueError"}
    published = noren("publish", tmp_path / "out", "--out", tmp_path / "public", "--rule", "inside")
    assert (published.code, (tmp_path / "public").exists()) == (1, False)
    assert "Untried: the audit failed, so it is not known whether this release keeps what it claims" in published.err
    judged = noren("measure", small_csv, tmp_path / "out", *SCHEMA, "--measures", "classes", "--json")
    assert (judged.code, judged.json["results"]["classes"]["notes"]["holds"]) == (0, True)


def test_in_python_the_error_holds_the_release(small, monkeypatch) -> None:
    monkeypatch.setattr(classes, "audit", breaking(ValueError("no")))
    with pytest.raises(AuditUnfinishedError) as caught:
        package.protect(small, "generalize-by-count", k=3, seed=5)
    assert caught.value.release.statement.notes["audit"] == "failed: ValueError"
    assert len(caught.value.release.public) > 0
    assert caught.value.exit_code == 1


def test_a_false_claim_writes_nothing_and_tells_the_seed(noren, small_csv, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(classes, "audit", breaking(CheckFailedError("the claim is false")))
    words = ("protect", small_csv, *SCHEMA, "--method", "generalize-by-count", "--k", 3, "--out", tmp_path / "out")
    answer = noren(*words)
    assert (answer.code, answer.out) == (1, "")
    assert "nothing was written; --seed " in answer.err
    assert not (tmp_path / "out").exists()
    assert "nothing was written" not in noren(*words, "--seed", 3).err  # who gave a seed knows it


# --- explore ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def order(small_csv: Path, tmp_path: Path) -> tuple[object, ...]:
    words = ("--attacks", "unique-rows", "--measures", "rfm", "--seeds", 1, "--workers", 1, "--cache", tmp_path / "c")
    return ("explore", small_csv, *SCHEMA, "--methods", "generalize-by-count", "--k", "2,6", *words)


def test_a_failed_measure_is_no_verdict(noren, order, tmp_path, monkeypatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(measures["rfm"], "measure", breaking(ValueError("customer c0001")))
        answer = noren(*order, "--out", tmp_path / "study", "--json")
    assert answer.code == 1
    assert answer.json["failed"]["generalize-by-count, k = 6, rfm"] == "ValueError: customer c0001"
    (six,) = (one for one in answer.json["settings"] if one["label"].endswith("k = 6"))
    assert (six["verdict"], six["failed"]) == ("proved", {"rfm": "ValueError"})
    told = " ".join(answer.json["answer"])
    assert "generalize-by-count, k = 6: rfm could not be computed (ValueError)." in told
    assert "1 test did not finish: rfm." in told
    page = (tmp_path / "study/report.html").read_text(encoding="utf-8")
    assert "rfm could not be computed (ValueError)" in page
    assert (
        "c0001" not in page + (tmp_path / "study/table.json").read_text() + (tmp_path / "study/table.csv").read_text()
    )
    again = noren(*order, "--out", tmp_path / "study", "--json")  # only what failed, and what rests on it, runs again
    assert (again.code, again.json["computed"], again.json["failed"]) == (0, 2, {})
    assert again.json["cached"] == answer.json["computed"] - 2
    assert again.json["recommended"] == answer.json["recommended"] == ["generalize-by-count, k = 6"]
    clean = noren(*order[:-1], tmp_path / "other", "--json")
    assert clean.json["settings"] == again.json["settings"]


def test_a_failed_attack_leaves_open_whether_it_withstands(noren, order, monkeypatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(attacks["unique-rows"], "attack", breaking(MemoryError()))
        answer = noren(*order)
    assert answer.code == 1
    assert "generalize-by-count, k = 6, unique-rows failed: MemoryError" in answer.err
    assert "● withstands" not in answer.out
    again = noren(*order, "--json")
    weak, strong = (one["verdict"] for one in again.json["settings"])
    assert (again.code, weak, strong) == (0, "broken", "proved")
    with monkeypatch.context() as patched:
        patched.setattr(attacks["unique-rows"], "attack", breaking(MemoryError()))
        noise = noren(*order[:4], "--methods", "perturb", *order[8:])
    assert "■ untried" in noise.out  # nothing is proved of noise, and nothing was tried


def test_a_method_that_fails_is_not_refused(noren, order, monkeypatch) -> None:
    from noren.methods import methods

    right = methods["generalize-by-count"].protect

    def sometimes(self: Any, *words: Any, **named: Any) -> Any:
        if self.k == 2:
            raise ValueError("no")
        return right(self, *words, **named)

    with monkeypatch.context() as patched:
        patched.setattr(methods["generalize-by-count"], "protect", sometimes)
        answer = noren(*order)
    assert answer.code == 1
    assert "– failed" in answer.out
    assert "refused" not in answer.out
    assert "Recommended: generalize-by-count, k = 6" in answer.out
    assert noren(*order, "--json").code == 0


def test_results_that_failed_are_not_kept(tmp_path) -> None:
    from noren.work.store import WorkUnit
    from noren.work.workers import run_units

    first = WorkUnit(_sometimes, (str(tmp_path),))
    second = WorkUnit(_after, (), needs=(first,))
    store = PieceStore(tmp_path / "store")
    done: dict[WorkUnit, Any] = {}
    assert list(run_units([first, second], done, store, 1)) == [first, second]
    assert done[second] == {"heard": False, "passing": True}
    for unit in (first, second):
        with pytest.raises(KeyError):
            store.load(unit)
    (tmp_path / "well").touch()
    done = {}
    assert list(run_units([first, second], done, store, 1)) == [first, second]
    assert (store.load(first), store.load(second)) == ({"value": 1}, {"heard": True})


def _sometimes(folder: str) -> dict[str, Any]:
    return {"value": 1} if (Path(folder) / "well").exists() else {"failed": {"en": "not well"}}


def _after(found: dict[str, Any]) -> dict[str, Any]:
    return {"heard": "value" in found}


# --- ledger -----------------------------------------------------------------------------------------------------------


def test_a_ledger_releases_nothing_whose_risk_is_not_known(noren, small_csv, tmp_path, monkeypatch) -> None:
    (tmp_path / "chain.toml").write_text('[[step]]\nmethod = "monthly-pseudonyms"\n')
    ledger = tmp_path / "ledger"
    init = ("ledger", "init", ledger, *SCHEMA, "--chain", tmp_path / "chain.toml", "--attacks", "s1,s2")
    assert noren(*init).code == 0
    with monkeypatch.context() as patched:
        patched.setattr(attacks["s2"], "attack", breaking(ValueError("no")))
        for flags in (("--dry-run",), ()):
            answer = noren("ledger", "add", ledger, small_csv, "--json", *flags)
            assert answer.code == 1
            (told,) = answer.json["additions"]
            assert (told["released"], told["failed"], set(told["after"]["attacks"])) == (
                False, {"s2": "ValueError: no"}, {"s1"},
            )  # fmt: skip
            assert "was not released, because its risk is unknown: s2 failed: ValueError: no" in answer.err
    assert noren("ledger", "show", ledger, "--json").json["entries"] == []
    assert noren("ledger", "add", ledger, small_csv).code == 0


# --- Ctrl-C -----------------------------------------------------------------------------------------------------------


def test_after_ctrl_c_the_guesses_there_are_told(noren, small_csv, release, tmp_path, monkeypatch) -> None:
    def pressed(*_: Any, **__: Any) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        raise AssertionError("the signal comes first")

    monkeypatch.setattr(attacks["s2"], "attack", pressed)
    out = tmp_path / "guesses"
    answer = noren("attack", small_csv, release, *SCHEMA, "--attacks", "s1,s2,s3", "--out", out)
    assert answer.code == 130
    assert sorted(path.name for path in out.iterdir()) == ["s1.csv"]
    lines = answer.err.splitlines()
    assert lines[-2:] == [
        f"{out} has no guesses of s2, s3; run the command again",
        "noren: interrupted; no partial file was left",
    ]


def test_json_is_whole_with_failures(noren, small_csv, release, monkeypatch) -> None:
    monkeypatch.setattr(measures["rfm"], "measure", breaking(ValueError('"quoted"\n\x1b[31m')))
    answer = noren("measure", small_csv, release, *SCHEMA, "--measures", "rfm,cell-error", "--json")
    assert json.loads(answer.out)["failed"] == {"rfm": 'ValueError: "quoted" \\x1b[31m'}
