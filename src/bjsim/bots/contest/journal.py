"""The journal: the append-only record of a contest, one JSON value per line. All results are computed from it.

Every line ends with `"crc"`, the CRC-32 of all lines up to and including it (without its own crc), so that a changed,
lost or moved line is detected. A match is written, read and lost as a whole: a line for each of its rounds, and one for
the match, are synced to disk before it is counted or shown. A killed process can leave an incomplete last match, which
is dropped when the contest is resumed. Any other error is reported as damage with the number of the record, and the
file is not changed.
"""

import hashlib
import json
import os
import zlib
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

from bjsim.errors import InputError, file_errors
from bjsim.files import append_line, open_file, open_to_change, read_json_lines
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
# Reused, because creating one takes as long as encoding a record.
_ENCODER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)


class JournalError(InputError):
    """A journal is missing, in use, damaged, or of another format."""


def encode_record(record: dict[str, Any], crc: int) -> tuple[bytes, int]:
    """The lines of a record, and the CRC of the journal up to and including them. crc: of the lines before.

    A match has a line for each of its `rounds`, and then its own.
    """
    lines = b""
    for line in (*record.get("rounds", ()), {key: value for key, value in record.items() if key != "rounds"}):
        body = _ENCODER.encode(line)[:-1].encode()
        crc = zlib.crc32(body, crc)
        lines += body + f'{_TAIL}{crc:08x}"}}\n'.encode()
    return lines, crc


def commitment(folder: Path) -> str:
    """The SHA-256 of the seed, the settings and the players of a contest, without the paths that closing it shortens.

    Who publishes it before the first match cannot choose among seeds afterwards.
    """
    header = next(read(folder))
    settings = {key: value for key, value in header["contest"].items() if key not in ("house", "against")}
    others = [os.path.basename(text) for text in (header["contest"]["house"], *header["contest"]["against"])]
    players = [*header["bots"], *filter(None, [*header["against"], header["house"]])]
    bots = [[player["name"], player["sha256"], player.get("plays", {})] for player in players]
    return hashlib.sha256(_ENCODER.encode([settings, others, bots]).encode()).hexdigest()


def _read_lines(path: Path) -> Iterator[tuple[dict[str, Any], int, int]]:
    """Read a journal's complete records: (record, CRC up to and including it, offset of its end in bytes).

    A match has its rounds as `rounds`. An incomplete last line or match is ignored. A JournalError names the first
    damaged line (the header is record 0), or the format of a header that this version does not read.
    """
    crc = end = 0
    rounds: list[dict[str, Any]] = []
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
                if record["record"] == "round":
                    rounds.append(record)
                    continue
                if record["record"] == "match":
                    record["rounds"], rounds = rounds, []
                elif rounds:
                    raise JournalError(f"{path}: record {number} interrupts a match")
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


def is_whole(folder: Path) -> bool:
    """Whether the journal ends with a whole record. Readers leave out the rounds of a match that is not finished."""
    with open_file(find_journal(folder)) as file:
        (last,) = deque(file, 1)
    return last.endswith(b"\n") and not last.startswith(b'{"record":"round"')


class Journal:
    """A journal open for writing, by one process at a time."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._crc = 0  # of the lines so far

    @staticmethod
    def create(folder: Path, header: dict[str, Any]) -> "Journal":
        """Create the journal of a new contest. The file appears together with its complete header."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path, fresh = folder / NAME, folder / (NAME + ".new")
            if path.exists():
                raise JournalError(f"{folder} holds a contest already; resume it or choose another folder")
            file = open_to_change(fresh, "ab")  # truncated only once locked: another process may be writing it
            _lock(file, fresh)
            if path.exists():  # another process was faster
                raise JournalError(f"another process is playing the contest in {folder}")
            file.truncate(0)
            journal = Journal(file)
            journal.write({"record": "header", "format": FORMAT, **header})
            journal._rename(fresh, path)
            _sync_folder(folder)
        except OSError as error:
            raise JournalError(f"cannot write to {folder}: {error.strerror}") from None
        return journal

    @staticmethod
    def reopen(folder: Path) -> tuple["Journal", Iterator[dict[str, Any]]]:
        """Open the journal of a stopped contest, and return it with an iterator of its records, header first.

        All records must be read before the journal is written to; an incomplete last match is removed after the
        last record. If the journal is damaged, the iterator raises JournalError, and the file is not changed.
        """
        path = find_journal(folder)
        file = open_to_change(path, "r+b")
        _lock(file, path)
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

    def write(self, *records: dict[str, Any]) -> None:
        """Write records, durably."""
        with file_errors(self._file.name):
            for record in records:
                lines, self._crc = encode_record(record, self._crc)
                self._file.write(lines)
            self._file.flush()
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file and release its lock."""
        with file_errors(self._file.name):
            self._file.close()


def _lock(file: IO[bytes], path: Path) -> None:
    """Lock a file, which must still be the one at this path: another process may have replaced it meanwhile."""
    if not fcntl:
        return  # Windows: two processes could play the same contest
    with suppress(BlockingIOError, FileNotFoundError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(file.fileno()), path.stat()):
            return
    raise JournalError(f"another process is playing the contest in {path.parent}")


def _sync_folder(folder: Path) -> None:
    if not hasattr(os, "O_DIRECTORY"):
        return  # Windows cannot open folders
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# --- What differs from run to run: the times of moves, what bots wrote to stderr, and what they said of themselves.
# A log file next to the journal has a line for each program at each table.


LOGS = "logs.jsonl"
MOST = 1 << 20  # characters of a bot; what it writes to stderr later is not kept
MOST_OF_ALL = 1 << 27  # bytes of the file; what comes later is not kept


class BotLog(NamedTuple):
    bot: int
    match: int
    table: int
    position: int
    moves: int
    seconds: float  # that they took
    text: str  # the first 64 KiB that it wrote to stderr
    ready: dict[str, str]  # what a line bot said of itself after `ready 1`, such as its `name` and `version`


_LOG = BotLog(0, 0, 0, 0, 0, 0.0, "", {})._asdict()


class Logs:
    """The logs of the contest in a folder, with the moves and seconds of every program, by bot."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.moves, self._written = Counter[int](), Counter[int]()
        self.seconds = defaultdict[int, float](float)
        for log in read_logs(folder):
            self._count(log)

    def _count(self, log: BotLog) -> None:
        self.moves[log.bot] += log.moves
        self.seconds[log.bot] += log.seconds
        self._written[log.bot] += sum(map(len, (log.text, *log.ready, *log.ready.values())))

    def add(self, logs: Iterable[BotLog]) -> None:
        """Append logs to the file; empty ones, and those of the house, are left out."""
        lines = []
        for log in logs:
            if log.bot < 0 or not (log.moves or log.text or log.ready):
                continue
            kept = log if self._written[log.bot] < MOST else log._replace(text="", ready={})
            self._count(kept)
            lines.append(json.dumps(kept._asdict()))
        if lines:
            append_line(self.folder / LOGS, "\n".join(lines), MOST_OF_ALL)

    def ms_per_move(self, bot: int) -> float | None:
        return 1000 * self.seconds[bot] / self.moves[bot] if self.moves[bot] else None


def read_logs(folder: Path) -> Iterator[BotLog]:
    """The logs of a contest in the order of play. Lines that make no sense are skipped."""
    for values in read_json_lines(folder / LOGS):
        if values.keys() >= _LOG.keys() and is_like(values, _LOG):
            values["ready"] = {key: str(value) for key, value in values["ready"].items()}
            yield BotLog(**{name: values[name] for name in _LOG})
