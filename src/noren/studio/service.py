"""What a person can do in the studio; pages and the REST interface say it in their own ways, both through here."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from noren.api import draw_seed
from noren.attacks import attacks as every_attack
from noren.data import catalog
from noren.data.formats.render import value_text
from noren.data.release import Statement
from noren.data.schema import Kind, Schema
from noren.errors import NorenError, ParameterError
from noren.i18n import _, active_language
from noren.judgement.outcome import label_of
from noren.judgement.place import Place
from noren.judgement.rule import Rule, rule_named
from noren.judgement.verdict import Verdict
from noren.measures import measures as every_measure
from noren.methods import methods as every_method
from noren.naming import listing
from noren.protocols import Method
from noren.registry import Kind as Part
from noren.registry import Registry
from noren.studio.folders import Folders, keep_private, read_json
from noren.studio.forms.columns import open_stops
from noren.studio.jobs import Jobs
from noren.studio.judged import Result, judged, place_by, result_in
from noren.studio.project_files import method_of, with_project_files, without_paths
from noren.studio.store import Job, Project, State, Store
from noren.studio.work.outcome_files import forget_failures
from noren.studio.work.running import forget_shared, original_of
from noren.sweeps.plan import data_key, expanded
from noren.sweeps.running import sweep_folder
from noren.sweeps.sweep import own_seed
from noren.web.refusals import DiskFullError, NotNowError, NotThereError
from noren.web.settings import Settings
from noren.work.ids import new_id

_MOST_RUNS = 200
_MOST_STEPS = 8


class Studio:
    """One studio: its settings, its store and its background work."""

    def __init__(self, settings: Settings) -> None:
        settings.make_folder()
        self.tightened = keep_private(settings.folder)
        """How many files and folders could be read by others until now."""
        self.settings = settings
        self.folders = Folders(settings.folder)
        self.store = Store(settings.database_url)
        self.jobs = Jobs(settings, self.store, self._done)

    def start(self) -> None:
        """Take up work."""
        self.jobs.start()

    def close(self) -> None:
        """Stop work; it goes on with the next start."""
        self.jobs.close()
        self.store.close()

    def _done(self, job: Job, summary: Mapping[str, Any]) -> None:
        if job.kind == "read":
            self.store.change_project(job.project, facts=dict(summary))

    # --- projects and their data -----------------------------------------------------------------------------

    def project(self, project: str) -> Project:
        """Return a project, or say that it is gone."""
        found = self.store.project(project)
        if found is None:
            raise NotThereError(_("there is no such project; it may have been removed"))
        return found

    def ready_project(self, project: str) -> Project:
        """Return a project whose data were read."""
        found = self.project(project)
        if not found.is_ready:
            raise NotNowError(_("the data of this project were not read yet"))
        return found

    def rule(self, project: str) -> Rule:
        """Return what the releases of a project are judged by."""
        return rule_named(self.project(project).rule)

    def datasets(self) -> list[str]:
        """Return the public data sets found on this machine."""
        found = []
        for dataset in catalog.known():
            try:
                catalog.find(dataset.name)
            except NorenError:
                continue
            found.append(dataset.name)
        return found

    def stop_without_room(self, project: str, size: int) -> None:
        """Say at once that an upload of so many bytes will not find room."""
        if size > shutil.disk_usage(self.folders.project(project)).free:
            raise DiskFullError

    def is_fixed(self, project: str) -> bool:
        """Tell whether releases depend on the data as they are, or are being made of them.

        A run that failed, was cancelled or interrupted left nothing that other columns could contradict.
        """
        return any(job.state == State.DONE or not job.state.is_over for job in self.store.jobs(project, kind="run"))

    def stop_when_protected(self, project: str) -> None:
        """Runs are about the data they were made from: other data make another project."""
        if self.is_fixed(project):
            raise NotNowError(
                _("this project has runs already; copy its data into a new project to read them in another way")
            )

    def schema(self, project: str) -> Schema:
        """Return what the columns of a project mean."""
        self.ready_project(project)
        return Schema.from_toml(self.folders.schema(project).read_text(encoding="utf-8"))

    def columns(self, project: str) -> tuple[Path, Schema]:
        """Return the folder of a project whose data were read, and what its columns mean."""
        return self.folders.project(project), self.schema(project)

    def known(self, project: str) -> Mapping[str, Any]:
        """Return what is known of a project's file: by the last reading that went well, or as far as one came."""
        found = self.project(project)
        last = next(iter(reversed(self.store.jobs(project, kind="read"))), None)
        draft = read_json(self.job_folder(last) / "draft.json") if last and last.state == State.FAILED else None
        return found.facts if draft is None else draft

    def read(self, project: Project, told: Mapping[str, Any] | None = None) -> Job:
        """Have a project's data read: by a schema, by answers, or by a guess where nothing is ``told``."""
        for job in self.store.jobs(project.id, kind="read", states=(State.WAITING, State.RUNNING)):
            self.jobs.cancel(job.id)
        for job in self.store.jobs(project.id, kind="run"):
            if job.state.is_over and job.state != State.DONE:  # what it had made is of the data as they were
                shutil.rmtree(self.job_folder(job), ignore_errors=True)
        shutil.rmtree(self.folders.project(project.id) / "explore", ignore_errors=True)  # so is what sweeps had
        order = self._order("read", project.id) | {
            key: value for key, value in project.source.items() if key in ("sample", "dataset")
        }
        if "file" in project.source:
            order["file_name"] = project.source["file"]
        return self._submit(project.id, "read", project.name, order | dict(told or {}))

    def profile(self, project: str) -> dict[str, Any]:
        """Return the profile of a project's data."""
        self.ready_project(project)
        answer: dict[str, Any] = read_json(self.folders.profile(project)) or {}
        return answer

    def preview(self, project: str, start: int, count: int) -> dict[str, Any]:
        """Return rows of the data, as they are read."""
        import polars as pl

        found = self.ready_project(project)
        schema = self.schema(project)
        rows = pl.scan_parquet(self.folders.data(project)).select(schema.names).slice(start, count).collect()
        texts = rows.select(value_text(pl.col(c.name), c).alias(c.name) for c in schema.columns)
        names = list(schema.names)
        return {"columns": names, "start": start, "total": found.facts["rows"], "rows": [list(r) for r in texts.rows()]}

    # --- runs ------------------------------------------------------------------------------------------------

    def fitting(self, project: str, registry: Registry[Part]) -> list[type[Part]]:
        """Return the components that work on a project's data."""
        schema = self.schema(project)
        return [registry[name] for name in registry if registry[name].fits(schema)]

    def run(
        self,
        project: str,
        steps: Sequence[Mapping[str, Any]],
        *,
        attacks: Sequence[str] | None = None,
        measures: Sequence[str] | None = None,
        seed: int | None = None,
        sweep: str | None = None,
    ) -> Job:
        """Protect the data by one method or a chain, attack and measure the release."""
        ready = self.checked(project, steps, attacks=attacks, measures=measures)
        made = [Statement(m.name, without_paths(m)) for m in ready]
        label = label_of(made[0] if len(made) == 1 else Statement.of_chain(made))
        order = self._order("run", project) | {
            "steps": [{"method": m.name, "parameters": without_paths(m)} for m in ready],
            "attacks": None if attacks is None else list(attacks),
            "measures": None if measures is None else list(measures),
            "seed": draw_seed() if seed is None else seed,
            "rule": self.project(project).rule,
            "engine": self.settings.engine,
        }
        return self._submit(project, "run", label, order, sweep)

    def checked(
        self,
        project: str,
        steps: Sequence[Mapping[str, Any]],
        *,
        attacks: Sequence[str] | None = None,
        measures: Sequence[str] | None = None,
    ) -> list[Method]:
        """Return the methods of a run that can be started: what is wrong is said now, not in the worker."""
        found, schema = self.ready_project(project), self.schema(project)
        if found.facts.get("open"):
            raise NotNowError(
                _("nobody said what {columns} is for; answer on the page Data first").format(
                    columns=listing(found.facts["open"])
                )
            )
        if asked := open_stops(found.facts):
            raise NotNowError(
                _("{question} Answer on the page Data first").format(question=asked[0]["text"][active_language()])
            )
        if not 1 <= len(steps) <= _MOST_STEPS:
            raise ParameterError(
                _("a run has one to {most} methods").format(most=_MOST_STEPS), _("choose as many, one after another")
            )
        asked = [{"method": s["method"], "parameters": dict(s.get("parameters", {}))} for s in steps]
        ready: list[Method] = []
        for step in asked:
            method = method_of([step], self.folders.project(project))
            if Kind(found.facts["kind"]) not in method.accepts:
                raise ParameterError(
                    _("{component} works on a {wanted}, and this is a {given}").format(
                        component=method.name, wanted="/".join(sorted(method.accepts)), given=found.facts["kind"]
                    ),
                    _("choose another component, or another schema"),
                )
            ready.append(method)
        registries: tuple[tuple[Sequence[str] | None, Registry[Any]], ...]
        registries = ((attacks, every_attack), (measures, every_measure))
        for names, registry in registries:
            for name in names or ():
                if not registry[name].fits(schema):
                    raise ParameterError(
                        _("{component} does not fit these data").format(component=name), _("leave it out")
                    )
        method_of(asked, self.folders.project(project))
        return ready

    def sweep(
        self,
        project: str,
        wanted: Sequence[Mapping[str, Any]],
        *,
        attacks: Sequence[str] | None = None,
        measures: Sequence[str] | None = None,
        seed: int | None = None,
        again: bool = True,
    ) -> list[Job]:
        """Run what ``noren explore`` would: ``{"method": …, "parameters": {"k": "2..20"}}``, or the usual values.

        The seed is that of ``noren explore --cache`` with the project's folder, so that either goes on with what the
        other did. Settings that have a run, or will have, run only where ``again`` says so.
        """
        found, folder = self.ready_project(project), self.folders.project(project)
        schema, rule = self.schema(project), self.rule(project)
        ready: list[Method] = []
        for each in wanted:
            kind = every_method[each["method"]]
            given = with_project_files(kind, dict(each.get("parameters", {})), folder)
            made = expanded(kind, given, int(found.facts["people"]), schema=schema, rule=rule)
            ready += [one for one in made if one not in ready]
        if not 1 <= len(ready) <= _MOST_RUNS:
            raise ParameterError(
                _("these are {count:,} runs").format(count=len(ready)),
                _("a sweep has one to {most}").format(most=_MOST_RUNS),
            )
        if not again:
            jobs = [
                job for job in self.store.jobs(project, kind="run") if not job.state.is_over or job.state == State.DONE
            ]
            there = [job.order["steps"] for job in jobs]
            ready = [one for one in ready if [{"method": one.name, "parameters": without_paths(one)}] not in there]
        name = new_id()
        if seed is None:
            seed = own_seed(sweep_folder(folder), data_key(original_of(self._order("run", project))))
        return [
            self.run(
                project,
                [{"method": one.name, "parameters": without_paths(one)}],
                attacks=attacks,
                measures=measures,
                seed=seed,
                sweep=name,
            )
            for one in ready
        ]

    def job(self, job: str, *, kind: str | None = None) -> Job:
        """Return a job, or say that it is gone."""
        found = self.store.job(job)
        if found is None or (kind is not None and found.kind != kind):
            raise NotThereError(_("there is no such run; it may have been removed"))
        return found

    def finished(self, job: str) -> Job:
        """Return a run that came to its end."""
        found = self.job(job, kind="run")
        if found.state != State.DONE:
            raise NotNowError(_("this run has no result: it is {state}").format(state=found.state.words))
        return found

    def cancel(self, job: str) -> Job:
        """Stop a job and throw away what it did."""
        self.job(job)
        self.jobs.cancel(job)
        return self.job(job)

    def enough(self, job: str) -> Job:
        """Ask a running job to stop and keep the best so far."""
        found = self.job(job)
        if not self.jobs.enough(job):
            raise NotNowError(_("this run is not running; there is nothing to keep"))
        return found

    def again(self, job: str) -> Job:
        """Do what is missing of a job, with the same seed.

        A run that made its release goes on as the same run: what it finished stays, and what failed is tried again. Any
        other job that was cancelled, failed or interrupted is started anew.
        """
        found = self.job(job)
        if found.state == State.DONE and found.summary.get("failed"):
            return self._resumed(found)
        if not found.state.is_over or found.state == State.DONE:
            raise NotNowError(_("this run is under way or done"))
        if found.kind == "run" and found.state != State.CANCELLED and (self.job_folder(found) / "release").is_dir():
            return self._resumed(found)
        return self._submit(found.project, found.kind, found.label, found.order, found.sweep)

    def _resumed(self, job: Job) -> Job:
        self.store.trail.add("resumed", project=job.project, job=job.id)
        forget_failures(self.job_folder(job))
        self.jobs.resume(job)
        return self.job(job.id)

    def remove_job(self, job: str) -> None:
        """Remove a run with its release, also where sweeps would find it."""
        found = self.job(job)
        self.jobs.cancel(job)
        self.store.remove_job(job)
        others = [self.job_folder(other) for other in self.store.jobs(found.project, kind="run")]
        forget_shared(self.folders.project(found.project), self.job_folder(found), others)
        shutil.rmtree(self.job_folder(found), ignore_errors=True)

    def job_folder(self, job: Job) -> Path:
        """Return where the files of a job lie."""
        return self.folders.job(job.project, job.id)

    def result(self, job: str) -> Result:
        """Return everything a page shows of a run."""
        found = result_in(self.job_folder(self.finished(job)))
        if found is None:
            raise NotThereError(_("there is no such run; it may have been removed"))
        return found

    def verdict(self, job: str) -> Verdict:
        """Return how safe the release of a run is, by the rule of its project."""
        found = self.finished(job)
        verdict = judged(self.job_folder(found), found.ended, self.rule(found.project))
        if verdict is None:
            raise NotThereError(_("there is no such run; it may have been removed"))
        return verdict

    def place(self, job: Job, rule: Rule) -> Place:
        """Return where a finished run stands on the map by a rule."""
        return place_by(job, self.job_folder(job), rule)

    def crosstabs(self, job: str) -> dict[str, Any]:
        """Return the cross tabulations of all pairs of columns, before and after."""
        answer: dict[str, Any] = read_json(self.job_folder(self.finished(job)) / "crosstabs.json")
        return answer

    def crosstab(self, job: str, a: str, b: str) -> dict[str, Any]:
        """Return the cross tabulation of two columns, before and after."""
        return pair_of(self.crosstabs(job), a, b)

    def row_pairs(self, job: str, start: int, count: int, *, only_changed: bool = False) -> dict[str, Any]:
        """Return original rows next to released ones; whose pseudonym is whose belongs to the secret part, not here."""
        import polars as pl

        path = self.job_folder(self.finished(job)) / "rows.parquet"
        lazy = pl.scan_parquet(path)
        names = lazy.collect_schema().names()
        changes = [n for n in names if n.startswith("change:")]
        if only_changed:
            # what befell a whole column befell every row
            kept = [pl.col(n).is_in(["same", "pseudonym", "dropped"]) for n in changes]
            lazy = lazy.filter(~pl.all_horizontal(pl.col("state") == "kept", *kept))
        total, every = lazy.select(pl.len()).collect().item(), pl.scan_parquet(path).select(pl.len()).collect().item()
        hidden = [
            pl.when(pl.col(n).ne_missing("pseudonym")).then(pl.col(shown)).alias(shown)
            for n in changes
            if (shown := n.replace("change:", "released:", 1)) in names
        ]
        rows = lazy.slice(start, count).with_columns(hidden).collect()
        return {
            "columns": names,
            "start": start,
            "total": total,
            "every": every,
            "rows": [list(row) for row in rows.rows()],
        }

    def report(self, project: str, runs: Sequence[str]) -> Job:
        """Write a report about runs, in the language now spoken."""
        found = self.ready_project(project)
        jobs = [self.finished(run) for run in runs]
        if not jobs or any(job.project != project for job in jobs):
            raise ParameterError(_("there is nothing to report"), _("name runs of this project that are done"))
        order = self._order("report", project) | {
            "runs": [{"id": job.id, "label": job.label} for job in jobs],
            "title": found.name,
            "rule": found.rule,
        }
        return self._submit(project, "report", found.name, order)

    def _order(self, kind: str, project: str) -> dict[str, Any]:
        root = str(self.settings.folder.resolve())
        return {"kind": kind, "project": project, "root": root, "language": active_language()}

    def submit(self, project: str, kind: str, label: str, order: dict[str, Any]) -> Job:
        """Start a piece of work that the modules beside this one define."""
        return self._submit(project, kind, label, self._order(kind, project) | order)

    def _submit(self, project: str, kind: str, label: str, order: dict[str, Any], sweep: str | None = None) -> Job:
        job = self.store.add_job(project, kind, label, order, sweep)
        try:
            self.jobs.submit(job)
        except Exception:  # what could not be started must not look as if it waited
            self.store.remove_job(job.id)
            shutil.rmtree(self.job_folder(job), ignore_errors=True)
            raise
        return job


def pair_of(tables: Mapping[str, Any], a: str, b: str) -> dict[str, Any]:
    """Return the table of two columns, the first downwards."""
    for pair in tables["pairs"]:
        if [pair["a"], pair["b"]] == [a, b]:
            return dict(pair)
        if [pair["a"], pair["b"]] == [b, a]:
            return _turned(pair)
    raise NotThereError(_("these two columns have no table; choose two of {names}").format(names=tables["columns"]))


def _turned(pair: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table with its two columns exchanged."""

    def other(table: Sequence[Sequence[float]] | None) -> Any:
        return None if table is None else [list(row) for row in zip(*table, strict=True)]

    return dict(pair) | {
        "a": pair["b"], "b": pair["a"], "labels_a": pair["labels_b"], "labels_b": pair["labels_a"],
        "axis_a": pair["axis_b"], "axis_b": pair["axis_a"],
        **{name: other(pair[name]) for name in ("original", "released", "reconstructed")},
    }  # fmt: skip
