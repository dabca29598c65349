"""Getting an archive from the network: resumed where it broke off, bounded in size, never trusted.

This is the one place in Noren that opens a connection, and only :func:`noren.data.catalog.fetch` calls it. What comes
down grows in a ``.part`` file that a later call continues; an archive is unpacked by the names we expect, to paths we
choose, so nothing in it decides where a byte is written.
"""

from __future__ import annotations

import http.client
import re
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from noren.data.formats.files import writing_file
from noren.errors import FileError, OutputError, ParameterError
from noren.i18n import _
from noren.progress import Progress, silent
from noren.version import __version__

LARGEST_ARCHIVE = 256 << 20
"""Bytes a download may have; the largest archive we know has 23 million."""
LARGEST_MEMBER = 256 << 20
"""Bytes a member of an archive may unpack to."""
TIMEOUT = 30.0
"""Seconds without a byte after which the network counts as gone."""
_CHUNK = 1 << 16


def partial(target: Path) -> Path:
    """Return where an unfinished download of ``target`` is kept."""
    return target.with_name(target.name + ".part")


def download(
    address: str,
    target: Path,
    *,
    what: str,
    cure: str,
    progress: Progress = silent,
    timeout: float = TIMEOUT,
    largest: int = LARGEST_ARCHIVE,
) -> Path:
    """Bring ``address`` to ``target``, continuing where an earlier try broke off.

    Parameters
    ----------
    address
        Where it is. An ``https`` address stays ``https`` through every redirection.
    target
        The complete file; it appears under this name only when every byte announced has come.
    what, cure
        What it is and what to do instead, for the error's line.
    timeout
        Seconds without a byte before giving up.
    largest
        Bytes to accept.

    Raises
    ------
    FileError
        When the network or the server does not give it; what has come stays for the next call.
    """
    if urlsplit(address).scheme not in ("http", "https"):
        raise ParameterError(
            _("{address} is not a web address").format(address=address), _("use one that starts with https://")
        )
    part = partial(target)
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        total = _receive(address, part, progress, timeout, largest)
        have = part.stat().st_size
        if total is not None and have < total:
            raise _NetworkError(
                _("the connection broke after {have:,} of {total:,} bytes").format(have=have, total=total)
            )
        if have > largest:
            part.unlink()
            raise _NetworkError(_("it has more than {largest:,} bytes").format(largest=largest))
        part.replace(target)
    except _NetworkError as error:
        raise FileError(
            _("{what} cannot be downloaded ({reason})").format(what=what, reason=error), cure, file=address
        ) from None
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise OutputError(_("{path} was not written: {why}").format(path=part, why=why)) from None
    return target


class _NetworkError(Exception):
    """The network's or the server's fault, in a few words; not the disk's."""


def _receive(address: str, part: Path, progress: Progress, timeout: float, largest: int) -> int | None:
    """Append what is missing to ``part``; return how many bytes the whole has, where the server says."""
    have = part.stat().st_size if part.exists() else 0
    try:
        response = _ask(address, have, timeout)
    except urllib.error.HTTPError as error:
        with error:
            if error.code != http.client.REQUESTED_RANGE_NOT_SATISFIABLE or not have:
                raise _NetworkError(_("the server answers {code}").format(code=error.code)) from None
            whole = re.search(r"/(\d+)$", error.headers.get("Content-Range", ""))
            if whole is not None and int(whole[1]) == have:
                return have  # every byte had come; only the renaming was missed
        part.unlink()
        return _receive(address, part, progress, timeout, largest)
    except (OSError, http.client.HTTPException) as error:
        raise _NetworkError(_network_reason(error)) from None
    with response:
        continued = response.status == http.client.PARTIAL_CONTENT
        first = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
        if continued and (first is None or int(first[1]) != have):
            if not have:
                raise _NetworkError(_("the server answers with a piece nobody asked for"))
            part.unlink()  # another piece than the one asked for: start over, without asking for a piece
            return _receive(address, part, progress, timeout, largest)
        if not continued:
            have = 0  # a server that knows no ranges sends everything again
        length = response.headers.get("Content-Length", "")
        total = have + int(length) if length.isdigit() else None
        with part.open("ab" if continued else "wb") as file:
            while have <= largest:
                try:
                    chunk = response.read(_CHUNK)
                except (OSError, http.client.HTTPException) as error:
                    raise _NetworkError(_network_reason(error)) from None
                if not chunk:
                    break
                file.write(chunk)
                have += len(chunk)
                progress(have / total if total else 0.0, _("{have:.1f} MB").format(have=have / 1e6))
    # more than we take is told apart from less than was announced by the size of the file
    return min(total, largest) if total is not None else None


class _StaySafe(urllib.request.HTTPRedirectHandler):
    """Follow redirections, but never from https to something weaker."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        allowed = ("https",) if req.type == "https" else ("http", "https")
        if urlsplit(newurl).scheme not in allowed:
            raise urllib.error.URLError(_("it redirects to an unsafe address"))
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _ask(address: str, start: int, timeout: float) -> Any:
    headers = {"User-Agent": f"noren/{__version__}", "Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
    request = urllib.request.Request(address, headers=headers)  # noqa: S310 - the caller checked the scheme
    return urllib.request.build_opener(_StaySafe()).open(request, timeout=timeout)


def _network_reason(error: BaseException) -> str:
    """Say in a few words what the network said."""
    inner = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(inner, TimeoutError):
        return _("no answer in time")
    said = getattr(inner, "strerror", None) or str(inner) or type(inner).__name__
    return str(said).splitlines()[0][:160]


def unpack(archive: Path, wanted: Mapping[str, Path], *, largest: int = LARGEST_MEMBER) -> None:
    """Unpack the members named in ``wanted``, each to its path; any other member is left alone.

    A member must be called exactly so, at the top of the archive, and must hold what its checksum says. A damaged
    archive, a missing member or one of more than ``largest`` bytes is a :class:`~noren.errors.FileError`.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            for name, target in wanted.items():
                member = opened.getinfo(name)
                if member.file_size > largest:
                    raise _damaged(
                        archive, _("{name} unpacks to {size:,} bytes").format(name=name, size=member.file_size)
                    )
                with opened.open(member) as source, writing_file(target) as aside, aside.open("wb") as file:
                    left = member.file_size
                    while chunk := source.read(_CHUNK):
                        left -= len(chunk)
                        file.write(chunk)
                    if left:
                        raise _damaged(archive, _("{name} is cut short").format(name=name))
    except KeyError:
        raise _damaged(archive, _("it holds no {name}").format(name=name)) from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise _damaged(archive, (str(error).splitlines() or [type(error).__name__])[0][:160]) from None


def _damaged(archive: Path, reason: str) -> FileError:
    return FileError(_("the archive is damaged ({reason})").format(reason=reason), _("get it again"), file=archive)
