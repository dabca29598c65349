"""Scripts that reproduce a run: commands for a shell, or Python.

A release follows from the original, the method, its parameters and the seed. The seed is secret: with it and the
original, anyone can rebuild the pseudonyms. A script reads it from the variable ``SEED`` unless it is given one.
"""

from __future__ import annotations

import json
import pprint
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import tomli_w

from noren.data.frames import Records
from noren.data.schema import PRESETS, Schema
from noren.data.statement import Statement
from noren.i18n import _
from noren.judgement.outcome import Outcome

_CHAIN: Final = "chain.toml"
_SCHEMA: Final = "schema.toml"
_GUESSES: Final = "guesses/"
_FILES: Final = ("categories", "hierarchies")
"""Parameters that name files of the steward's own."""


@dataclass(frozen=True)
class ScriptOrder:
    """The run to reproduce."""

    statement: Statement
    """The statement of the release: the method and its parameters, or the steps of a chain."""
    schema: Schema
    """The schema of the original."""
    attacks: Sequence[str] = ()
    measures: Sequence[str] = ()
    """``attacks``, ``measures``: those that ran, by name."""
    original: str = "ORIGINAL"
    out: str = "release/"
    report: str | None = None
    """``original``, ``out``, ``report``: the original's file, the release's folder, and the page about it, if any."""

    @classmethod
    def of(cls, records: Records, outcome: Outcome, **paths: Any) -> ScriptOrder:
        """Return the run behind an outcome; ``paths`` are ``original``, ``out`` and ``report``."""
        return cls(outcome.release.statement, records.schema, list(outcome.guesses), list(outcome.scores), **paths)


def needed_files(order: ScriptOrder) -> list[str]:
    """Return the files that a script needs beside the original: categories, hierarchies.

    >>> needed_files(ScriptOrder(Statement("hierarchy", {"k": 5, "hierarchies": "ladders"}), Schema.preset("adult")))
    ['ladders']
    """
    paths = [step.parameters.get(name) for step in order.statement.steps for name in _FILES]
    return sorted({str(path) for path in paths if path})


# --- a shell ---------------------------------------------------------------------------------------------------------


def commands(order: ScriptOrder, seed: str = "SEED") -> list[str]:
    """Return the commands that make the release again and judge it, one line each.

    >>> thinned = ScriptOrder(Statement("thin", {"share": 0.2}), Schema.preset("pwscup2018"), measures=["cell-error"])
    >>> print(*commands(thinned), sep="\\n")
    noren protect ORIGINAL --schema pwscup2018 --method thin --share 0.2 --seed SEED --out release/
    noren measure ORIGINAL release/ --schema pwscup2018 --measures cell-error
    """
    original, out = shlex.quote(order.original), shlex.quote(order.out)
    schema = f"--schema {order.schema.name if _is_preset(order.schema) else _SCHEMA}"
    statement = order.statement
    method = " ".join(["--method", shlex.quote(statement.method), *_flags(statement.parameters)])
    if statement.steps != [statement]:
        method = f"--chain {_CHAIN}"
    lines = [f"noren protect {original} {schema} {method} --seed {seed} --out {out}"]
    if order.attacks:
        names = shlex.quote(",".join(order.attacks))
        lines.append(f"noren attack {original} {out} {schema} --attacks {names} --out {_GUESSES}")
    if order.measures:
        names = shlex.quote(",".join(order.measures))
        guess = f" --guess {_GUESSES}" if order.attacks else ""
        lines.append(f"noren measure {original} {out} {schema}{guess} --measures {names}")
    if order.report is not None:
        lines.append(f"noren report {original} {out} {schema} --out {shlex.quote(order.report)}")
    return lines


def as_commands(order: ScriptOrder, *, seed: int | None = None) -> str:
    """Return a script for bash; it contains the seed only if that is given."""
    lines = ["#!/usr/bin/env bash", *(f"# {remark}" for remark in _remarks(order)), "set -euo pipefail", ""]
    if seed is None:
        prompt = _("set SEED to the seed of the release; it is a secret").replace("}", ")")
        quoted = "".join(f"\\{c}" if c in '\\"$`' else c for c in prompt)
        lines.append(f': "${{SEED:?{quoted}}}"')
    else:
        lines.append(f"SEED={seed}  # {_('a secret: it rebuilds the pseudonyms')}")
    texts = {} if _is_preset(order.schema) else {_SCHEMA: order.schema.to_toml()}
    texts |= {} if order.statement.steps == [order.statement] else {_CHAIN: chain_toml(order.statement)}
    for name, text in texts.items():
        end = "END"
        while end in text.splitlines():
            end += "_"
        lines += ["", f"cat > {name} <<'{end}'", text.rstrip("\n"), end]
    return "\n".join([*lines, "", " &&\n  ".join(commands(order, '"$SEED"')), ""])


