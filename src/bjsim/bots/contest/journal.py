"""The journal: the append-only record of a contest, one JSON value per line. All results are computed from it.

Every line ends with `"crc"`, the CRC-32 of all lines up to and including it (without its own crc), so that a changed,
lost or moved line is detected. Lines are synced to disk before their rounds are counted or shown; lines that arrive
during a sync share the next one. A killed process can leave an incomplete last line, which is dropped when the contest
is resumed. Any other error is reported as damage with the number of the record, and the file is not changed.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import IO, Any, NamedTuple

from bjsim.errors import InputError, file_errors
from bjsim.files import append_line, make_folder, open_file, open_to_change, read_json_lines
from bjsim.json_values import is_like

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None  # type: ignore[assignment]

NAME = "journal.jsonl"
FORMAT = 5
MAX_LINE = 1 << 26  # bytes; a record of thousands of bots that join has a few million
_FAULT = {"bot": 0, "place": 0, "move": 0, "kind": "", "detail": "", "argv": [""], "stdout": "", "stderr": ""}
_BOT = {
    **dict.fromkeys(("name", "source", "language", "sha256", "protocol", "author"), ""),
    "version": 0,
    "plays": {},
}
_RECORD = {  # an example of the types of every key
    **dict.fromkeys(("match", "table", "own", "shoe", "session", "hand", "bot", "matches"), 0),
    **{key: [0] for key in ("seats", "chips", "net", "leave")},
    **dict.fromkeys(("record", "cards", "reason"), ""),
    **{"moves": [[""]], "notes": [[""]], "faults": [_FAULT], "bots": [_BOT], "join": [_BOT], "learned": {}},
}
_MATCH = {**_RECORD, "luck": [[0.0]]}
_TAIL = ',"crc":"'
_ENCODER = json.JSONEncoder(
    separators=(",", ":"), ensure_ascii=False
)  # reused, because creating one takes as long as encoding a record


class JournalError(InputError):
    """A journal is missing, in use, damaged, or of another format."""


def encode_record(record: dict[str, Any], crc: int) -> tuple[bytes, int]:
    """The line of a record, and the CRC of the journal up to and including it. crc: of the lines before."""
    body = _ENCODER.encode(record)[:-1].encode()
    crc = zlib.crc32(body, crc)
    return body + f'{_TAIL}{crc:08x}"}}\n'.encode(), crc


def commitment(folder: Path) -> str:
    """The SHA-256 of the seed, the settings and the bots of a contest, without the paths that closing it shortens.

    Who publishes it before the first match cannot choose among seeds afterwards.
    """
    header = next(read(folder))
    settings = {key: value for key, value in header["contest"].items() if key not in ("house", "against")}
    bots = [[bot["name"], bot["sha256"]] for bot in header["bots"]]
    return hashlib.sha256(_ENCODER.encode([settings, bots]).encode()).hexdigest()


def _read_lines(path: Path) -> Iterator[tuple[dict[str, Any], int, int]]:
    """Read a journal's complete records: (record, CRC up to and including it, offset of its end in bytes).

    An incomplete last line is ignored. A JournalError names the first damaged record (the header is record 0), or the
    format of a header that this version does not read.
    """
    crc = end = 0
    try:
        with open_file(path) as file:
            for number, line in enumerate(iter(lambda: file.readline(MAX_LINE), b"")):
                if not line.endswith(b"\n"):
                    if len(line) == MAX_LINE:
                        raise JournalError(f"{path} is not a journal: line {number + 1} is longer than any record")
                    break
                body, mark, tail = line.rpartition(_TAIL.encode())
                crc = zlib.crc32(body, crc)
                if not mark or tail != f'{crc:08x}"}}\n'.encode():
                    raise JournalError(
                        f"{path} is damaged: record {number} (line {number + 1}) does not match its checksum; "
                        "nothing was changed"
                    )
                end += len(line)
                record = _record_in(body + b"}", path, number)
                if number == 0 and (record["record"] != "header" or record.get("format") != FORMAT):
                    raise JournalError(f"{path} has format {record.get('format')}; this version reads format {FORMAT}")
                yield record, crc, end
    except OSError as error:
        raise JournalError(f"cannot read the journal {path}: {error.strerror}") from None
    if not end:
        raise JournalError(f"{path} is empty")


def _record_in(text: bytes, path: Path, number: int) -> dict[str, Any]:
    """The record in a line with a correct CRC, which may still not be a contest's. Raises: JournalError."""
    try:
        record = json.loads(text)
        if b"\\u" in text:  # what is no character cannot be written again
            _ENCODER.encode(record).encode()
    except (ValueError, RecursionError):
        record = {}
    if "record" not in record or not is_like(record, _MATCH if record["record"] == "match" else _RECORD):
        raise JournalError(f"{path}: record {number} is not a contest record")
    return record  # type: ignore[no-any-return]


