"""What a server does by itself: it does what is due, sends news, and stumbles over nothing for good."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import PATIENCE
from tests.contest.cups import three_teams
from tests.contest.test_webhooks import SECRET, listening

from noren.contest.app import ticking
from noren.contest.arena import POST, Arena, ScoringService


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[Arena]:
    made = Arena(tmp_path)
    made.store.create("cup", [three_teams().entries[0]], secrets={"salt": bytes(32)})
    yield made
    made.close()


def test_it_ticks_and_sends_and_goes_on_after_a_fault(
    arena: Arena, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ticks: list[int] = []
    thrice = threading.Event()

    def tick(_service: ScoringService) -> None:
        ticks.append(len(ticks))
        if len(ticks) >= 3:
            thrice.set()
        raise OSError("the database is away")

    monkeypatch.setattr(ScoringService, "tick", tick)
    monkeypatch.setattr("noren.contest.app._EVERY", 0.01)
    with listening() as listener, caplog.at_level(logging.ERROR, "noren.contest"):
        hook = arena.store.hooks.add("cup", listener.url, SECRET)
        with arena.store.changing("cup") as change:
            change.enqueue("hook", queue=POST, order={"hook": hook.id, "message": {"event": "results"}})
        with ticking(arena, private_hooks=True):
            assert thrice.wait(PATIENCE)
            assert listener.told.wait(PATIENCE)
    told = [record for record in caplog.records if "clock stumbled" in record.getMessage()]
    assert len(told) == 1  # and not with every tick
    assert len(listener.heard) == 1
