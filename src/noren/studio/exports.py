"""What leaves the studio: the public part, the secret part, scripts, reports, reconstructed tables.

The public part is written by :meth:`~noren.data.release.Release.publish`, which knows nothing of the secret, into a
folder of its own, and only the files of that folder are sent. The secret part has a function of its own; nothing else
opens its folder. Archives are sent as they are packed, so their size does not matter.
"""

from __future__ import annotations

import hashlib
import io
import re
import threading
import unicodedata
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import quote

from noren.data.frames import History
from noren.data.reading import write
from noren.data.release import Release, Statement
from noren.i18n import _
from noren.judgement.sentences import public_sentence, rule_sentence
from noren.papers.card import card_files
from noren.reports.scripts import ScriptOrder, as_commands, as_python, chain_toml
from noren.studio import approvals
from noren.studio.folders import PROJECT_FILES, read_json
from noren.studio.service import Studio
from noren.studio.store import Job, State
from noren.tables import Texts
from noren.web.errors import NotFoundError

say = Texts(__name__)

Form = Literal["parquet", "csv"]
"""The public part as Parquet alone, or with a text file beside it: the contest's own where the data are a contest's."""
TableForm = Literal["parquet", "csv"]
ScriptForm = Literal["zip", "sh", "py"]
Written = Literal["report", "reconstruct"]
"""The kinds of jobs that write a file about a run."""

_CHUNK = 1 << 18
_LONGEST = 60
_MADE_UP = "original.csv"
_SAMPLES = {
    "history": f"noren sample --customers 400 --rows 12000 --items 900 --seed 1 --out {_MADE_UP}",
    "people": f"noren sample --kind people --rows 4000 --seed 1 --out {_MADE_UP}",
}
_MEDIA_TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".parquet": "application/vnd.apache.parquet",
    ".sh": "text/x-shellscript; charset=utf-8",
    ".py": "text/x-python; charset=utf-8",
}
_LONG_AGO: Final = (1980, 1, 1, 0, 0, 0)
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)
_publishing = threading.Lock()


@dataclass(frozen=True)
class Download:
    """A file to send: its name, what it is, and its bytes as they come."""

    name: str
    media_type: str
    chunks: Iterator[bytes]

    @property
    def disposition(self) -> str:
        """How browsers are told to keep it, and under which name (RFC 6266): plain letters for old ones."""
        plain = unicodedata.normalize("NFKD", self.name).encode("ascii", "ignore").decode("ascii")
        plain = re.sub(r"-*_[-_]*", "_", plain)  # what was between letters of other scripts
        return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(self.name, safe='')}"


def file_name(*words: str, ending: str) -> str:
    """Return a name for a file made of words that people wrote: no path, no mark that means something to a system.

    >>> file_name("../Shop A: 2026", "generalize-by-count, k = 3", ending="public.zip")
    'noren_Shop-A-2026_generalize-by-count-k-3_public.zip'
    """
    parts = []
    for word in words:
        composed = unicodedata.normalize("NFC", word)
        safe = "".join(c if c.isalnum() or c in "._" or unicodedata.category(c)[0] == "M" else "-" for c in composed)
        part = re.sub(r"-+", "-", re.sub(r"\.{2,}", "-", safe)).strip("-._")[:_LONGEST].strip("-._")
        parts.append(f"{part}-" if _RESERVED.fullmatch(part) else part)
    return "_".join(["noren", *filter(None, parts), ending])


def public_part(studio: Studio, job: str, form: Form = "parquet") -> Download:
    """Return the public part and the statement, and nothing else; only under a record that counts.

    It is written with its card when first asked for under a verdict: a release never changes, but the rule by which the
    card judges it may.
    """
    run = studio.finished(job)
    approvals.require_audit(audited=run.summary.get("audited") is not False)
    verdict, check = studio.verdict(job), studio.result(job).measure("analyst")
    results = {} if check is None else check.notes.get("questions", {})
    grades = {name: str(result["grade"]) for name, result in results.items()}
    approvals.note_download(studio, approvals.release_of_run(studio, job), form)
    verdict_digest = hashlib.sha256(f"{public_sentence(verdict)}{rule_sentence(verdict.rule)}".encode()).hexdigest()
    folder = studio.job_folder(run) / f"published-{form}_{verdict_digest[:12]}"
    with _publishing:
        if not folder.exists():
            release = Release.load(studio.job_folder(run) / "release")
            public = release.public
            official = form == "csv" and isinstance(public, History) and bool(public.schema.official)
            card = card_files(release, grades=grades, verdict=verdict)
            if form == "parquet" or official:
                release.publish(folder, official=official, card=card)
            else:
                aside = folder.with_name(f"{folder.name}.part")
                release.publish(aside, replace_existing=True, card=card)
                write(public, aside / "public.csv")
                aside.replace(folder)
    files = sorted(path for path in folder.iterdir() if path.is_file())
    return Download(_named(studio, run, "public.zip"), "application/zip", packed((p.name, p) for p in files))


# --- what was done, as a script ------------------------------------------------------------------------------