def chain_toml(statement: Statement) -> str:
    """Return a chain as the file that ``noren protect --chain`` reads.

    >>> print(chain_toml(Statement.of_chain([Statement("thin", {"share": 0.2}), Statement("monthly-pseudonyms")])))
    [[step]]
    method = "thin"
    share = 0.2
    <BLANKLINE>
    [[step]]
    method = "monthly-pseudonyms"
    <BLANKLINE>
    """
    tables = [{"method": step.method} | _set_parameters(step.parameters) for step in statement.steps]
    return "\n".join("[[step]]\n" + tomli_w.dumps(table) for table in tables)


def _flags(parameters: Mapping[str, Any]) -> list[str]:
    """Return parameters as flags.

    >>> _flags({"k": 3, "suppress_cells": True, "audit": False, "starts": ["2010-12-01", "2011-01-01"], "block": None})
    ['--k 3', '--suppress-cells', '--no-audit', '--starts 2010-12-01,2011-01-01']
    """
    words = []
    for name, value in _set_parameters(parameters).items():
        flag = f"--{name.replace('_', '-')}"
        if isinstance(value, bool):
            words.append(flag if value else flag.replace("--", "--no-", 1))
            continue
        text = ",".join(str(v) for v in value) if isinstance(value, list | tuple) else str(value)
        # a value that looks like a flag must not stand by itself
        words.append(f"{flag}={shlex.quote(text)}" if text.startswith("-") else f"{flag} {shlex.quote(text)}")
    return words


# --- Python ----------------------------------------------------------------------------------------------------------


def as_python(order: ScriptOrder, *, seed: int | None = None) -> str:
    """Return a script for Python; it contains the seed only if that is given.

    >>> print(as_python(ScriptOrder(Statement("thin", {"share": 0.2}, noren="1"), Schema.preset("pwscup2018"))))
    # Noren 1
    import os
    <BLANKLINE>
    import noren
    <BLANKLINE>
    seed = int(os.environ["SEED"])  # a secret: it rebuilds the pseudonyms
    original = noren.read('ORIGINAL', 'pwscup2018')
    release = noren.protect(original, 'thin', seed=seed, **{'share': 0.2})
    release.save('release/')
    <BLANKLINE>
    """
    lines = [
        *(f"# {remark}" for remark in _remarks(order)),
        *(["import os", ""] if seed is None else []),
        "import noren",
    ]
    if order.report is not None:
        lines += ["from noren.judgement.outcome import examine", "from noren.reports.report import write_report"]
    held = 'int(os.environ["SEED"])' if seed is None else str(seed)
    lines += ["", f"seed = {held}  # {_('a secret: it rebuilds the pseudonyms')}"]
    schema = repr(order.schema.name)
    if not _is_preset(order.schema):
        lines.append(f"schema = noren.Schema.from_toml({_long(order.schema.to_toml())})")
        schema = "schema"
    lines.append(f"original = noren.read({order.original!r}, {schema})")
    statement, options = order.statement, _set_parameters(order.statement.parameters)
    if statement.steps != [statement]:
        steps = [{"method": step.method} | _set_parameters(step.parameters) for step in statement.steps]
        lines += [f"steps = {_long(steps)}", "release = noren.protect(original, steps, seed=seed)"]
    else:
        parameters = f", **{_long(options)}" if options else ""
        lines.append(f"release = noren.protect(original, {statement.method!r}, seed=seed{parameters})")
    lines.append(f"release.save({order.out!r})")
    if order.attacks or order.measures:
        lines += ["", "guesses = {}"]
    if order.attacks:
        lines += [
            f"for name in {_long(list(order.attacks))}:",
            "    guesses[name] = noren.attack(original, release, name, other_guesses=guesses)",
        ]
    if order.measures:
        lines += [
            f"for name in {_long(list(order.measures))}:",
            "    print(name, noren.measure(original, release, name, guesses=guesses).value)",
        ]
    if order.report is not None:
        lines += ["", f"write_report(original, [examine(original, release)], {order.report!r})"]
    return "\n".join([*lines, ""])


def _long(content: Any) -> str:
    return pprint.pformat(content, width=100, sort_dicts=False)


# --- both ------------------------------------------------------------------------------------------------------------


def _remarks(order: ScriptOrder) -> list[str]:
    """Return the comments at the head of a script."""
    remarks = [f"Noren {order.statement.noren}"]
    if needed := needed_files(order):
        remarks.append(_("Required files: {names}").format(names=", ".join(needed)))
    if any(step.notes.get("stopped") or step.notes.get("by_the_clock") for step in order.statement.steps):
        remarks.append(_("The search was stopped or timed, so the seed alone does not reproduce the release."))
    return [" ".join(text.split()) for text in remarks]  # names of files and versions stay on their line


def _is_preset(schema: Schema) -> bool:
    return schema.name in PRESETS and schema == Schema.preset(schema.name)


def _set_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if value not in (None, [], ())}


def listed(facts: Mapping[str, Any]) -> str:
    """Return parameters or notes as text: ``k = 5, attributes = ["age"]``."""
    return ", ".join(
        f"{name} = {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)}"
        for name, value in facts.items()
    )
