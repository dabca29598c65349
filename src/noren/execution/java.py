"""The Java that Spark runs on: found, or explained."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from noren.errors import ClusterError
from noren.i18n import _

__all__ = ["LEAST_JAVA", "java_home"]

LEAST_JAVA = 17
"""The oldest Java that Spark 4 runs on."""


def java_home() -> Path:
    """Return the folder of a Java that Spark can run on: ``JAVA_HOME``, else the one on the path."""
    named = os.environ.get("JAVA_HOME")
    program = str(Path(named) / "bin" / "java") if named else shutil.which("java")
    cure = _("install Java {version} (Debian: openjdk-17-jre-headless), or name its folder in JAVA_HOME").format(
        version=LEAST_JAVA
    )
    if program is None:
        raise ClusterError(_("Spark needs Java, and there is none"), cure)
    try:
        said = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=60, check=True).stderr
    except (OSError, subprocess.SubprocessError):
        raise ClusterError(_("the Java that JAVA_HOME names does not run"), cure, value=program) from None
    version = java_version(said)
    if version < LEAST_JAVA:
        raise ClusterError(
            _("Spark needs Java {least} or newer, and this is Java {version}").format(
                least=LEAST_JAVA, version=version
            ),
            cure,
            value=program,
        )
    return Path(program).resolve().parents[1]


def java_version(said: str) -> int:
    """Return the major version that ``java -version`` tells; 0 where it tells none.

    >>> java_version('openjdk version "17.0.15" 2025-04-15'), java_version('java version "1.8.0_402"')
    (17, 8)
    """
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    return int(found[1]) if found else 0
