"""``noren demo``: the whole of Noren on generated data, in one command."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noren.cli.parts.failures import Failures
from noren.cli.parts.help_pages import app
from noren.cli.parts.inputs import Force, Json, RuleName
from noren.cli.parts.screen import progress_bar, say, show_json, show_table
from noren.i18n import _

if TYPE_CHECKING:
    from noren.data.formats.files import FolderKind
    from noren.judgement.place import Place
    from noren.judgement.verdict import Verdict


_SCHEMA = "pwscup2018"
_RUNS: tuple[tuple[str, dict[str, object]], ...] = (
    ("pseudonymize", {}),
    ("generalize-by-count", {"k": 2, "suppress_cells": True}),
    ("generalize-by-count", {"k": 3, "suppress_cells": True}),
    ("generalize-by-count", {"k": 5, "suppress_cells": True}),
    ("generalize", {"k": 5, "effort": "quick"}),
)


@app.command(
    "demo",
    help=_("Run everything on generated data: protect, attack, judge, report."),
    epilog=_("Example: noren demo --out demo/"),
)
def demo(
    out: Annotated[Path, typer.Option("--out", help=_("The folder to write everything to."))] = Path("demo"),
    customers: Annotated[int, typer.Option("--customers", help=_("How many customers."))] = 200,
    rows: Annotated[int, typer.Option("--rows", help=_("How many purchases."))] = 12_000,
    rule: RuleName = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help=_("Same seed, same bytes."))] = 1,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Run the demo."""
    from noren.api import protect, sample
    from noren.data.formats.files import writing_folder
    from noren.data.formats.official import write_rows
    from noren.judgement.judging import judge
    from noren.judgement.outcome import examine
    from noren.judgement.place import place_of
    from noren.judgement.rule import rule_named
    from noren.methods import methods
    from noren.reports.report import write_report

    by = rule_named(rule)
    with writing_folder(out, replace=(force or _holds_demo(out)) and _kind()) as folder:
        if not as_json:
            say(_("1. generating {rows:,} purchases of {customers:,} customers").format(rows=rows, customers=customers))
        original = sample(customers=customers, rows=rows, seed=seed, schema=_SCHEMA)
        write_rows(original, folder / "T.csv")
        outcomes, failures = [], Failures()
        bar = progress_bar(_("2. protecting, attacking, measuring"), quiet=as_json)
        with bar as progress:
            for i, (name, parameters) in enumerate(_RUNS):
                label = _label(name, parameters)
                progress(i / len(_RUNS), label)
                release = protect(original, methods.create(name, **parameters), seed=seed)
                release.save(folder / _folder_name(name, parameters), official=True)
                outcomes.append(examine(original, release, label=label))
                for failing, reason in outcomes[-1].failed.items():
                    failures.add(f"{label}, {failing}", reason)
        write_report(original, outcomes, folder / "report.html", rule=by)
        _sign(folder)
    verdicts = [judge(outcome, by) for outcome in outcomes]
    places = [place_of(o.label, verdict, o.scores) for o, verdict in zip(outcomes, verdicts, strict=True)]
    page = (out / "report.html").resolve()
    if as_json:
        summary = [
            {
                "release": o.label,
                "deleted_rows": o.release.deleted_rows,
                "place": place.model_dump(mode="json"),
                "scores": {name: score.value for name, score in o.scores.items()},
            }
            | verdict.as_dict()
            for o, verdict, place in zip(outcomes, verdicts, places, strict=True)
        ]
        show_json({"out": str(out), "report": str(page), "releases": summary, "failed": failures.reasons})
    else:
        _show(verdicts, places, page)
    failures.leave()


def _show(verdicts: Sequence[Verdict], places: Sequence[Place], page: Path) -> None:
    """Print the story on one screen: what each release lets happen, what it keeps, and which to take."""
    from noren.judgement.numbers import percent
    from noren.judgement.sentences import allowed, finding, rule_sentence, word_text

    headings = (_("release"), _("verdict"), _("re-identified"), _("utility kept"))
    rows = [
        (place.label, word_text(place.word), _named(verdict), percent(place.use or 0.0))
        for verdict, place in zip(verdicts, places, strict=True)
    ]
    by = verdicts[0].rule
    print(
        _("Which release may be handed out? Nobody may be re-identified with a probability above {allowed}.").format(
            allowed=allowed(by)
        )
    )
    show_table("", headings, rows)
    print(_("{sentence}.").format(sentence=finding(places)))
    chosen = [i for i, place in enumerate(places) if place.word.is_safe]
    if chosen:
        best = max(chosen, key=lambda i: places[i].use or 0.0)
        print(_("Take {label}. {sentence}").format(label=places[best].label, sentence=verdicts[best].sentence))
    say(rule_sentence(by))
    print(_("All measures and charts: {page}").format(page=page.as_uri()))


def _named(verdict: Verdict) -> str:
    """Return how many customers are named rightly: at most so many, where that is proved."""
    from noren.judgement.numbers import percent

    if verdict.risk is None:
        return "–"
    return ("≤ " if verdict.risk_of == "guarantee" else "") + percent(verdict.risk)


def _label(name: str, parameters: Mapping[str, object]) -> str:
    return " ".join([name, *(f"{k}={v}" for k, v in parameters.items() if k == "k")])


def _folder_name(name: str, parameters: Mapping[str, object]) -> str:
    return _label(name, parameters).replace(" ", "-").replace("=", "")


# --- knowing an earlier demo again -----------------------------------------------------------------------------------

_SIGN = ".noren"
_SIGNED = ("T.csv", "report.html")


def _sign(folder: Path) -> None:
    """Note what the files are whose names anybody may use: an original and a report are told from yours by digests."""
    files = {name: _digest(folder / name) for name in _SIGNED}
    (folder / _SIGN).write_text(json.dumps({"folder": "demo", "files": files}, indent=1) + "\n", encoding="utf-8")


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _kind() -> FolderKind:
    """Return what a demo's folder holds: its own files, and releases."""
    from noren.data.formats.files import FolderKind
    from noren.data.release import RELEASE

    releases = [f"{_folder_name(name, parameters)}/{file}" for name, parameters in _RUNS for file in RELEASE.names]
    return FolderKind((_SIGN, *_SIGNED, *releases), _unsigned)


def _unsigned(folder: Path) -> str | None:
    """Return a file that is not the one an earlier demo wrote."""
    try:
        files = json.loads((folder / _SIGN).read_text(encoding="utf-8"))["files"]
        return next((name for name in _SIGNED if _digest(folder / name) != files[name]), None)
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return next((name for name in _SIGNED if (folder / name).exists()), _SIGN)


def _holds_demo(folder: Path) -> bool:
    """Tell whether a folder holds an earlier demo and nothing else, so that another may take its place."""
    return folder.is_dir() and any(folder.iterdir()) and _kind().foreign(folder) is None
