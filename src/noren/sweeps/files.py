"""Files of a study: results that can be shared, and the secret file that repeats it.

::

    report.html      for a privacy officer, one page that loads nothing
    frontier.svg     the map of risk and utility
    table.csv        one line per release, without seeds
    table.json       the same with all facts
    sweep.toml       repeats the study (noren explore --sweep); it contains the seeds; only you can read it
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import tomli_w
from pydantic import ValidationError

from noren.attacks import attacks as every_attack
from noren.data.formats.files import FolderKind, json_signature
from noren.data.frames import Records
from noren.data.schema import PRESETS, Schema
from noren.errors import FileError
from noren.judgement.rule import RULES, Rule, get_rule
from noren.measures import measures as every_measure
from noren.methods import methods as every_method
from noren.methods.chain import Chain
from noren.protocols import Component, Method
from noren.registry import Registry, build, expand
from noren.sweeps.plan import Setting, files_named, settled
from noren.sweeps.study import rows_of
from noren.tables import Texts
from noren.tabulations.questions import grade_of

if TYPE_CHECKING:
    from noren.sweeps.study import SweepStudy

say = Texts(__name__)
_Value = TypeVar("_Value")
NAMES = ("report.html", "frontier.svg", "table.csv", "table.json", "sweep.toml")


STUDY = FolderKind(NAMES, json_signature("table.json", "noren", "settings", "points"))
"""A folder with a study; another may take its place if it holds nothing else."""


def holds_study(folder: Path) -> bool:
    """Tell whether a folder holds an earlier study and nothing else."""
    return folder.is_dir() and any(folder.iterdir()) and STUDY.foreign(folder) is None


def as_plain(study: SweepStudy) -> dict[str, Any]:
    """Return a study as plain data that can be shared: everything but the seeds, in English."""
    request, settings = study.request, study.settings
    labels = {at: setting.label for at, setting in enumerate(settings)}
    sides = ("chosen", "more_useful", "safer", "safest")
    return {
        "noren": study.version,
        "data": {"kind": str(study.source.schema.kind), "rows": study.source.rows, "people": study.source.people},
        "rule": request.rule.as_dict(),
        "purpose": list(request.purpose),
        "runs": len(request.seeds),
        "attacks": [setting.name for setting in request.attacks],
        "measures": [setting.name for setting in request.measures],
        "recommended": [labels[choice.chosen] for choice in study.choices if choice.chosen is not None],
        "choices": [
            {"use_of": choice.use_of} | {name: labels.get(getattr(choice, name)) for name in sides}
            for choice in study.choices
        ],
        "settings": [
            setting.place.model_dump(mode="json", exclude={"status"})
            | {
                "method": setting.setting.method.name,
                "parameters": setting.setting.parameters,
                "verdict": str(setting.place.status),
                "refused": not setting.done,
                "failed": {name: reason["kind"] for name, reason in setting.failed.items()},
                "answers": {n: str(grade_of(ratio)) for n, ratio in setting.answers(request.purpose).items()},
                "on_frontier": setting.on_frontier,
                "recommended": setting.recommended,
            }
            for setting in settings
        ],
        "points": rows_of(settings),
    }


# --- the file that repeats it ----------------------------------------------------------------------------------------


class SweepFile:
    """The TOML file of a sweep: optional data and schema, the settings, attacks, measures, seeds and rule.

    Files are relative to the folder of the TOML.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            self._content = tomllib.loads(self.path.read_bytes().decode("utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise FileError(say("unreadable_sweep", reason=str(error)[:160]), file=self.path) from None

    def settings(self) -> list[Setting]:
        """Return the settings of the ``[[run]]`` tables."""
        runs = self._content.get("run", [])
        is_list = isinstance(runs, list) and all(isinstance(run, dict) for run in runs)
        if not runs or not is_list or not all(isinstance(run.get("method"), str) for run in runs):
            raise FileError(say("no_runs", key="method"), file=self.path)
        made = [method for run in map(dict, runs) for method in expand(every_method[run.pop("method")], run)]
        return [Setting(settled(method, self.path.parent)) for method in made]

    def file(self, key: str) -> Path | None:
        """Return a file that is named, such as ``data`` and ``master``."""
        name = self._get(key, str)
        return None if name is None else Path(os.path.normpath(self.path.parent / name))

    def schema(self) -> str | Schema | None:
        """Return the schema, a preset's name or the schema in full."""
        schema = self._content.get("schema")
        return Schema.of(schema, file=self.path) if isinstance(schema, dict) else self._get("schema", str)

    def seeds(self) -> list[int] | None:
        """Return the seeds."""
        seeds = self._get("seeds", list)
        if seeds is not None and not all(isinstance(seed, int) and not isinstance(seed, bool) for seed in seeds):
            raise self._key_error("seeds")
        return seeds

    def components(self, key: str) -> list[Any] | str | None:
        """Return attacks or measures: names, or tables of a name and parameters; or ``all``."""
        if self._content.get(key) == "all":
            return "all"
        registry: Registry[Any] = every_attack if key == "attacks" else every_measure
        listed = self._get(key, list)
        if listed is None:
            return None
        components = []
        for entry in listed:
            if isinstance(entry, str):
                components.append(registry.create(entry))
            elif isinstance(entry, dict) and isinstance(entry.get("name"), str):
                components.append(build(registry[entry["name"]], {n: v for n, v in entry.items() if n != "name"}))
            else:
                raise self._key_error(key)
        return components

    def rule(self) -> Rule | None:
        """Return the rule: a name, a tolerance, a TOML file, or the rule in full."""
        rule = self._content.get("rule")
        if rule is None:
            return None
        if isinstance(rule, dict):
            try:
                return Rule.model_validate(rule)
            except ValidationError:
                raise self._key_error("rule") from None
        if isinstance(rule, bool) or not isinstance(rule, str | int | float):
            raise self._key_error("rule")
        word = str(rule)
        return get_rule(str(self.path.parent / word) if word.endswith(".toml") else word)

    def purpose(self) -> str | None:
        """Return the questions that the release is for."""
        return self._get("purpose", str)

    def differs(self, original: Records) -> bool:
        """Tell whether the data are not those that the file was written for."""
        return self._get("digest", str) not in (None, original.digest())

    def _get(self, key: str, kind: type[_Value]) -> _Value | None:
        value = self._content.get(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, kind)):
            raise self._key_error(key)
        return value

    def _key_error(self, key: str) -> FileError:
        return FileError(say("wrong_key", key=key), file=self.path, value=str(self._content.get(key)))


def sweep_toml(study: SweepStudy, folder: Path) -> str:
    """Return the file that repeats a study from ``folder``; it holds the seeds."""
    request, source = study.request, study.source
    files = {"data": source.file, "master": source.master}
    preset = source.schema.name in PRESETS and source.schema == Schema.preset(source.schema.name)
    named = RULES.get(request.rule.name) == request.rule
    content: dict[str, Any] = {key: _relative(file, folder) for key, file in files.items() if file is not None}
    content |= {"digest": source.digest} | ({"schema": source.schema.name} if preset else {})
    content |= {"seeds": list(request.seeds), "attacks": [_component(attack) for attack in request.attacks]}
    content |= {"measures": [_component(measure) for measure in request.measures]}
    content |= {"purpose": ", ".join(request.purpose)} if request.purpose else {}
    content |= {"rule": request.rule.name} if named else {}
    parts = [tomli_w.dumps(content)]
    parts += [
        "[[run]]\n" + tomli_w.dumps({"method": s.method.name} | _parameters(s.method, folder)) for s in request.settings
    ]
    if not named:
        parts.append(tomli_w.dumps({"rule": request.rule.as_dict() | {"tolerance": str(request.rule.tolerance)}}))
    if not preset:
        parts.append(tomli_w.dumps({"schema": tomllib.loads(source.schema.to_toml())}))
    command = "noren explore --sweep sweep.toml"
    head = [say("made_by", version=study.version, command=command), say("secret")]
    return "\n".join(["".join(f"# {line}\n" for line in head), *parts])


def _relative(path: Path, folder: Path) -> str:
    return Path(os.path.relpath(path.absolute(), folder.absolute())).as_posix()


def _component(component: Component) -> Any:
    chosen = component.model_dump(mode="json", exclude_defaults=True, exclude_none=True)
    return {"name": component.name} | chosen if chosen else component.name


def _parameters(method: Method, folder: Path) -> dict[str, Any]:
    """Return the parameters of a method that are not their defaults, files named from ``folder``."""
    if isinstance(method, Chain):
        return {"steps": [{"method": step.name} | _parameters(step, folder) for step in method.steps]}
    chosen: dict[str, Any] = method.model_dump(mode="json", exclude_defaults=True, exclude_none=True)
    return chosen | {name: _relative(path, folder) for name, path in files_named(method).items()}
