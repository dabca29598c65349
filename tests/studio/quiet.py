"""A studio in this process whose jobs are done at once, and the pages it answers with."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any
from unittest import mock

import httpx
from starlette.testclient import TestClient

from noren.progress import silent
from noren.studio.actions.projects import add_project, upload
from noren.studio.app import make_app
from noren.studio.service import Studio
from noren.studio.store import Job, State
from noren.studio.worker import perform
from noren.web.settings import ServerSettings

SHOP = (
    "customer,date,item,price,quantity,shelf\n"
    "ann,2010/12/1,tea,1.50,2,A\nann,2010/12/24,mug,3,1,B\nbob,2011/2/1,tea,1.50,1,A\ncid,2011/3/9,tea,1.20,4,\n"
)
PEOPLE = (
    "name,age,city,born,income\nAnn,20,8053,2001-02-03,low\nBob,31,8037,1990-05-17,high\nCid,31,8053,1990-05-17,low\n"
)


class Quiet:
    """A studio in this process whose jobs are done at once, by hand."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.app = app = make_app(ServerSettings(folder, samples=False, **settings))
        self.studio: Studio = app.state.studio
        self.studio.jobs.submit = self._do
        self.client = TestClient(
            app, base_url="http://127.0.0.1:8321", follow_redirects=False, headers={"Accept-Language": "en"}
        )
        self.csrf = self.client.get("/api/v1/session").json()["csrf"]
        self.client.headers["X-CSRF-Token"] = self.csrf

    def _do(self, job: Job) -> None:
        folder = self.studio.job_folder(job)
        folder.mkdir(parents=True, exist_ok=True)
        with mock.patch("noren.i18n._remembering", new=True):  # as in a worker
            last = perform(job.order, folder, silent)
        if "summary" in last and job.kind == "read":
            self.studio.store.change_project(job.project, facts=last["summary"])
        self.studio.store.change_job(job.id, state=State.DONE if "summary" in last else State.FAILED, done=1.0, **last)

    def upload(self, content: str | bytes, name: str = "data.csv") -> str:
        project = add_project(self.studio, name="Mine").id
        upload(self.studio, project, name, iter([content.encode() if isinstance(content, str) else content]))
        return project

    def page(self, project: str, more: str = "") -> str:
        answer = self.client.get(f"/projects/{project}/data{more}")
        assert answer.status_code == 200
        return answer.text

    def form(self, project: str) -> dict[str, str]:
        """Return the fields of the columns' form, as a browser without scripts would send them."""
        return fields_in(self.page(project))

    def post(self, project: str, where: str, **fields: str) -> httpx.Response:
        return self.client.post(f"/projects/{project}/data/{where}", data=fields)  # type: ignore[return-value]


def fields_in(text: str) -> dict[str, str]:
    form = text[text.index('id="columns-form"') : text.index("</form>", text.index('id="columns-form"'))]
    fields = {}
    for tag in re.findall(r"<input\b[^>]*>", form):
        found = dict(re.findall(r'(\w+)="([^"]*)"', tag))
        if found.get("type") in ("checkbox", "radio") and " checked" not in tag:
            continue
        if "name" in found:
            fields[found["name"]] = html.unescape(found.get("value", ""))
    for name, options in re.findall(r'<select [^>]*name="([^"]*)"[^>]*>(.*?)</select>', form, re.DOTALL):
        chosen = re.search(r'<option value="([^"]*)" selected', options)
        fields[name] = chosen[1] if chosen else ""
    for name, value in re.findall(r'<textarea [^>]*name="([^"]*)"[^>]*>(.*?)</textarea>', form, re.DOTALL):
        fields[name] = html.unescape(value)
    return fields


def heading(text: str) -> str:
    found = re.search(r"<h1[^>]*>(.*?)</h1>", text, re.DOTALL)
    assert found
    return html.unescape(found[1])
