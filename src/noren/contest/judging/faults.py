"""Why a file was not judged although its team did nothing wrong: one short sentence each.

A log keeps the English sentence, and pages show it by ``_()`` in the language of whoever reads it. Nothing of the
machine is told; the judges' log in the data folder tells more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from noren.i18n import N_

TOO_LONG: Final = N_("judging this file took longer than it may")
TOO_LARGE: Final = N_("judging this file took more memory than it may")
GONE: Final = N_("the process that judged this file was ended from outside")
UNEXPECTED: Final = N_("the judge failed by a fault of its own")
UNREADABLE: Final = N_("a file of the contest could not be read")
DISK_FULL: Final = N_("the disk of the judge is full")
STOPPED: Final = N_("the judge was stopped while it looked at this file")
INTERRUPTED: Final = N_("the judge was stopped while it looked at this file; it is looked at again")
CLUSTER_LOST: Final = N_("the cluster was lost in the middle of judging; this file was judged on this machine")
OTHER_SCORER: Final = N_("this contest is judged by another version than this judge has")


@dataclass(frozen=True)
class Fault:
    """A fault of ours; the attempt is tried again, and given back where that does not help.

    Attributes
    ----------
    reason
        One of the sentences of this module.
    """

    reason: str

    @property
    def tries(self) -> int:
        """How often it is tried in all: what was too large or too long once will be so again."""
        return 2 if self.reason in (TOO_LONG, TOO_LARGE) else 3
