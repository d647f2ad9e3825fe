"""The journal: the append-only record of a contest, one JSON value a line, from which everything else is computed.

Every line ends with `"crc"`: the CRC-32 of all lines up to it (its own without the crc), so that a changed, lost or
moved line is found. Lines are written whole and synced to disk before their rounds count or are shown; those that
came in while the disk was busy with the last sync share the next one. What a kill can leave behind is one last line
without its line end; it is dropped when the contest goes on. Anything else that is wrong is damage: it is reported with
the record's number and never cut.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from bjsim.errors import InputError, naming

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None  # type: ignore[assignment]

NAME = "journal.jsonl"
FORMAT = 3
_TAIL = ',"crc":"'
_ENCODER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)  # made once: that takes as long as a record


class JournalError(InputError):
    """A journal that is missing, in use, damaged, or of another version."""


def line_of(record: dict[str, Any], crc: int) -> tuple[bytes, int]:
    """The line of a record, and the crc of the journal up to and with it."""
    body = _ENCODER.encode(record)[:-1].encode()
    crc = zlib.crc32(body, crc)
    return body + f'{_TAIL}{crc:08x}"}}\n'.encode(), crc


def read_lines(path: Path) -> Iterator[tuple[dict[str, Any], int, int]]:
    """The whole records of a journal: (record, crc up to it, offset of its end). A torn last line is left out.

    Raises: JournalError naming the number of the first damaged record (the header is record 0).
    """
    crc = end = 0
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file):
                if not line.endswith(b"\n"):
                    return
                body, mark, tail = line.rpartition(_TAIL.encode())
                crc = zlib.crc32(body, crc)
                if not mark or tail != f'{crc:08x}"}}\n'.encode():
                    raise JournalError(
                        f"{path} is damaged: record {number} (line {number + 1}) is not what was written; "
                        "nothing was changed"
                    )
                end += len(line)
                yield _record_in(body + b"}", path, number), crc, end
    except OSError as error:
        raise JournalError(f"cannot read the journal {path}: {error.strerror}") from None


def _record_in(text: bytes, path: Path, number: int) -> dict[str, Any]:
    """The record in a line whose crc is right, which says nothing of who wrote it. Raises: JournalError."""
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict) or not isinstance(record.get("record"), str):
        raise JournalError(f"{path}: record {number} is none that a contest writes")
    return record


@contextmanager
def sensible(folder: Path) -> Iterator[None]:
    """Raises: JournalError in place of whatever comes of a journal that is whole, but that no contest wrote."""
    try:
        yield
    except (InputError, UnicodeEncodeError):  # the latter is the output's trouble
        raise
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise JournalError(f"the journal in {folder} makes no sense: {type(error).__name__}: {error}") from None


def read(folder: Path) -> Iterator[dict[str, Any]]:
    """The records of the contest in `folder`, the header first. Raises: JournalError."""
    path = folder / NAME
    if not path.exists():
        raise JournalError(f"no contest in {folder}: it has no {NAME}")
    for number, (record, _, _) in enumerate(read_lines(path)):
        if number == 0:
            check_header(path, record)
        yield record


def check_header(path: Path, header: dict[str, Any]) -> None:
    """Raises: JournalError if this is no header of a journal that this version reads."""
    if header.get("record") != "header" or header.get("format") != FORMAT:
        raise JournalError(f"{path} is of format {header.get('format')}; this version reads format {FORMAT}")


class Journal:
    """A journal open for writing; only one process may have it open."""

    def __init__(self, file: IO[bytes], crc: int) -> None:
        self._file = file
        self._crc = crc

    @staticmethod
    def create(folder: Path, header: dict[str, Any]) -> Journal:
        """Begin the journal of a new contest; it appears in the folder together with its whole header."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path, fresh = folder / NAME, folder / (NAME + ".new")
            if path.exists():
                raise JournalError(
                    f"{folder} holds a contest already; go on with --resume {folder}, or give another --out"
                )
            file = fresh.open("ab")  # not emptied before it is locked: another process may be writing it
            _lock(file, folder)
            if path.exists() or not _is(file, fresh):  # another process was quicker
                raise JournalError(f"the contest in {folder} is being played by another process")
            file.truncate(0)
            journal = Journal(file, 0)
            journal.append({"record": "header", "format": FORMAT, **header})
            journal.sync()
            journal._rename(fresh, path)
            _sync_folder(folder)
        except OSError as error:
            raise JournalError(f"cannot write to {folder}: {error.strerror}") from None
        return journal

    @staticmethod
    def reopen(folder: Path) -> tuple[Journal, Iterator[dict[str, Any]]]:
        """Open the journal of a stopped contest. Returns: (journal, its records, the header first).

        All records must be taken before the journal is written to; a torn last line is dropped after the last of them.
        Raises: JournalError if it is in use, and while its records are taken if it is damaged; nothing is changed then.
        """
        path = folder / NAME
        if not path.exists():
            raise JournalError(f"no contest in {folder}: it has no {NAME}")
        file = path.open("r+b")
        _lock(file, folder)
        journal = Journal(file, 0)
        return journal, journal._records(path)

    def _records(self, path: Path) -> Iterator[dict[str, Any]]:
        end = 0
        for record, self._crc, after in read_lines(path):
            if not end:
                check_header(path, record)
            end = after
            yield record
        if not end:
            raise JournalError(f"{path} is empty")
        self._file.truncate(end)
        self._file.seek(end)

    def _rename(self, old: Path, new: Path) -> None:
        if fcntl:
            old.rename(new)
            return
        self._file.close()  # Windows does not rename an open file
        old.rename(new)
        self._file = new.open("ab")

    def append(self, record: dict[str, Any]) -> None:
        """Write a record; `sync` has it on disk."""
        line, self._crc = line_of(record, self._crc)
        with naming(self._file.name):
            self._file.write(line)

    def sync(self) -> None:
        """Have all that was written on disk."""
        with naming(self._file.name):
            self._file.flush()
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file, and let others have it."""
        with naming(self._file.name):
            self._file.close()


def _is(file: IO[bytes], path: Path) -> bool:
    """Whether the open file is the one at the path still."""
    return path.exists() and os.path.samestat(os.fstat(file.fileno()), path.stat())


def _lock(file: IO[bytes], folder: Path) -> None:
    if not fcntl:
        return  # nobody keeps two processes from one contest there
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise JournalError(f"the contest in {folder} is being played by another process") from None


def _sync_folder(folder: Path) -> None:
    if not hasattr(os, "O_DIRECTORY"):
        return  # Windows does not open folders
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
