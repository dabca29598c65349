"""Verifiable random draws (commit–reveal) and signed receipts of files.

Row order, pseudonyms and numbers of targets must tell attackers nothing and must not be chosen by the organiser. So
the server draws one salt before anybody has registered and publishes its digest, the commitment; every draw follows
from the salt and a label; the salt is published with the results, so anyone can repeat the draws.

A receipt is what a team keeps to prove that its file was accepted, when, and where in the log that stands. It names the
file by its digest and the log's entry by place and digest, and carries a signature (Ed25519) of the server's key, whose
public half stands in the contest's first entry. So an organiser can neither deny a file nor exchange it, nor change the
log before it, and a team cannot make up a receipt.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from numpy.typing import NDArray

from noren.contest.state import Submission
from noren.errors import FileError, InputError, quoted
from noren.i18n import _
from noren.tables import Texts
from noren.work.hash_chain import LogEntry, canonical

say = Texts(__name__)
SALT_BYTES = 32
_PREFIX = b"noren-lots:"


def commitment(salt: bytes) -> str:
    """Return the commitment to a salt, which is published at the start.

    >>> commitment(bytes(32))[:16]
    '9e1af9218f6cd4d6'
    """
    return hashlib.sha256(_PREFIX + salt).hexdigest()


def matches_commitment(published: str, salt: bytes) -> bool:
    """Tell whether a salt matches the published commitment."""
    return len(salt) == SALT_BYTES and hmac.compare_digest(commitment(salt), published)


def seed(salt: bytes, label: str) -> int:
    """Return the 128-bit seed of the draws under a label."""
    return int.from_bytes(hmac.digest(salt, label.encode("utf-8"), "sha256")[:16], "big")


def permutation(salt: bytes, label: str, n: int) -> NDArray[np.int64]:
    """Return a permutation of n places that follows from salt and label alone.

    The k-th place gets what stood at ``permutation[k]``. It sorts raw words of a counter-based generator (Philox),
    whose stream NumPy promises to keep, instead of shuffling, which it does not. Two equal words among a billion rows
    have a chance of one in forty, and the sort is stable.

    >>> permutation(bytes(32), "cup/final/targets", 5).tolist()
    [2, 0, 4, 1, 3]
    """
    words = np.random.Philox(key=seed(salt, label)).random_raw(n)
    return np.argsort(words, kind="stable")


# --- receipts ---------------------------------------------------------------------------------------------------------

_FORM = "noren-receipt-1"
_LARGEST = 2**16


class BadReceiptError(InputError):
    """A receipt that the server did not write."""


@dataclass(frozen=True)
class Receipt:
    """The signed confirmation that the server accepted a file.

    Attributes
    ----------
    kind
        ``release`` or ``guess``.
    digest, bytes
        The SHA-256 and the size of the file.
    position, entry
        The place of the log's entry about it, and that entry's digest.
    signature
        Of all the others, by the server's key.
    """

    contest: str
    team: str
    submission: str
    kind: str
    time: str
    digest: str
    bytes: int
    position: int
    entry: str
    signature: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the receipt as plain data."""
        return asdict(self) | {"form": _FORM}

    def to_text(self) -> str:
        """Return the receipt as the file that a team keeps."""
        return json.dumps(self.as_dict(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


class SigningKey:
    """The key that signs receipts; servers with the same contest key have the same.

    >>> key = SigningKey(bytes(32))
    >>> receipt = key.sign(Receipt("cup", "t1", "s1", "release", "2026-04-01", "ab", 3, 7, "cd"))
    >>> verify(receipt, key.public)
    """

    def __init__(self, secret: bytes) -> None:
        self._private = Ed25519PrivateKey.from_private_bytes(secret)

    @property
    def public(self) -> str:
        """The public half, in hexadecimal digits."""
        return self._private.public_key().public_bytes_raw().hex()

    def sign(self, receipt: Receipt) -> Receipt:
        """Return the receipt with its signature."""
        return replace(receipt, signature=self._private.sign(_content(receipt)).hex())

    def receipt(self, contest: str, submission: Submission) -> Receipt:
        """Return the receipt of a submission; it is always the same."""
        names = ("team", "kind", "time", "digest", "bytes", "position", "entry")
        values = {name: getattr(submission, name) for name in names}
        return self.sign(Receipt(contest=contest, submission=submission.id, **values))


def _content(receipt: Receipt) -> bytes:
    """Return the bytes that are signed."""
    fields_ = receipt.as_dict()
    del fields_["signature"]
    return canonical(fields_)


def verify(receipt: Receipt, public_key: str) -> None:
    """Reject a receipt without a valid signature of the key."""
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
        key.verify(bytes.fromhex(receipt.signature), _content(receipt))
    except (InvalidSignature, ValueError):
        raise BadReceiptError(say("wrong_signature", submission=quoted(receipt.submission))) from None


def misfits(receipt: Receipt, contest: str, entries: Sequence[LogEntry]) -> list[str]:
    """Return the differences between a receipt and the log."""
    exists = 0 <= receipt.position < len(entries)
    if not exists or not entries[receipt.position].kind.endswith("-received"):
        return [say("no_entry", position=receipt.position)]
    entry = entries[receipt.position]
    theirs: dict[str, Any] = {
        "contest": contest,
        **{name: entry.body.get(name) for name in ("team", "submission", "digest", "bytes")},
        "kind": entry.kind.removesuffix("-received"),
        "time": entry.time,
        "entry": entry.digest,
    }
    return [
        say("misfit", field=name, ours=quoted(getattr(receipt, name)), theirs=quoted(value))
        for name, value in theirs.items()
        if getattr(receipt, name) != value
    ]


def receipt_from(data: Mapping[str, Any]) -> Receipt:
    """Return the receipt in plain data; reject fields that are missing, unknown or of another type."""
    types = {"bytes": int, "position": int}
    names = [field.name for field in fields(Receipt)]
    if data.get("form") != _FORM:
        raise BadReceiptError(say("not_a_receipt", field="form"))
    for name in names:
        value = data.get(name)
        if not isinstance(value, types.get(name, str)) or isinstance(value, bool):
            raise BadReceiptError(say("not_a_receipt", field=name))
    foreign = sorted(set(data) - {*names, "form"})
    if foreign:
        raise BadReceiptError(say("not_a_receipt", field=quoted(foreign[0])))
    return Receipt(**{name: data[name] for name in names})


def read_receipt(path: Path) -> Receipt:
    """Return the receipt in a file that a team kept."""
    try:
        data = json.loads(path.read_bytes()) if path.stat().st_size <= _LARGEST else None
    except OSError as error:
        raise FileError(_("{name} cannot be read").format(name=path.name), error.strerror or "", file=path) from None
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise FileError(say("not_a_receipt", field="JSON"), file=path)
    return receipt_from(data)
