"""What may be said of a run a part of which failed: what is missing and why, and nothing that sounds safe."""

from __future__ import annotations

from typing import Any

import pytest
from tests.studio.quiet import PEOPLE, Quiet

from noren.i18n import use_language
from noren.judgement.evidence import AttackResult, Facts
from noren.judgement.judging import judge
from noren.judgement.verdict import Reason, Verdict, VerdictStatus
from noren.studio.forms.run_form import quick_judges
from noren.studio.pages.export import _title
from noren.studio.store import Job, State
from noren.studio.work.results import failures, missing_sentence, unmeasured_reason


def failed(kind: str, component: str) -> dict[str, Any]:
    return {"component": component, "kind": kind, "reason": {"en": "memory ran out", "ja": "メモリ不足です"}}


def view(*parts: dict[str, Any], audited: bool | None = True) -> dict[str, Any]:
    return {"failed": list(parts), "audited": audited}


def history(share: int = 5, **more: Any) -> Verdict:
    """Return the verdict on a hundred customers, so many of whom an attack names among all its answers."""
    right = tuple(range(101 - share, 101))
    attack = AttackResult(attack="jaccard", named=100, right=share, customers=share, right_at=right)
    return judge(Facts(**{"kind": "history", "people": 100, "tried": (attack,)} | more))


def test_a_release_whose_audit_failed_is_never_called_safe() -> None:
    unaudited = history(claimed={"k": 5}, smallest_class=5, audited=False)
    assert (unaudited.status, unaudited.reason) == (VerdictStatus.UNTRIED, Reason.NOT_AUDITED)
    assert "do not share it" in _title(unaudited, every_attack=True)
    assert "do not share it" in missing_sentence(view(failed("audit", "mondrian"), audited=False))
    assert history(90, audited=False).status == VerdictStatus.BROKEN
    assert history().status == VerdictStatus.WITHSTANDS  # what claims nothing needs no audit


@pytest.mark.parametrize(
    ("verdict", "every_attack", "said"),
    [
        (history(), True, "This release withstands all known attacks. The public part can be released."),
        (history(), False, "but not all were tried. Try the others before you share it."),
        (history(33), True, "This release breaks your rule. Do not share it."),
        (history(33, claimed={"k": 2}, smallest_class=2), True, "This release breaks your rule. Do not share it."),
        (history(5, claimed={"k": 5}, smallest_class=5), False, "is proved to meet your rule. The public part can be"),
        (history(0, tried=()), True, "No attack or measure was tried."),
    ],
)
def test_only_what_every_attack_was_tried_on_or_is_proved_can_be_handed_out(
    verdict: Verdict, every_attack: bool, said: str
) -> None:
    title = _title(verdict, every_attack=every_attack)
    assert said in title
    may = verdict.status == VerdictStatus.PROVED or (verdict.status == VerdictStatus.WITHSTANDS and every_attack)
    assert ("can be released" in title) == may


def test_lists_and_maps_show_the_same_verdict(quiet: Quiet) -> None:
    project = quiet.upload(PEOPLE)
    job = quiet.studio.store.add_job(project, "run", "mondrian, k = 2", {"steps": []})
    summary = {"audited": False, "failed": [failed("audit", "mondrian"), failed("measure", "table-loss")]}
    quiet.studio.store.change_job(job.id, state=State.DONE, summary=summary)
    found = quiet.studio.store.job(job.id)
    assert isinstance(found, Job)
    assert quiet.studio.place(found, quiet.studio.rule(project)).status == VerdictStatus.UNTRIED
    listed = quiet.client.get(f"/projects/{project}/results").text
    assert "■ untried" in listed
    assert "failed: memory ran out" in listed  # not a dash and not a zero
    assert "failed: 2" in listed
    assert "■ untried" in quiet.client.get("/").text


def test_what_failed_is_told_in_the_language_of_the_reader() -> None:
    kept = view(failed("attack", "jaccard"))
    assert failures(kept)[0] | {"what": ""} == {
        "component": "jaccard",
        "kind": "attack",
        "what": "",
        "reason": "memory ran out",
    }
    with use_language("ja"):
        assert failures(kept)[0]["reason"] == "メモリ不足です"


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ([], ""),
        ([failed("attack", "jaccard")], "1 attack did not finish: jaccard. The verdict is about the others only."),
        ([failed("measure", "rfm"), failed("measure", "emm")], "2 measures failed: rfm, emm. Their values"),
    ],
)
def test_what_is_missing_is_said_in_a_sentence(parts: list[dict[str, Any]], said: str) -> None:
    assert missing_sentence(view(*parts)).startswith(said)
    assert bool(missing_sentence(view(*parts))) == bool(said)


def test_a_number_that_is_not_there_has_a_reason() -> None:
    assert unmeasured_reason(view(failed("measure", "cell-error")), "use") == "failed: memory ran out"
    assert unmeasured_reason(view(), "use") == "not measured"


def test_quick_judges_leave_out_what_takes_long() -> None:
    assert quick_judges(["ensemble", "linkage"], ["reid-rate"]) == (["linkage"], ["reid-rate"])
