"""The way of one file through the studio: upload, the page Data, protect, the result, the public part."""

from __future__ import annotations

import html
import io
import re
import zipfile
from pathlib import Path

from tests.studio.quiet import Quiet
from tests.zoo.outcome import Outcome
from tests.zoo.steps import CHEAP, Visit, leaked

from noren.errors import NorenError
from noren.progress import silent
from noren.studio.failure_reasons import error_details
from noren.studio.store import Job, State
from noren.studio.work import do

__all__ = ["Window"]

_PARAMETERS = {"pseudonymize": {}, "mondrian": {"k": 2}}


class Window(Quiet):
    """A studio in this process that also protects, attacks and measures, at once."""

    def _do(self, job: Job) -> None:
        if job.kind == "read":
            super()._do(job)
            return
        folder = self.studio.job_folder(job)
        folder.mkdir(parents=True)
        try:
            summary = do(job.order, folder, silent)
        except NorenError as error:
            self.studio.store.change_job(
                job.id, state=State.FAILED, error=error_details(error, job.order.get("file_name"))
            )
        else:
            self.studio.store.change_job(job.id, state=State.DONE, done=1.0, summary=summary)

    def way(self, visit: Visit, scratch: Path) -> Outcome:
        """Bring a file as a person does in a browser, and carry the public part away."""
        try:
            return self._way(visit, scratch)
        except Exception as error:
            return Outcome("studio", "BROKEN", f"{type(error).__name__}: {' '.join(str(error).split())[:160]}")

    def _way(self, visit: Visit, scratch: Path) -> Outcome:
        project = self.upload(visit.file.read_bytes(), visit.file.name)
        page = self.client.get(f"/projects/{project}/data")
        if page.status_code != 200:
            return Outcome("studio", "BROKEN", f"the page Data answers {page.status_code}")
        found = self.studio.project(project)
        verdict = "ok"
        if not found.is_ready or found.facts.get("open") or visit.flags or visit.animal.formats:
            if not visit.schema.exists():
                return self._refused(project, "the file")
            toml = visit.schema.read_text(encoding="utf-8")
            answer = self.client.put(f"/api/v1/projects/{project}/schema", json={"toml": toml})
            if answer.status_code != 202:
                return Outcome("studio", "BROKEN", f"the columns' meaning answers {answer.status_code}: {answer.text}")
            if not self.studio.project(project).is_ready:
                return self._refused(project, "the file")
            verdict = "asked"
        for where in ("data", "protect"):
            page = self.client.get(f"/projects/{project}/{where}")
            if page.status_code != 200:
                return Outcome("studio", "BROKEN", f"the page {where} answers {page.status_code}")
        method = CHEAP[self.studio.project(project).facts["kind"]]
        order = {"steps": [{"method": method, "parameters": _PARAMETERS[method]}]}
        started = self.client.post(f"/api/v1/projects/{project}/runs", json=order)
        if started.status_code in (409, 422):
            text = " ".join(re.sub(r"<[^>]*>", " ", html.unescape(started.text)).split())
            return Outcome("studio", "refused", text[:200])
        if started.status_code != 202:
            return Outcome("studio", "BROKEN", f"a run answers {started.status_code}: {started.text[:160]}")
        job = self.studio.store.job(started.json()["id"])
        assert job is not None
        if job.state != State.DONE:
            return Outcome("studio", "refused", job.error["message"])
        where = f"/projects/{project}/results/{job.id}"
        for address in (where, f"{where}/publish"):
            page = self.client.get(address)
            if page.status_code != 200:
                return Outcome("studio", "BROKEN", f"the page of the result answers {page.status_code}")
        terms = {"to": "the zoo", "purpose": "tests", "reason": "for tests of what is released"}
        released = self.client.post(f"{where}/publish/share", data=terms)
        if released.status_code != 303:
            return Outcome("studio", "BROKEN", f"releasing answers {released.status_code}: {released.text[:160]}")
        packed = self.client.get(f"{where}/publish/public.zip", params={"form": "csv"})
        if packed.status_code != 200:
            return Outcome("studio", "BROKEN", f"the public part answers {packed.status_code}: {packed.text[:160]}")
        with zipfile.ZipFile(io.BytesIO(packed.content)) as archive:
            archive.extractall(scratch)
        names = leaked(visit.ids(), sorted(scratch.rglob("*")))
        if names:
            return Outcome("studio", "BROKEN", f"published: {names}")
        return Outcome("studio", "asked" if verdict == "asked" else "ok")

    def _refused(self, project: str, what: str) -> Outcome:
        """Return the outcome for a file that could not be read."""
        last = self.studio.store.jobs(project, kind="read")[-1]
        if last.error and last.error.get("message"):
            return Outcome("studio", "refused", last.error["message"])
        return Outcome("studio", "BROKEN", f"no message about {what}")
