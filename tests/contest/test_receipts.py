"""Receipts: what the server signed matches_commitment, and nothing else does."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from noren.contest.receipts import BadReceiptError, Receipt, SigningKey, misfits, read_receipt, receipt_from, verify
from noren.contest.state import Submission
from noren.errors import FileError
from noren.work.hash_chain import EntryContent, LogEntry, chained

_TIME = "2026-04-01T00:00:00.000000+00:00"
_KEY = SigningKey(bytes(range(32)))


@pytest.fixture
def log() -> list[LogEntry]:
    said = {"submission": "abc", "team": "t1", "phase": "p", "round": "final", "digest": "d" * 64, "bytes": 12}
    return chained(
        None,
        _TIME,
        [EntryContent("created", "organiser:1", {"contest": "cup"}), EntryContent("release-received", "team:t1", said)],
    )


@pytest.fixture
def receipt(log: list[LogEntry]) -> Receipt:
    body, entry = log[1].body, log[1]
    known = Submission(
        id=body["submission"],
        kind="release",
        team=body["team"],
        phase=body["phase"],
        round=body["round"],
        digest=body["digest"],
        bytes=body["bytes"],
        time=entry.time,
        position=entry.position,
        entry=entry.digest,
    )
    return _KEY.receipt("cup", known)


def test_a_receipt_holds_and_says_where_the_file_stands_in_the_log(log: list[LogEntry], receipt: Receipt) -> None:
    verify(receipt, _KEY.public)
    assert misfits(receipt, "cup", log) == []
    assert (receipt.kind, receipt.position, receipt.entry) == ("release", 1, log[1].digest)


def test_the_known_signature() -> None:
    """Ed25519 is deterministic: this key has signed this receipt so ever since (RFC 8032, key of test 1)."""
    key = SigningKey(bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"))
    assert key.public == "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    signed = key.sign(Receipt("cup", "t1", "s1", "release", _TIME, "ab", 3, 7, "cd"))
    assert signed.signature[:32] == "99b4f92b1c848f0bd8d9981c74786caf"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("contest", "other"),
        ("team", "t2"),
        ("submission", "abd"),
        ("kind", "guess"),
        ("time", _TIME.replace("04", "05")),
        ("digest", "e" * 64),
        ("bytes", 13),
        ("entry", "0" * 64),
    ],
)
def test_whatever_is_changed_shows(log: list[LogEntry], receipt: Receipt, field: str, value: Any) -> None:
    changed = replace(receipt, **{field: value})
    with pytest.raises(BadReceiptError, match=r"the signature of the receipt of .* is not valid"):
        verify(changed, _KEY.public)
    said = misfits(changed, "cup", log)
    assert len(said) == 1
    assert said[0].startswith(f"{field} is {value!r}" if isinstance(value, str) else f"{field} is '{value}'")


def test_a_place_that_is_not_in_the_log(log: list[LogEntry], receipt: Receipt) -> None:
    for position in (9, 0):
        message = f"entry {position} of the log is not about a file, or does not exist"
        assert misfits(replace(receipt, position=position), "cup", log) == [message]


def test_another_key_has_not_signed_it(receipt: Receipt) -> None:
    with pytest.raises(BadReceiptError):
        verify(receipt, SigningKey(bytes(32)).public)
    with pytest.raises(BadReceiptError):
        verify(receipt, "no key")
    with pytest.raises(BadReceiptError):
        verify(replace(receipt, signature="00" * 64), _KEY.public)


def test_a_team_keeps_it_as_a_file(tmp_path: Path, receipt: Receipt) -> None:
    file = tmp_path / "receipt.json"
    file.write_text(receipt.to_text(), encoding="utf-8")
    assert read_receipt(file) == receipt


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"form": "x"}, "this is not a receipt \\(form is missing or wrong"),
        ({"bytes": "12"}, "bytes is missing or wrong"),
        ({"bytes": True}, "bytes is missing or wrong"),
        ({"team": None}, "team is missing or wrong"),
        ({"extra": 1}, "'extra' is missing or wrong"),
    ],
)
def test_what_is_no_receipt(receipt: Receipt, change: dict[str, Any], said: str) -> None:
    with pytest.raises(BadReceiptError, match=said):
        receipt_from(receipt.as_dict() | change)


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff\xfe", b"[" * 60_000, b" " * 70_000])
def test_files_that_are_no_receipt(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "receipt.json"
    file.write_bytes(content)
    with pytest.raises(FileError, match="this is not a receipt"):
        read_receipt(file)


def test_the_text_is_json_with_the_signature(receipt: Receipt) -> None:
    assert json.loads(receipt.to_text())["signature"] == receipt.signature
