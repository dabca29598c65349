"""The charts' script: Vega, Vega-Lite and vega-embed in one file, made once from the installed vl-convert.

No third-party script is part of the project, and none is fetched: vl-convert carries them.
"""

from __future__ import annotations

import gzip
import threading
from functools import cache
from importlib.metadata import version
from pathlib import Path

from noren.data.formats.files import writing_file

__all__ = ["Bundle", "bundle_address"]

_STYLE = 1
"""Grows when what is made from the same vl-convert changes."""


@cache
def _name() -> str:
    return f"vega-{version('vl-convert-python')}-{_STYLE}.js"


def bundle_address() -> str:
    """Return where pages find the script; another vl-convert has another address, so a browser may keep it for good."""
    return f"/bundle/{_name()}"


class Bundle:
    """The script of one studio, below its folder: packed once, served as it lies there.

    >>> import tempfile
    >>> bundle = Bundle(Path(tempfile.gettempdir()) / "nowhere")
    >>> bundle.path.name.startswith("vega-")
    True
    """

    def __init__(self, folder: Path) -> None:
        self.name = _name()
        self.path = folder / "bundle" / (self.name + ".gz")
        self._making = threading.Lock()

    def start(self) -> None:
        """Make the script aside, so that the first chart does not wait for it."""
        if not self.path.exists():
            threading.Thread(target=self.ready, name="noren-bundle", daemon=True).start()

    def ready(self) -> Path:
        """Return the packed script, made now if it was not; whole or not at all, and once."""
        with self._making:
            if not self.path.exists():
                self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                with writing_file(self.path) as aside:
                    aside.write_bytes(gzip.compress(_made().encode(), compresslevel=9, mtime=0))
                for other in self.path.parent.glob("vega-*.js.gz"):
                    if other != self.path:
                        other.unlink(missing_ok=True)  # of an older vl-convert
        return self.path


def _made() -> str:
    import vl_convert

    made: str = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # its stub wants a snippet, it does not
    return made
