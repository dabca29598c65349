"""Receipts as a team keeps them: one file for each, never written over."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from noren.data.formats.files import writing_file

__all__ = ["keep_receipt", "receipts_folder"]

_ODD = re.compile(r"[^A-Za-z0-9._-]+")


def receipts_folder(server: str, contest: str) -> Path:
    """Return where the receipts of a contest are kept."""
    base = os.environ.get("XDG_DATA_HOME")
    home = Path(base) if base else Path.home() / ".local" / "share"
    return home / "noren" / "receipts" / _ODD.sub("_", server) / _ODD.sub("_", contest)


def keep_receipt(server: str, contest: str, submission: str, receipt: Mapping[str, Any], out: Path | None) -> Path:
    """Write a receipt to the user's own folder and, where asked, to a file; return the last."""
    places = [receipts_folder(server, contest) / f"{_ODD.sub('_', submission)}.json", *([] if out is None else [out])]
    for place in places:
        with writing_file(place, private=True) as aside:
            aside.write_text(json.dumps(receipt, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return places[-1]
