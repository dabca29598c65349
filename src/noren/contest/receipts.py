"""What anybody can check afterwards: lots that nobody can bend (commit–reveal), and signed receipts of files.

Row order, pseudonyms and numbers of targets must tell attackers nothing and must not be chosen by the organiser. So
the server draws one salt before anybody has registered and publishes its digest, the commitment; every lot follows
from the salt and a label; the salt is published with the results, and whoever has it draws the same lots again.

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
    """Return what is published of a salt before it is revealed.

    >>> commitment(bytes(32))[:16]
    '9e1af9218f6cd4d6'
    """
    return hashlib.sha256(_PREFIX + salt).hexdigest()


def holds(published: str, salt: bytes) -> bool:
    """Tell whether a revealed salt is the one whose commitment was published."""
    return len(salt) == SALT_BYTES and hmac.compare_digest(commitment(salt), published)


def seed(salt: bytes, label: str) -> int:
    """Return the 128 bits that everything drawn under a label follows from."""
    return int.from_bytes(hmac.digest(salt, label.encode("utf-8"), "sha256")[:16], "big")


def order(salt: bytes, label: str, n: int) -> NDArray[np.int64]:
    """Return a permutation of n places that follows from salt and label alone.

    The k-th place gets what stood at ``order[k]``. It sorts raw words of a counter-based generator (Philox), whose
    stream NumPy promises to keep, instead of shuffling, which it does not; two equal words among a billion rows would
    be luck of one in forty, and the sort is stable.

    >>> order(bytes(32), "cup/final/targets", 5).tolist()
    [2, 0, 4, 1, 3]
    """
    words = np.random.Philox(key=seed(salt, label)).random_raw(n)
    return np.argsort(words, kind="stable")


# --- receipts ---------------------------------------------------------------------------------------------------------

_FORM = "noren-receipt-1"
_LARGEST = 2**16


class BadReceiptError(InputError):
    """A receipt that is not what the server wrote."""


@dataclass(frozen=True)
class Receipt:
    """What the server signs when it has accepted a file.

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
    """The key that a server signs receipts with; all servers that share the key of the contests have the same.

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
        """Return the receipt for a file that was received; it is the same whenever it is made."""
        names = ("team", "kind", "time", "digest", "bytes", "position", "entry")
        said = {name: getattr(submission, name) for name in names}
        return self.sign(Receipt(contest=contest, submission=submission.id, **said))


def _content(receipt: Receipt) -> bytes:
    """Return what is signed."""
    said = receipt.as_dict()
    del said["signature"]
    return canonical(said)


def verify(receipt: Receipt, public_key: str) -> None:
    """Stop at a receipt that the key's owner did not sign as it stands."""
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
        key.verify(bytes.fromhex(receipt.signature), _content(receipt))
    except (InvalidSignature, ValueError):
        raise BadReceiptError(say("wrong_signature", submission=quoted(receipt.submission))) from None


def misfits(receipt: Receipt, contest: str, entries: Sequence[LogEntry]) -> list[str]:
    """Return what a receipt says otherwise than the log does; nothing where they agree."""
    if not 0 <= receipt.position < len(entries):
        return [say("no_entry", position=receipt.position, count=len(entries))]
    entry = entries[receipt.position]
    if not entry.kind.endswith("-received"):
        return [_("entry {position:,} of the log is about no file").format(position=receipt.position)]
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


def receipt_from(said: Mapping[str, Any]) -> Receipt:
    """Return the receipt that plain data say; stop at what is missing, foreign or of another kind."""
    types = {"bytes": int, "position": int}
    names = [one.name for one in fields(Receipt)]
    if said.get("form") != _FORM:
        raise _no_receipt(_("it does not say {form}").format(form=_FORM))
    for name in names:
        value = said.get(name)
        if not isinstance(value, types.get(name, str)) or isinstance(value, bool):
            raise _no_receipt(
                _("{field} is missing or is no {type}").format(field=name, type=types.get(name, str).__name__)
            )
    foreign = sorted(set(said) - {*names, "form"})
    if foreign:
        raise _no_receipt(_("{field} is no part of one").format(field=quoted(foreign[0])))
    return Receipt(**{name: said[name] for name in names})


def read_receipt(path: Path) -> Receipt:
    """Return the receipt in a file that a team kept."""
    try:
        if path.stat().st_size > _LARGEST:
            raise FileError(_("this is no receipt: it is too large; give the receipt's own file"), file=path)
        said = json.loads(path.read_bytes())
    except OSError as error:
        raise FileError(_("the receipt cannot be read"), error.strerror or "", file=path) from None
    except (ValueError, RecursionError):
        raise FileError(_("this is no receipt: it is no JSON; give the receipt's own file"), file=path) from None
    if not isinstance(said, dict):
        raise FileError(_("this is no receipt: it is no JSON object; give the receipt's own file"), file=path)
    return receipt_from(said)


def _no_receipt(why: str) -> BadReceiptError:
    return BadReceiptError(
        _("this is not a receipt of this server: {why}; use the receipt as it was given").format(why=why)
    )
