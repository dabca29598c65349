"""REST routes of files: data, releases, guesses and targets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from noren.contest import actions
from noren.contest.actions import RefusedError
from noren.contest.dependencies import (
    Ident,
    RoundName,
    TargetName,
    Visit,
    add_action,
    file_response,
    hide_file_errors,
    limit_rate,
)
from noren.contest.kinds import PhaseKind
from noren.contest.schemas import ReceivedOut, SubmissionOut, TargetOut
from noren.i18n import _
from noren.tables import table_of
from noren.web.uploads import declared_length, received

router = APIRouter(tags=["files"])

_UPLOADS, _MINUTE = 300, 60.0
"""Files that a team can send per minute."""
_BLOCK = 2**18
_BODIES = table_of("noren.contest.api.bodies")
_FILE: dict[str, Any] = {"response_class": StreamingResponse, "responses": file_response("application/octet-stream")}


@dataclass(frozen=True)
class _Upload:
    """What comes with a file: it is encrypted block by block and never completely in memory."""

    request: Request
    visit: Visit
    phase: Annotated[str | None, Query(max_length=40, description="which phase, where several are open")] = None
    idempotency_key: Annotated[str, Header(max_length=200, description="the same key again is the same submission")] = (
        ""
    )

    async def receive(self, target: str | None = None) -> ReceivedOut:
        """Store the file."""
        contest, service, who = self.visit.contest, self.visit.service, self.visit.who
        by_team = f"files/{contest.id}/{self.visit.team().id}"
        await run_in_threadpool(limit_rate, service.arena.store, by_team, _UPLOADS, _MINUTE)
        most, about = contest.settings.largest_file, {"phase": self.phase, "target": target}
        if declared_length(self.request) > most:
            raise RefusedError(actions.too_large(most), status=413)
        with hide_file_errors():
            submission, receipt = await received(
                self.request,
                _("your file"),
                lambda blocks: service.visit(who, contest.id).submit(blocks, key=self.idempotency_key, **about),
            )
        return ReceivedOut(submission=submission.id, receipt=receipt.as_dict())


@router.put("/contests/{contest}/releases", status_code=201, openapi_extra=_BODIES["file"])
async def submit_release(upload: Annotated[_Upload, Depends()]) -> ReceivedOut:
    """Submit a release as the body; the response has its signed receipt."""
    return await upload.receive()


@router.put("/contests/{contest}/guesses/{target}", status_code=201, openapi_extra=_BODIES["file"])
async def submit_guess(upload: Annotated[_Upload, Depends()], target: TargetName) -> ReceivedOut:
    """Submit a guess about a target as the body; the response has its signed receipt."""
    return await upload.receive(target)


@router.get("/contests/{contest}/submissions")
def list_submissions(
    visit: Visit,
    kind: Annotated[Literal["release", "guess"] | None, Query()] = None,
    round_: Annotated[str | None, Query(alias="round", max_length=40)] = None,
) -> list[SubmissionOut]:
    """Return the submissions of one's team, the newest first; for organisers, of all teams."""
    return [
        visit.described(submission, whole=False)
        for submission in visit.submissions()
        if kind in (None, submission.kind) and round_ in (None, submission.round)
    ]


@router.get("/contests/{contest}/submissions/{submission}")
def show_submission(submission: Ident, visit: Visit) -> SubmissionOut:
    """Return a submission of one's team with its progress and result."""
    return visit.described(visit.submission(submission))


@router.get("/contests/{contest}/submissions/{submission}/receipt")
def download_receipt(submission: Ident, visit: Visit) -> dict[str, Any]:
    """Return the signed receipt of a submission; it is always the same."""
    return visit.arena.receipt(visit.contest, visit.submission(submission)).as_dict()


@router.get("/contests/{contest}/submissions/{submission}/file", **_FILE)
def download_submission(submission: Ident, visit: Visit) -> Response:
    """Return a submitted file of one's team."""
    known = visit.submission(submission)
    return _sent(visit.arena.files.path(known.digest), f"{known.kind}-{known.id}")


add_action(router, actions.choose)


@router.get("/contests/{contest}/rounds/{round}/data", **_FILE)
def download_data(round_: RoundName, visit: Visit) -> Response:
    """Return the data of a round, for teams from its first phase on."""
    name, file = visit.data(round_)
    return _sent(file, name)


@router.get("/contests/{contest}/rounds/{round}/targets")
def list_targets(round_: RoundName, visit: Visit) -> list[TargetOut]:
    """Return the targets of a round from the attack phase on, without one's own release."""
    state, targets, team = visit.contest, visit.targets(round_), visit.contest.team_of.get(visit.who.id, "")
    phases = [phase.id for phase in state.open(visit.now, PhaseKind.ATTACK) if phase.round == round_] if team else []
    most = state.rulebook.quota.guesses
    tries = [sum(state.used(team, phase, target.id) for phase in phases) for target in targets]
    return [
        TargetOut(target=target.id, digest=target.digest, tries=used, left=max(0, most * len(phases) - used))
        for target, used in zip(targets, tries, strict=True)
    ]


@router.get(
    "/contests/{contest}/rounds/{round}/targets/{target}",
    response_class=StreamingResponse,
    responses=file_response("text/csv"),
)
def download_target(round_: RoundName, target: TargetName, visit: Visit) -> Response:
    """Return the file of a target, with rows and pseudonyms in random order."""
    return _sent(visit.target_file(round_, target), f"{round_}-{target}.csv", "text/csv; charset=utf-8")


def _sent(file: AbstractContextManager[Path], name: str, kind: str = "application/octet-stream") -> Response:
    """Send a file that exists until it is sent."""
    opened = ExitStack()
    with hide_file_errors():
        path = opened.enter_context(file)
    headers = {
        "Content-Disposition": f"attachment; filename*=utf-8''{quote(name)}",
        "Content-Length": str(path.stat().st_size),
    }
    return StreamingResponse(_blocks(path, opened), media_type=kind, headers=headers)


def _blocks(path: Path, opened: ExitStack) -> Iterator[bytes]:
    with opened, path.open("rb") as file:
        while block := file.read(_BLOCK):
            yield block
