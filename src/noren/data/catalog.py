"""Catalogue of public data sets: where they are on this machine, how to get and read them.

A data set is looked for in ``$NOREN_DATA``, in ``shared/data`` beside a checkout, and in the user's cache; nothing is
looked for on the network. The two UCI sets can be had with :func:`fetch`, which downloads their official archive and
keeps it only if it holds exactly the rows we know. No file of theirs is part of Noren. What is known of each (files,
size, licence, digests) lies in ``catalog.toml``: a new data set is one more entry there.

:func:`download` is the one place in Noren that opens a connection, and only :func:`fetch` calls it. A download is
resumed where it stopped, bounded in size, never trusted. The received bytes grow in a ``.part`` file that a later call
continues; an archive is unpacked by the names we expect, to paths we choose, so nothing in it decides where a byte is
written.

>>> [dataset.name for dataset in KNOWN][:2]
['online-retail', 'adult']
"""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import tempfile
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import IO, TypeVar
from urllib.parse import urlsplit

import polars as pl
from pydantic import TypeAdapter

from noren.data.formats.files import writing_file
from noren.data.formats.source import read_all_bytes
from noren.data.frames import Records
from noren.data.reading import ReadResult, read, write
from noren.data.schema import Kind, ValueType
from noren.errors import FileError, InputError, OutputError, ParameterError, UnknownNameError, suggestion
from noren.i18n import _
from noren.progress import Progress, part_of, silent
from noren.tables import Texts, table_of
from noren.version import __version__

say = Texts(__name__)
Entry = TypeVar("Entry")


@dataclass(frozen=True)
class DataPart:
    """One file of a data set.

    ``names`` are the names it may have, the usual one first. ``digest`` is the SHA-256 of its bytes or, ``by_rows``,
    of its rows, for a part that comes in several formats. ``follows_schema`` says whether its columns are those of
    the data set's schema.
    """

    role: str
    names: tuple[str, ...]
    rows: int | None = None
    what: str = ""
    digest: str | None = None
    by_rows: bool = False
    follows_schema: bool = True


@dataclass(frozen=True)
class Dataset:
    """Description of a data set, wherever its files are. The first part is its main table.

    ``archive`` is its place under the official archive's address and ``members`` the files in it, for a data set that
    can be fetched.
    """

    name: str
    title: str
    schema: str
    kind: Kind
    parts: tuple[DataPart, ...]
    licence: str
    citation: str
    homepage: str
    archive: str | None = None
    members: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """Rows of the first part."""
        return self.parts[0].rows or 0

    def part(self, role: str) -> DataPart:
        """Return the part with ``role``.

        >>> KNOWN[1].part("test").names
        ('adult.test',)
        """
        return _by_name(f"part of {self.name}", role, {part.role: part for part in self.parts})


def _by_name(setting: str, name: str, entries: Mapping[str, Entry]) -> Entry:
    if name in entries:
        return entries[name]
    message = _("there is no {setting} {value!r}{hint}; use one of {names}")
    about = {"value": name[:200], "hint": suggestion(name, entries), "names": ", ".join(entries)}
    raise UnknownNameError(message.format(setting=setting, **about))


KNOWN = tuple(TypeAdapter(Dataset).validate_python(about) for about in table_of(__name__)["dataset"])
"""Every data set the catalog knows."""
ARCHIVE = "https://archive.ics.uci.edu/static/public"
"""Where the UCI Machine Learning Repository keeps its archives."""
LARGEST_ARCHIVE = 256 << 20
"""Bytes a download may have; the largest archive we know has 23 million."""
LARGEST_MEMBER = 256 << 20
"""Bytes a member of an archive may unpack to."""
TIMEOUT = 30.0
"""Seconds without a byte after which the network counts as gone."""
_CHUNK = 1 << 16


@dataclass(frozen=True)
class Located:
    """A data set on this machine: the folder it was found in, and the parts that are there, by role."""

    dataset: Dataset
    folder: Path
    paths: Mapping[str, Path]

    def path(self, role: str | None = None) -> Path:
        """Return the file of the part with ``role``; of the first part where none is named."""
        part = self.dataset.part(role) if role is not None else self.dataset.parts[0]
        if part.role not in self.paths:
            about = {"part": part.role, "dataset": self.dataset.name, "name": self.path().name}
            raise FileError(say("missing_part", **about), file=self.folder / part.names[0])
        return self.paths[part.role]


# --- knowing and finding ---------------------------------------------------------------------------------------------


def describe(name: str) -> Dataset:
    """Return what is known of the data set ``name``, wherever it is.

    >>> describe("adult").rows
    32561
    """
    return _by_name("dataset", name, {dataset.name: dataset for dataset in KNOWN})


def cache_folder() -> Path:
    """Return the user's cache: ``$XDG_CACHE_HOME/noren``, else ``~/.cache/noren``."""
    cache_home = os.environ.get("XDG_CACHE_HOME", "")
    if Path(cache_home).is_absolute():  # the XDG specification asks to ignore a relative path here
        return Path(cache_home) / "noren"
    try:
        return Path.home() / ".cache" / "noren"
    except RuntimeError:
        raise OutputError(_("there is no home folder to store data in; set XDG_CACHE_HOME to a folder")) from None


