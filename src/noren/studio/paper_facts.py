"""Facts of the papers that a studio keeps, so that nobody types them again for every release.

They lie beside what they are about: the organisation's in the studio's folder, a project's and a release's in theirs,
and go when it goes. The nearest counts: the release's own, then the project's, then the organisation's.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal, get_args

from noren.papers.wording import fact_fields
from noren.studio.folders import PAPER_FACTS_FILE, read_json, write_json
from noren.studio.service import Studio
from noren.studio.store import Job

Level = Literal["organisation", "project", "release"]
LEVELS: Final[tuple[Level, ...]] = get_args(Level)


def known_facts(studio: Studio, run: Job) -> dict[str, tuple[str, Level]]:
    """Return the facts that are kept for the papers of a run's release, and for what each is kept."""
    levels = zip(LEVELS, _paths(studio, run), strict=True)
    return {name: (text, level) for level, path in levels for name, text in (read_json(path) or {}).items()}


def keep_facts(studio: Studio, run: Job, facts: Mapping[str, str], level: Level) -> None:
    """Keep facts for a release, its project or the organisation; none reaches further than its field says.

    What a wider level says already is not repeated, so that a change there reaches everybody who did not differ. The
    trail tells which fields were changed, not what they say.
    """
    paths = _paths(studio, run)
    with studio.store.trail.changing() as database:  # one at a time, on several machines too
        before: list[dict[str, str]] = [read_json(path) or {} for path in paths]
        after = [dict(stored) for stored in before]
        for name, text in facts.items():
            place = max(LEVELS.index(level), [*map(str, LEVELS)].index(fact_fields()[name]["of"]))
            wider = [stored[name] for stored in after[:place] if name in stored]
            for stored in after[place:]:
                stored.pop(name, None)
            if text != (wider or [""])[-1]:
                after[place][name] = text
        for at, path, old, new in zip(LEVELS, paths, before, after, strict=True):
            if old != new:
                write_json(path, new)
                owner, changed = "" if at == "organisation" else run.project, sorted(dict(old.items() ^ new.items()))
                studio.store.trail.note(database, "papers-changed", project=owner, level=at, fields=changed)


def _paths(studio: Studio, run: Job) -> list[Path]:
    folders = (studio.folders.root, studio.folders.project(run.project), studio.job_folder(run))
    return [folder / PAPER_FACTS_FILE for folder in folders]
