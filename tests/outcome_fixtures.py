"""A small history, what became of it, and a language that shows what was not translated."""

import gettext
from collections.abc import Iterator
from typing import Any

import pytest

from noren import api, i18n
from noren.data.frames import History
from noren.judgement.outcome import Outcome, run_outcome


@pytest.fixture(scope="session")
def history() -> History:
    return api.sample(customers=30, rows=900, items=60, seed=3, schema="pwscup2018")


@pytest.fixture(scope="session")
def outcomes(history: History) -> list[Outcome]:
    """One release that breaks, and three that withstand: by one attack and the measures that the page shows."""
    judges: dict[str, Any] = {
        "attacks": ["unique-rows"],
        "measures": ["cell-error", "effective", "reid-rate"],
        "seed": 1,
    }
    return [
        run_outcome(history, "pseudonymize", **judges),
        *(run_outcome(history, "generalize-by-count", k=k, suppress_cells=True, **judges) for k in (2, 3, 6)),
    ]


class Marked(gettext.NullTranslations):
    """A catalogue that puts every message into brackets, so that a text without them was never looked up."""

    def gettext(self, message: str) -> str:
        return f"⟦{message}⟧"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return f"⟦{msgid1 if n == 1 else msgid2}⟧"


@pytest.fixture
def marked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(i18n, "_language", "ja")
    monkeypatch.setattr(i18n, "_catalogue", lambda language: Marked())


@pytest.fixture
def speak() -> Iterator[Any]:
    """Speak a language in one test; skips where its catalogue is not compiled."""

    def activate(language: str) -> None:
        try:
            i18n.activate(language)
        except FileNotFoundError:
            pytest.skip(f"the catalogue of {language} is not compiled; run make translations")

    yield activate
    i18n.activate("en")