@contextmanager
def sensible(folder: Path) -> Iterator[None]:
    """Turn errors caused by a journal with correct CRCs but invalid records into JournalError."""
    try:
        yield
    except (InputError, UnicodeEncodeError):  # the latter concerns the output
        raise
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise JournalError(f"the journal in {folder} is not valid: {type(error).__name__}: {error}") from None


def find_journal(folder: Path) -> Path:
    """The journal of the contest in a folder. Raises: JournalError if there is none."""
    path = folder / NAME
    if not path.exists():
        raise JournalError(f"no contest in {folder}: {NAME} is missing")
    if not path.is_file():  # reading a pipe would wait for a writer
        raise JournalError(f"{path} is not a regular file, as a journal must be")
    return path


def read(folder: Path) -> Iterator[dict[str, Any]]:
    """Read the records of the contest in a folder, header first. Raises: JournalError."""
    for record, _, _ in _read_lines(find_journal(folder)):
        yield record


class Journal:
    """A journal open for writing, by one process at a time."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._crc = 0  # of the lines so far

    @staticmethod
    def create(folder: Path, header: dict[str, Any]) -> Journal:
        """Create the journal of a new contest. The file appears together with its complete header."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path, fresh = folder / NAME, folder / (NAME + ".new")
            if path.exists():
                raise JournalError(f"{folder} holds a contest already; resume it or choose another folder")
            file = open_to_change(fresh, "ab")  # truncated only once locked: another process may be writing it
            _lock(file, folder)
            if path.exists() or not _is_file_at(file, fresh):  # another process was faster
                raise JournalError(f"another process is playing the contest in {folder}")
            file.truncate(0)
            journal = Journal(file)
            journal.append({"record": "header", "format": FORMAT, **header})
            journal.sync()
            journal._rename(fresh, path)
            _sync_folder(folder)
        except OSError as error:
            raise JournalError(f"cannot write to {folder}: {error.strerror}") from None
        return journal

    @staticmethod
    def reopen(folder: Path) -> tuple[Journal, Iterator[dict[str, Any]]]:
        """Open the journal of a stopped contest, and return it with an iterator of its records, header first.

        All records must be read before the journal is written to; an incomplete last line is removed after the
        last record. If the journal is damaged, the iterator raises JournalError, and the file is not changed.
        """
        path = find_journal(folder)
        file = open_to_change(path, "r+b")
        _lock(file, folder)
        journal = Journal(file)
        return journal, journal._records(path)

    def _records(self, path: Path) -> Iterator[dict[str, Any]]:
        end = 0
        for record, self._crc, after in _read_lines(path):
            end = after
            yield record
        self._file.truncate(end)
        self._file.seek(end)

    def _rename(self, old: Path, new: Path) -> None:
        if fcntl:
            old.rename(new)
            return
        self._file.close()  # Windows cannot rename an open file
        old.rename(new)
        self._file = new.open("ab")

    def append(self, record: dict[str, Any]) -> None:
        """Write a record; `sync` makes it durable."""
        line, self._crc = encode_record(record, self._crc)
        with file_errors(self._file.name):
            self._file.write(line)

    def sync(self) -> None:
        with file_errors(self._file.name):
            self._file.flush()
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file and release its lock."""
        with file_errors(self._file.name):
            self._file.close()


def _is_file_at(file: IO[bytes], path: Path) -> bool:
    return path.exists() and os.path.samestat(os.fstat(file.fileno()), path.stat())


def _lock(file: IO[bytes], folder: Path) -> None:
    if not fcntl:
        return  # Windows: two processes could play the same contest
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise JournalError(f"another process is playing the contest in {folder}") from None


def _sync_folder(folder: Path) -> None:
    if not hasattr(os, "O_DIRECTORY"):
        return  # Windows cannot open folders
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# --- What bots wrote to stderr in each match, and said of themselves.
#
# It may differ from run to run, so it is in files next to the journal, not in it.


LOGS = "logs"  # the folder, with a file for each bot
_LOG = {"match": 0, "table": 0, "position": 0, "text": "", "ready": {}}
MOST = 1 << 20  # bytes of a file; a bot's later logs are not kept


class BotLog(NamedTuple):
    """The first 64 KiB that a bot wrote to stderr at a table, and what a line bot said after `ready 1`."""

    bot: int
    match: int
    table: int
    position: int
    text: str
    ready: dict[str, str]


def add_logs(folder: Path, logs: Iterable[BotLog]) -> None:
    """Append logs to the files in a contest's folder; empty ones, and those of the house, are left out."""
    for log in logs:
        if log.bot < 0 or not (log.text or log.ready):
            continue
        make_folder(folder / LOGS)
        append_line(_path(folder, log.bot), json.dumps(log._asdict()), MOST)