def search_folders() -> tuple[Path, ...]:
    """Return the folders to look in, in order: ``$NOREN_DATA``, ``shared/data`` beside a checkout, the cache."""
    searched: list[Path] = []
    if data_folder := os.environ.get("NOREN_DATA"):
        searched.append(Path(data_folder))
    # what looks like the root of a checkout, upwards from here and from Noren's own source
    starts = [Path(__file__).resolve().parent]
    with contextlib.suppress(FileNotFoundError):  # the folder we were started in may be gone
        starts.insert(0, Path.cwd())
    folders = (folder for start in starts for folder in (start, *start.parents))
    roots = (root for root in folders if _is_there(root / "pyproject.toml") or _is_there(root / ".git"))
    searched += (root.parent / "shared" / "data" for root in roots)
    with contextlib.suppress(OutputError):  # without a home there is no cache; the other folders remain
        searched.append(cache_folder())
    return tuple(dict.fromkeys(searched))


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False  # in a folder we may not enter


def find(name: str) -> Located:
    """Return where the data set ``name`` is on this machine; never touches the network.

    Its first part must be there; the others are listed where they are beside it. A :class:`FileError` says what to do
    when it is in none of the :func:`search_folders`.
    """
    dataset = describe(name)
    folders = search_folders()
    for folder in folders:
        paths = _parts_in(folder, dataset)
        if dataset.parts[0].role in paths:
            return Located(dataset, folder, paths)
    raise FileError(say("not_here", name=name, folders=", ".join(map(str, folders))), _how_to_get(dataset))


def _parts_in(folder: Path, dataset: Dataset) -> dict[str, Path]:
    """Return the files of a data set that ``folder`` holds, by role."""
    return {
        part.role: folder / name
        for part in dataset.parts
        for name in reversed(part.names)  # of two forms of one part, the usual one is kept
        if _is_there(folder / name)
    }


def _how_to_get(dataset: Dataset, archive: str = ARCHIVE) -> str:
    if dataset.archive is None:
        remedy = _("put {file} ({homepage}) into a folder and set NOREN_DATA to that folder")
        return remedy.format(file=dataset.parts[0].names[0], homepage=dataset.homepage)
    remedy = _("run noren datasets fetch {name}, or unpack {address} into a folder and set NOREN_DATA to that folder")
    return remedy.format(name=dataset.name, address=f"{archive.rstrip('/')}/{dataset.archive}")


def open_dataset(name: str, part: str | None = None) -> ReadResult:
    """Read a data set by its own schema, with its customers' master where it has one.

    ``part`` is another part than the first: ``test`` of Adult, ``T25`` to ``T100`` of PWS Cup 2017.
    """
    located = find(name)
    dataset, path = located.dataset, located.path(part)
    if part is not None and not dataset.part(part).follows_schema:
        raise FileError(say("other_columns", part=part, schema=dataset.schema), file=path)
    return read(path, dataset.schema, master=located.paths.get("M"))


# --- fetching and verifying ------------------------------------------------------------------------------------------


def fetch(name: str, progress: Progress = silent, *, archive: str = ARCHIVE, timeout: float = TIMEOUT) -> Located:
    """Download a data set into the user's cache from its official archive, and return where it is.

    A download that broke off is continued. What came is unpacked and compared with what we know of the data set; on a
    difference everything is removed again. Online Retail, a workbook in the archive, is kept as Parquet.

    ``archive`` is where the archives are, or a mirror; after ``timeout`` seconds without a byte it gives up. A
    :class:`FileError` says what could not be downloaded, or is not what we know.
    """
    dataset = describe(name)
    if dataset.archive is None:
        raise FileError(_("the data set {name} cannot be downloaded").format(name=name), _how_to_get(dataset))
    folder = cache_folder()
    address = f"{archive.rstrip('/')}/{dataset.archive}"
    packed = folder / f"{name}.zip"
    remedy = _how_to_get(dataset, archive)
    if not packed.exists():  # it is where an earlier call was stopped between its download and its end
        download(address, packed, remedy=remedy, progress=part_of(progress, 0.0, 0.9), timeout=timeout)
    progress(0.9, _("checking"))
    try:
        with tempfile.TemporaryDirectory(prefix=f".{name}.", dir=folder) as aside:
            unpack(packed, {member: Path(aside) / member for member in dataset.members})
            unpacked = Located(dataset, Path(aside), _parts_in(Path(aside), dataset))
            verify(unpacked)  # all of it, before anything is kept
            for role, path in unpacked.paths.items():
                target = folder / dataset.part(role).names[0]
                if path.suffix == target.suffix:
                    path.replace(target)
                else:
                    write(_to_the_minute(read(path, dataset.schema).data), target)
    except InputError as error:
        packed.unlink()
        message = _("the download failed ({reason})").format(reason=error.problem.rule)
        raise FileError(message, remedy, file=address) from None
    packed.unlink()
    progress(1.0, _("done"))
    return Located(dataset, folder, _parts_in(folder, dataset))