def script_texts(studio: Studio, job: str) -> dict[str, str]:
    """Return the scripts that make a release again and judge it, by the names of their files; the seed is left out."""
    run = studio.finished(job)
    order = _order(studio, run)
    texts = {
        "reproduce.sh": as_commands(order),
        "reproduce.py": as_python(order),
        "schema.toml": order.schema.to_toml(),
    }
    if order.statement.steps != [order.statement]:
        texts["chain.toml"] = chain_toml(order.statement)
    project = studio.project(run.project)
    lines = [say("readme", project=project.name, file=order.original)]
    if made := _SAMPLES.get(project.source.get("sample", "")):
        lines.append(say("synthetic", command=made))
    return texts | {"README.txt": "\n".join(lines) + "\n"}


def script(studio: Studio, job: str, form: ScriptForm = "zip") -> Download:
    """Return a script, or an archive of both with the files that they read."""
    run, texts = studio.finished(job), script_texts(studio, job)
    if form != "zip":
        content = texts[f"reproduce.{form}"].encode()
        return Download(_named(studio, run, f"reproduce.{form}"), _MEDIA_TYPES[f".{form}"], iter([content]))
    files: list[tuple[str, Path | bytes]] = [(name, text.encode()) for name, text in texts.items()]
    # the project's hierarchies and categories, as far as the methods of the run read them
    steps = _order(studio, run).statement.steps
    for name in sorted({name for step in steps for name in PROJECT_FILES if step.parameters.get(name)}):
        there = studio.folders.project(run.project) / PROJECT_FILES[name]
        own = sorted(path for path in there.iterdir() if path.suffix == ".csv") if there.is_dir() else [there]
        files += [(f"{PROJECT_FILES[name]}/{p.name}" if there.is_dir() else p.name, p) for p in own if p.is_file()]
    return Download(_named(studio, run, "script.zip"), "application/zip", packed(files))


def _order(studio: Studio, run: Job) -> ScriptOrder:
    folder, project = studio.job_folder(run), studio.project(run.project)
    statement_fields, judged = read_json(folder / "release" / "statement.json"), read_json(folder / "outcome.json")

    def here(parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return parameters whose files are those of the archive."""
        return {name: PROJECT_FILES[name] if name in PROJECT_FILES and v else v for name, v in parameters.items()}

    statement = Statement(**statement_fields)
    parameters = here(statement.parameters)
    if "steps" in parameters:
        parameters["steps"] = [here(step) for step in parameters["steps"]]
    return ScriptOrder(
        replace(statement, parameters=parameters),
        studio.schema(run.project),
        attacks=list(judged["notes"]),
        measures=list(judged["scores"]),
        original=f"./{name}" if (name := project.source.get("file", _MADE_UP)).startswith("-") else name,
        report="report.html",
    )


# --- what jobs wrote -----------------------------------------------------------------------------------------


def latest(studio: Studio, run: Job, kind: Written) -> Job | None:
    """Return the last job of a kind that is about this run alone, if there is one that was not cancelled."""
    about = [
        job
        for job in studio.store.jobs(run.project, kind=kind)
        if [run_listed["id"] for run_listed in job.order["runs"]] == [run.id] and job.state != State.CANCELLED
    ]
    return about[-1] if about else None


def is_perturbed(run: Job) -> bool:
    """Tell whether the release was perturbed by retention alone, so that the original's table can be estimated."""
    return [step["method"] for step in run.order["steps"]] == ["retention"]


def written_file(studio: Studio, job: str, kind: Written, form: TableForm = "csv") -> Download:
    """Return what a job wrote: a report, or the table that it reconstructed from a public part."""
    finished = studio.finished(job, kind=kind)
    name = "report.html" if kind == "report" else f"reconstructed.{form}"
    path = studio.job_folder(finished) / name
    if not path.is_file():
        raise NotFoundError(_("there is no such project, run or file; it may have been removed"))
    runs = finished.order["runs"]
    if kind == "reconstruct":
        # it is shared like the release it is made of
        approvals.note_download(studio, approvals.release_of_run(studio, runs[0]["id"]), "reconstructed")
    words = [studio.project(finished.project).name, *([runs[0]["label"]] if len(runs) == 1 else [])]
    return Download(file_name(*words, ending=name), _MEDIA_TYPES[path.suffix], _read(path))


# --- names and bytes -----------------------------------------------------------------------------------------


def _named(studio: Studio, job: Job, ending: str) -> str:
    return file_name(studio.project(job.project).name, job.label, ending=ending)


def _read(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            yield chunk


def packed(files: Iterable[tuple[str, Path | bytes]]) -> Iterator[bytes]:
    """Pack files into a ZIP archive and give its bytes as they are ready; the same files give the same bytes.

    >>> archive = io.BytesIO(b"".join(packed([("a.txt", b"one")])))
    >>> zipfile.ZipFile(archive).read("a.txt")
    b'one'
    """
    sink = _Sink()
    with zipfile.ZipFile(sink, "w") as archive:
        for name, content in files:
            about = zipfile.ZipInfo(name, _LONG_AGO)
            about.external_attr = 0o600 << 16
            about.compress_type = zipfile.ZIP_STORED if name.endswith(".parquet") else zipfile.ZIP_DEFLATED
            with archive.open(about, "w", force_zip64=True) as target:
                for chunk in [content] if isinstance(content, bytes) else _read(content):
                    target.write(chunk)
                    if ready := sink.taken():
                        yield ready
    yield sink.taken()


class _Sink(io.RawIOBase):
    """A file that keeps what was written until it is taken; nobody can go back in it."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self._chunks.append(bytes(data))
        return len(data)

    def taken(self) -> bytes:
        content, self._chunks = b"".join(self._chunks), []
        return content