def read_logs(folder: Path, bot: int) -> list[BotLog]:
    """The logs of a bot in the order of the matches; one that was interrupted has several. Bad lines are skipped."""
    found = []
    for values in read_json_lines(_path(folder, bot)):
        if values.keys() >= _LOG.keys() and is_like(values, _LOG):
            values["ready"] = {key: str(value) for key, value in values["ready"].items()}
            found.append(BotLog._make([bot, *(values[name] for name in _LOG)]))
    return sorted(found, key=lambda log: log[1:4])


def last_ready(logs: Sequence[BotLog]) -> dict[str, str]:
    """What a line bot last said of itself after `ready 1`: its `name`, `version` and the like."""
    return next((log.ready for log in reversed(logs) if log.ready), {})


def _path(folder: Path, bot: int) -> Path:
    return folder / LOGS / f"{bot}.jsonl"


# --- Times of moves. They differ from run to run, so they are stored in a file next to the journal, not in it.


TIMINGS = "timings.jsonl"


class Timings:
    """Moves and seconds of every bot that runs in another process; more than `bots` may join."""

    def __init__(self, bots: int) -> None:
        self.moves = [0] * bots
        self.seconds = [0.0] * bots
        self._earlier = (list(self.moves), list(self.seconds))  # of earlier runs

    def join(self, bots: int) -> None:
        """Make room for more bots, up to this number of them."""
        missing = bots - len(self.moves)
        self.moves += [0] * missing
        self.seconds += [0.0] * missing

    def add(self, bot: int, seconds: float) -> None:
        if bot >= 0:
            self.moves[bot] += 1
            self.seconds[bot] += seconds

    def ms_per_move(self, bot: int) -> float | None:
        """Mean milliseconds per move; None if there are none."""
        return 1000 * self.seconds[bot] / self.moves[bot] if self.moves[bot] else None

    def save(self, folder: Path) -> None:
        """Append the moves of this run to the file in the contest's folder, if there are any."""
        moves = [total - earlier for total, earlier in zip_longest(self.moves, self._earlier[0], fillvalue=0)]
        seconds = [total - earlier for total, earlier in zip_longest(self.seconds, self._earlier[1], fillvalue=0.0)]
        if any(moves):
            append_line(folder / TIMINGS, json.dumps({"moves": moves, "seconds": seconds}))

    @staticmethod
    def load(folder: Path, bots: int) -> Timings:
        """The times of earlier runs of the contest in this folder; unreadable lines are skipped."""
        timings = Timings(bots)
        for run in read_json_lines(folder / TIMINGS):
            moves, seconds = run.get("moves"), run.get("seconds")
            if not is_like(moves, [0]) or not is_like(seconds, [0.0]):
                continue
            if len(moves) == len(seconds) <= bots:  # fewer, if bots have joined since
                timings.moves = [a + b for a, b in zip_longest(timings.moves, moves, fillvalue=0)]
                timings.seconds = [a + b for a, b in zip_longest(timings.seconds, seconds, fillvalue=0.0)]
        timings._earlier = (list(timings.moves), list(timings.seconds))
        return timings