def verify(located: Located) -> None:
    """Compare every part that is there with what we know of it; a difference is a ``FileError``."""
    dataset = located.dataset
    for role, path in located.paths.items():
        part = dataset.part(role)
        if part.digest is None:
            continue
        by_rows = part.by_rows
        actual = rows_digest(read(path, dataset.schema).data) if by_rows else sha256(read_all_bytes(path)).hexdigest()
        if actual != part.digest:
            about = {"name": path.name, "dataset": dataset.name, "actual": actual[:12]}
            raise FileError(say("other_content", **about), file=path)


def rows_digest(data: Records) -> str:
    """Return the SHA-256 of the rows, whatever kind of file they came from.

    Texts are taken without the spaces around them and moments to the nearest minute, since a workbook keeps a moment
    as a fraction of a day; the rest is :meth:`~noren.data.frames.Records.digest`.
    """
    stripped = pl.col(c.name for c in data.schema.columns if c.type == ValueType.TEXT).str.strip_chars()
    plain = data.frame.with_columns(pl.when(stripped != "").then(stripped).name.keep())
    return _to_the_minute(replace(data, frame=plain)).digest()


def _to_the_minute(data: Records) -> Records:
    moments = pl.col(c.name for c in data.schema.columns if c.type == ValueType.DATETIME)
    return replace(data, frame=data.frame.with_columns((moments + pl.duration(seconds=30)).dt.truncate("1m")))


# --- from the network ------------------------------------------------------------------------------------------------


def download(
    address: str,
    target: Path,
    *,
    remedy: str,
    progress: Progress = silent,
    timeout: float = TIMEOUT,
    largest: int = LARGEST_ARCHIVE,
) -> Path:
    """Download ``address`` to ``target``, resuming an interrupted download.

    An ``https`` address stays ``https`` through every redirection. The file appears under its name only when every byte
    announced has come, at most ``largest``; it gives up after ``timeout`` seconds without one. Where the network or the
    server does not give it, a :class:`FileError` names the ``remedy``, and what has come stays for the next call.
    """
    if urlsplit(address).scheme not in ("http", "https"):
        raise ParameterError(say("no_web_address", address=address))
    part = target.with_name(target.name + ".part")
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        total = _receive(address, part, progress, timeout, largest)
        have = part.stat().st_size
        if total is not None and have < total:
            raise _NetworkError(say("connection_ended", have=have, total=total))
        if have > largest:
            part.unlink()
            raise _NetworkError(say("too_large", name=target.name, largest=largest))
        part.replace(target)
    except _NetworkError as error:
        raise FileError(_("the download failed ({reason})").format(reason=error), remedy, file=address) from None
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise OutputError(_("{path} was not written: {why}").format(path=part, why=why)) from None
    return target


class _NetworkError(Exception):
    """A failure of the network or the server, not of the disk; its message is a few words."""


def _receive(address: str, part: Path, progress: Progress, timeout: float, largest: int) -> int | None:
    """Append what is missing to ``part``; return how many bytes the whole has, where the server says."""
    have = part.stat().st_size if part.exists() else 0
    headers = {"User-Agent": f"noren/{__version__}", "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    try:
        request = urllib.request.Request(address, headers=headers)  # noqa: S310 - the caller checked the scheme
        response = urllib.request.build_opener(_HttpsRedirects()).open(request, timeout=timeout)
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
                status = f"{response.status}, Content-Range: {response.headers.get('Content-Range', '')[:60]}"
                raise _NetworkError(_("the server answers {code}").format(code=status))
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
                progress(have / total if total else 0.0, f"{have / 1e6:.1f} MB")
    # more than we take is told apart from less than was announced by the size of the file
    return min(total, largest) if total is not None else None


class _HttpsRedirects(urllib.request.HTTPRedirectHandler):
    """Follow redirects, but never from https to http."""

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


def _network_reason(error: BaseException) -> str:
    """Return the reason of a network error in a few words."""
    inner = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(inner, TimeoutError):
        return _("no answer in time")
    reason = getattr(inner, "strerror", None) or str(inner) or type(inner).__name__
    return str(reason).splitlines()[0][:160]


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
                    raise _damaged(archive, say("too_large", name=name, largest=largest))
                with opened.open(member) as source, writing_file(target) as aside, aside.open("wb") as file:
                    left = member.file_size
                    while chunk := source.read(_CHUNK):
                        left -= len(chunk)
                        file.write(chunk)
                    if left:
                        raise _damaged(archive, _("{name} is missing or incomplete").format(name=name))
    except KeyError:
        raise _damaged(archive, _("{name} is missing or incomplete").format(name=name)) from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise _damaged(archive, (str(error).splitlines() or [type(error).__name__])[0][:160]) from None


def _damaged(archive: Path, reason: str) -> FileError:
    return FileError(say("damaged_archive", reason=reason), file=archive)
