"""Papers: what the law asks a maker to publish, to tell and to keep about a release, as a ZIP archive."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from noren.data.release import Release
from noren.i18n import _, active_language, ngettext, speaking
from noren.papers.case import is_pseudonymised_only, judged_case
from noren.papers.document import Pack
from noren.papers.pack import About, Law, pack_files, pack_of
from noren.papers.wording import Wording, fact_names, facts_given
from noren.studio import exports, handing_out
from noren.studio.api.exports import sent
from noren.studio.api.models import Ident
from noren.studio.api.surroundings import TheStudio
from noren.studio.pages.frame import page
from noren.studio.pages.result import rule_words, run_of
from noren.studio.service import Studio
from noren.studio.store import Job, Project, State
from noren.studio.users import UserRole, least
from noren.studio.work.running import original_of

__all__ = ["router"]

router = APIRouter()

_HERE = "/projects/{project}/results/{job}/papers"


@router.get(_HERE)
def show(
    request: Request, project: Ident, job: Ident, studio: TheStudio, law: Annotated[Law, Query()] = "appi"
) -> Response:
    """Show which papers there are for a law, and ask for what is not known."""
    found, run = run_of(studio, project, job)
    if run.state != State.DONE:
        return RedirectResponse(f"/projects/{found.id}/runs/{run.id}", 303)
    case = judged_case(Release.load(studio.job_folder(run) / "release"), studio.verdict(run.id))
    pack = pack_of(case, law)
    left = len(pack.fields())
    title = ngettext(
        "{count} paper goes with this release; {left} places in them are yours to fill in",
        "{count} papers go with this release; {left} places in them are yours to fill in",
        len(pack.documents),
    )
    return page(
        request,
        "papers.html.jinja",
        title=title.format(count=len(pack.documents), left=left),
        place="results",
        project=found,
        run=run,
        verdict_of_run=case.verdict,
        rule=rule_words(found)["rule"],
        law=law,
        laws=[("appi", _("Japan: the personal information act")), ("gdpr", _("European Union: GDPR"))],
        kinds=[
            ("auto", _("by what the method does")),
            ("anonymised", _("anonymously processed information")),
            ("pseudonymised", _("pseudonymously processed information")),
        ],
        documents=[(document.title, document.audience) for document in pack.documents],
        fields=_fields(pack, _known(studio, found, run)),
        only_names=is_pseudonymised_only(case.release),
        paper_language=active_language(),
        paper_languages=[("ja", "日本語"), ("en", "English")],
        publish_address=f"/projects/{found.id}/results/{run.id}/publish",
        here_address=_HERE.format(project=found.id, job=run.id),
    )


@router.post(_HERE)
@least(UserRole.REVIEWER)
async def write(
    request: Request,
    project: Ident,
    job: Ident,
    studio: TheStudio,
    law: Annotated[Law, Form()],
    about: Annotated[About, Form()] = "auto",
    language: Annotated[Literal["en", "ja"], Form()] = "ja",
) -> Response:
    """Send the papers, with what was filled in."""
    form = await request.form()
    known = facts_given({name: text for name in fact_names() if isinstance(text := form.get(name), str)})
    found, run = await run_in_threadpool(run_of, studio, project, job)

    def packed() -> Response:
        release = Release.load(studio.job_folder(studio.finished(run.id)) / "release")
        case = judged_case(release, studio.verdict(run.id), original_of(run.order))
        with speaking(language):
            files = list(pack_files(pack_of(case, law, known=known, about=about), case))
        name = exports.file_name(found.name, run.label, ending=f"papers-{law}-{language}.zip")
        return sent(exports.Download(name, "application/zip", exports.packed(files)))

    return await run_in_threadpool(packed)


def _known(studio: Studio, project: Project, run: Job) -> dict[str, str]:
    """Return what the records of handing out tell: to whom it went last, and when."""
    records = [one for one in handing_out.publications(studio, project.id) if one.what == run.id]
    return {"recipient": records[0].to, "provided_on": records[0].when[:10]} if records else {}


def _fields(pack: Pack, known: dict[str, str]) -> list[dict[str, Any]]:
    """Return the facts that papers ask for, with what they are and what is known of them."""
    wording = Wording()
    keys = dict.fromkeys(one.key for _document, one in pack.fields() if one.key)
    return [{"name": key, "label": wording.word(f"common.field_{key}"), "value": known.get(key, "")} for key in keys]
