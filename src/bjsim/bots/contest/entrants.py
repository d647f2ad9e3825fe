"""The entrants of a contest: bots found by name or file, identified by their content, and opened to play."""

import hashlib
import logging
import os
import platform
import re
import shutil
import stat
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, fields, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bjsim import __version__
from bjsim.bots.contest.config import COMPANION, Contest, has_luck, name_and_source
from bjsim.bots.contest.luck import REFERENCE, known_plays
from bjsim.bots.protocol import PROTOCOLS, need_programs
from bjsim.bots.sandbox.folders import (
    LONGEST,
    MANIFEST,
    MAX_FOLDER,
    BotSource,
    check_name,
    is_bot_folder,
    read_bot,
    read_file,
    single_file,
)
from bjsim.bots.sandbox.languages import ENDINGS, BuildError, MissingToolchain, Program
from bjsim.bots.seats import warn_of_guessable
from bjsim.errors import InputError, printable
from bjsim.files import open_file, read_bytes
from bjsim.sim.game.actions import Player
from bjsim.sim.game.round import Bettor, Observer
from bjsim.sim.game.rules import Rules
from bjsim.strategies.charts.chart import Chart
from bjsim.strategies.formats.files import read_chart
from bjsim.strategies.formats.lines import ChartError
from bjsim.strategies.players.catalogue import UnknownPlayer, find_player, is_python, player_names, python_file

if TYPE_CHECKING:
    from bjsim.bots.player import BotPlayer


# --- Submissions from a learning platform: an archive is unpacked, and in the folder of each student the bot is found.


MOST_FILES = 20_000  # of an archive
MOST_BYTES = 1 << 30  # of an archive when it is unpacked
LONGEST_NAME = 1000  # of a file with its folders
DEEP = 20  # parts of such a name, on average: folders need space too
MOST_OF_A_STUDENT = 1000  # files
PLATFORM = re.compile(r"(_\d+)_assignsubmission_.*")  # what Moodle appends to the name of a student, with a number
logger = logging.getLogger(__name__)


def unpack(archive: Path, student: bool = False) -> Path:
    """Unpack an archive into a new folder next to it, of its name; an InputError leaves nothing behind.

    That of one `student` may hold no more than a bot, and its folder is hidden: it replaces what an earlier version of
    the archive has left.
    """
    folder = archive.with_name(f".{archive.name}.unpacked") if student else archive.with_suffix("")
    try:
        if student and folder.exists():
            shutil.rmtree(folder)
        folder.mkdir()
    except OSError as error:
        raise InputError(f"cannot unpack {archive} as {folder}: {error.strerror}; give or remove that folder") from None
    try:
        most, left = (MOST_OF_A_STUDENT, MAX_FOLDER) if student else (MOST_FILES, MOST_BYTES)
        if archive.stat().st_size > 2 * left or _entries(archive) > DEEP * most:
            raise _too_large(most, left)
        with zipfile.ZipFile(archive) as file:  # which reads the names of all entries
            _extract(file, folder, most, left)
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, Exception):  # a stranger may have made the archive
            raise InputError(f"{archive} cannot be unpacked: {error}") from None
        raise
    return folder


def _entries(archive: Path) -> int:
    """About how many entries a ZIP archive has, those of archives in it included, whatever it says of itself."""
    with open_file(archive) as file:
        return sum(part.count(b"PK\x01\x02") for part in iter(lambda: file.read(1 << 20), b""))


def _too_large(most: int, left: int) -> ValueError:
    return ValueError(f"it has more than {most:,} files or {left >> 20} MiB")


def _extract(archive: zipfile.ZipFile, folder: Path, most: int, left: int) -> None:
    """Extract regular files and folders; names and sizes are checked first, and no file is read beyond its size.

    most: how many; left: bytes that they may have.
    """
    files = [info for info in archive.infolist() if not _is_hidden(info.filename)]
    entries = sum(info.filename.count("/") + 1 for info in files)
    if len(files) > most or entries > DEEP * most or sum(info.file_size for info in files) > left:
        raise _too_large(most, left)
    for info in files:
        parts = info.filename.removesuffix("/").split("/")
        if "\\" in info.filename or ":" in parts[0] or any(part in ("", ".", "..") for part in parts):
            raise ValueError(f"the name {printable(info.filename)} in it leads out of its folder")
        if len(info.filename) > LONGEST_NAME:
            raise ValueError(f"the name {info.filename[:40]}... in it has more than {LONGEST_NAME} characters")
    for info in files:
        path, mode = folder / info.filename, info.external_attr >> 16
        if info.is_dir():  # of a student who has submitted nothing, perhaps
            path.mkdir(parents=True, exist_ok=True)
            continue
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            logger.warning("left out: %s is no regular file", printable(info.filename))
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(info) as source, path.open("xb") as target:
            shutil.copyfileobj(source, target)
        path.chmod(0o755 if mode & stat.S_IXUSR else 0o644)


def _students(folders: Iterable[str]) -> dict[str, str]:
    """The student that each of these folders is named after, with the platform's number if others have that name."""
    students = {name: (PLATFORM.sub("", name), PLATFORM.sub(r"\1", name)) for name in folders}
    times = Counter(name for name, _ in {*students.values()})
    return {folder: name if times[name] == 1 else numbered for folder, (name, numbered) in students.items()}


def _bot_of(student: Path) -> Path:
    """The one bot in the folder of a student, or in the one archive in it if there is none. Raises: InputError."""
    bots = [*_bots_of(student)]
    if not bots and len(bots := _files(student, ".zip")) == 1:
        folder = unpack(bots[0], student=True)
        if len(bots := [*_bots_of(folder)]) != 1:
            shutil.rmtree(folder)
    if len(bots) != 1:
        has = ", ".join(bot.name for bot in bots) or "none"
        raise InputError(f"the folder {student} should have one bot, and has {has}")
    return bots[0]


def _bots_of(folder: Path) -> Iterator[Path]:
    """The bots of a student: a folder with a manifest, or else the sources."""
    return iter([path.parent for path in _files(folder) if path.name == MANIFEST] or _files(folder, *ENDINGS))


def _files(folder: Path, *endings: str) -> list[Path]:
    """The files of a student that are not hidden, with one of these endings if any are given."""
    found = sorted(islice(folder.rglob("*"), MOST_OF_A_STUDENT))
    shown = [path for path in found if path.is_file() and not _is_hidden(path.relative_to(folder).as_posix())]
    return [path for path in shown if not endings or path.suffix.lower() in endings]


def _is_hidden(name: str) -> bool:
    """Whether a file, or a folder that it is in, is hidden or an addition of the system that packed it."""
    return any(part.startswith((".", "__")) and part != ".." for part in Path(name).parts)


IN_PROCESS = "in process"


@dataclass(frozen=True)
class Entrant:
    name: str  # which no other has
    source: str  # the name of a strategy, or a file
    language: str  # IN_PROCESS for a player that runs in this process
    sha256: str  # of the file, or of the chart of a named strategy, "" if there is neither
    protocol: str = "argv"
    author: str = ""

    @property
    def timed(self) -> bool:
        """Whether its moves are timed: it runs in another process."""
        return self.language != IN_PROCESS

    @property
    def by_name(self) -> bool:
        """Whether its source names a strategy or a Python object. The name of a bot's file has no colon."""
        return not self.timed and (":" in os.path.basename(self.source) or self.source in player_names())

    def to_dict(self) -> dict[str, str]:
        """The entrant as JSON values; an author only if it has one."""
        return {key: value for key, value in asdict(self).items() if key != "author" or value}

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> "Entrant":
        return Entrant(**{field.name: str(values[field.name]) for field in fields(Entrant) if field.name in values})


def gather(
    texts: Sequence[str], rules: Rules, fewest: int = 2, left_out: dict[str, str] | None = None, course: bool = False
) -> list[Entrant]:
    """Find the bots of a contest, at least `fewest`; duplicate names are numbered.

    `texts` are names of strategies, files, and folders or zip archives of files, which may be in a folder for each
    student; `NAME=` may precede a name or file. `left_out` and `course` are as for `bots_in_folder`.
    """
    entrants: list[Entrant] = []
    for text in texts:
        exists = Path(text).exists()
        name, source = ("", text) if exists else name_and_source(text)
        path = Path(source)
        is_packed = path.suffix.lower() == ".zip" and path.is_file()
        if not source:
            raise InputError(f"{text!r} names no bot; give a strategy, a file or a folder, or NAME=BOT")
        if name and (is_packed or (path.is_dir() and not is_bot_folder(path))):
            raise InputError(f"{text}: a folder of bots takes no name; its bots are named after their files")
        if is_packed:
            path = unpack(path)
        if path.is_dir() and not is_bot_folder(path):
            if not (found := bots_in_folder(path, rules, left_out, course)):
                raise InputError(f"the folder {path} contains no bots")
            entrants += found
        else:
            student = _students([path.name])[path.name] if course and is_bot_folder(path) else ""
            try:
                entrants.append(_read_file(path, rules, student)[0] if exists else identify(source, rules, name))
            except UnknownPlayer as error:
                if not re.fullmatch(r"[\w-]+", source):
                    raise
                raise InputError(f"there is no file or folder {source}, and {error}") from None
    if len(entrants) < fewest:
        raise InputError(f"a contest needs {'two bots' if fewest > 1 else 'a bot'} or more, not {len(entrants)}")
    return with_unique_names(entrants)


def bots_in_folder(
    folder: Path, rules: Rules, left_out: dict[str, str] | None = None, course: bool = False
) -> list[Entrant]:
    """The bots in a folder, by name of the file; other files are left out with a warning. Hidden files are ignored.

    A folder that is no bot, any that a learning platform has named, and in a `course` all, are of students: the one bot
    in it is named after the student. `left_out` receives those whose bot cannot be read, with the reason.
    """
    folder = folder.resolve()
    files = sorted(file for file in folder.iterdir() if not file.name.startswith("."))
    students = _students(file.name for file in files if file.is_dir())
    found = []
    for file in files:
        is_bot, student = is_bot_folder(file), students.get(file.name, "")
        if student and not is_bot and (file.is_symlink() or _is_hidden(file.name)):
            continue
        named = not is_bot or course or PLATFORM.search(file.name)
        try:
            bot = _bot_of(file) if student and not is_bot else file
            found.append(_read_file(bot, rules, student if named else "")[0])
        except Exception as error:  # whatever a stranger's file does to its reader, the other bots play on
            why = printable(str(error) if isinstance(error, InputError) else f"{file}: {error!r}")
            logger.warning("left out: %s", why)
            if left_out is not None and (student or file.suffix.lower() in ENDINGS):
                # Once the contest is closed, all can read it: it must not reveal paths of the host.
                left_out[student or file.stem] = why.replace(f"{printable(str(folder))}{os.sep}", "")
    for one in found:  # whose bot may be in one of two folders
        (left_out or {}).pop(one.name, None)
    return found


def identify(source: str, rules: Rules, name: str = "") -> Entrant:
    """Identify a bot by its content; `source` is the name of a strategy or a Python object, or a file."""
    path = Path(source)
    if path.is_file() or is_bot_folder(path):
        return _read_file(path, rules, name)[0]
    return _find_named(source, rules, name)[0]


def _find_named(source: str, rules: Rules, name: str) -> tuple[Entrant, Player]:
    """Identify a strategy or a Python object. This imports the module of the object."""
    player = find_player(source, rules)
    if isinstance(player, Bettor | Observer):
        method = "bet" if isinstance(player, Bettor) else "observe"
        raise BuildError(f"the player {source} has a method {method}, which contests do not call; `bjsim run` does")
    if file := python_file(source):
        digest = hashlib.sha256(read_bytes(file)).hexdigest()
        name = name or (os.path.basename(source) if player.name == source else "")  # not a path of the host
        source = _storable(f"{file.resolve()}:{source.rpartition(':')[2]}")
    else:
        cells = getattr(player, "cells", None)
        digest = hashlib.sha256(repr(sorted(cells.items())).encode()).hexdigest() if cells else ""
    return Entrant(name or player.name, source, IN_PROCESS, digest), player


def _storable(source: str) -> str:
    try:
        source.encode()
    except UnicodeEncodeError:
        raise BuildError(f"the file name {source} is not valid UTF-8, as the journal requires; rename it") from None
    return source


def _read_file(path: Path, rules: Rules, name: str = "") -> tuple[Entrant, Chart | BotSource]:
    """Read the file or folder of a bot or chart, once. Nothing of it runs. Raises: BuildError, ChartError."""
    source = _storable(str(path.parent.resolve() / path.name))
    try:
        check_name(path)
        if is_bot_folder(path):
            bot = read_bot(path)
        else:
            content, executable = read_file(path)
            if chart := _find_chart(content, path, rules):
                return Entrant(name or path.stem, source, IN_PROCESS, hashlib.sha256(content).hexdigest()), chart
            bot = single_file(path, content, executable)
    except OSError as error:
        raise BuildError(f"{source}: {error.strerror}") from None
    if not name and bot.name not in (path.name, path.stem) and bot.name in player_names():
        raise BuildError(f"{path}: the name {bot.name} in its bot.toml is that of a strategy; choose another")
    language = bot.language.name if bot.language else "executable"
    return Entrant(name or bot.name, source, language, bot.sha256, bot.protocol, printable(bot.author)), bot


def _find_chart(content: bytes, path: Path, rules: Rules) -> Chart | None:
    if path.suffix.lower() in ENDINGS:
        return None
    try:
        return read_chart(content, str(path), rules)
    except ChartError:
        if path.suffix in (".txt", ".chart"):
            raise
        return None


def with_unique_names(entrants: Sequence[Entrant], others: Iterable[str] = ()) -> list[Entrant]:
    """Cut long names, and number duplicate ones. others: names that are taken."""
    taken = set(others)
    unique = []
    for entrant in entrants:
        # Names appear as NAME=SOURCE in commands, and must not look like options there.
        base = name = re.sub("^-+|=", "_", printable(entrant.name))[: LONGEST["name"]]
        number = 1
        while name in taken:
            number += 1
            name = f"{base}-{number}"
        taken.add(name)
        unique.append(replace(entrant, name=name))
    return unique


def read_unchanged(entrant: Entrant, rules: Rules) -> Player | BotSource | None:
    """The entrant as it was when the contest began; None for a Python file, which is not run. Raises: InputError."""
    played: Player | BotSource | None = None
    try:
        if file := python_file(entrant.source) if entrant.by_name else None:
            now = replace(entrant, sha256=hashlib.sha256(read_bytes(file)).hexdigest())
        elif entrant.by_name:
            now, played = _find_named(entrant.source, rules, entrant.name)
        else:
            now, played = _read_file(Path(entrant.source), rules, entrant.name)
        if (now.language, now.sha256) == (entrant.language, entrant.sha256):
            return played
        why = "has changed since the contest began"
    except (BuildError, ChartError) as error:
        why = f"cannot play any more: {error}"
    raise InputError(f"the bot {entrant.name} ({entrant.source}) {why}")


@contextmanager
def opened(
    entrants: Sequence[Entrant], rules: Rules, warn: Callable[[str], object] = logger.warning, **options: Any
) -> Iterator[list[Player]]:
    """Open players with `open_bot(**options)`; close programs at the end. One that cannot be started stands."""
    with ExitStack() as stack:
        players: list[Player] = []
        for entrant in entrants:
            played = read_unchanged(entrant, rules)  # it may have changed after the header was written
            if isinstance(played, BotSource):
                players.append(_start(entrant, played, options, stack, warn))
            else:
                players.append(played or find_player(entrant.source, rules))
        yield players


def _start(
    entrant: Entrant, bot: BotSource, options: Mapping[str, Any], stack: ExitStack, warn: Callable[[str], object]
) -> "BotPlayer":
    need_programs(entrant.source)
    from bjsim.bots.player import open_bot, unstartable  # these need Linux
    from bjsim.bots.sandbox.session import Limits, SandboxError, SandboxSession, choose_box

    try:
        return stack.enter_context(open_bot(bot, name=entrant.name, **options))
    except MissingToolchain as error:
        raise InputError(f"the bot {entrant.name} cannot play: {error}") from None
    except BuildError as error:
        failed = error
    except (SandboxError, OSError) as error:
        any_bot = Program("any", "executable", {}, ("",))
        try:  # is it the machine's fault?
            SandboxSession(any_bot, Limits(), box=choose_box(options.get("sandbox", "auto"))).close()
        except (SandboxError, OSError):
            raise InputError(f"the bot {entrant.name} cannot play: {error}") from None
        with suppress(SandboxError, OSError):  # it may have been a moment ago
            return stack.enter_context(open_bot(bot, name=entrant.name, **options))
        failed = BuildError(getattr(error, "strerror", None) or str(error))
    warn(f"{entrant.name} cannot be started and will stand on every hand: {failed}")
    return unstartable(entrant.name, failed, entrant.protocol)


# --- Who plays: the header of a journal, the house players, and whether this machine can play the programs.


def house_players(contest: Contest) -> list[Entrant]:
    """The house players HOUSE, HOUSE - 1, ... that a new contest names."""
    sources = [contest.house] if contest.house else contest.against
    return [identify(source, contest.rules, "house") for source in sources]


def check_programs(entrants: Sequence[Entrant], contest: Contest, sandbox: str) -> None:
    """Check that this machine can play these bots, and that the contest plays their protocols. Raises: InputError."""
    programs = [entrant for entrant in entrants if entrant.timed]
    check_protocols(programs, contest.protocols)
    for entrant in programs:
        need_programs(entrant.source)
    if programs:
        from bjsim.bots.sandbox.session import choose_box, raise_file_limit

        choose_box(sandbox)
        for entrant in programs:
            try:
                if language := read_bot(Path(entrant.source)).language:
                    language.need_tools(entrant.name)
            except BuildError as error:
                raise InputError(f"the bot {entrant.name} cannot play: {error}") from None
        raise_file_limit(len(programs))
        warn_of_guessable(contest.seed)


def describe(entrant: Entrant, rules: Rules) -> dict[str, Any]:
    """A bot as the journal records it, with the plays of a named strategy or chart, which its luck is computed from."""
    plays = {} if entrant.timed else known_plays(read_unchanged(entrant, rules), rules)
    return entrant.to_dict() | ({"plays": plays} if plays else {})


def check_protocols(programs: Iterable[Entrant | BotSource], protocols: Sequence[str]) -> None:
    """Check that the contest plays the protocols of programs. Raises: InputError: One may not play."""
    for program in programs:
        if program.protocol not in protocols:
            raise InputError(
                f"the bot {program.name} speaks the protocol {program.protocol}, and this contest plays "
                f"{' and '.join(protocols)}; use --protocols {','.join(PROTOCOLS)}"
            )


def check_trusted(entrants: Sequence[Entrant], folder: Path) -> None:
    """Reject a contest from elsewhere that would run Python code in this process. Raises: InputError."""
    for entrant in entrants:
        if is_python(entrant.source) or (":" in os.path.basename(entrant.source) and entrant.by_name):
            raise untrusted(f"the contest in {folder}", entrant.source)


def untrusted(what: str, source: str) -> InputError:
    """What others wrote names a Python player."""
    return InputError(
        f"{what} runs {source} in this process, outside any sandbox; trust it only if the code is yours (--trust)"
    )


def make_header(
    contest: Contest, entrants: Sequence[Entrant], houses: Sequence[Entrant], left_out: Mapping[str, str]
) -> dict[str, Any]:
    sources = [house.source for house in houses]  # paths that hold in every folder
    named: dict[str, Any] = {"house": sources[0]} if contest.house else {"against": sources}
    return {
        "bjsim": __version__,
        "python": platform.python_version(),
        "luck": REFERENCE if has_luck(contest.rules) else "",
        "contest": contest.to_dict() | named,
        "bots": [describe(entrant, contest.rules) for entrant in entrants],
        "house": houses[0].to_dict() if contest.house else None,
        "against": [entrant.to_dict() for entrant in houses] if contest.against else [],
        "left_out": {printable(name): printable(reason) for name, reason in left_out.items()},
    }


def recorded_house_players(header: Mapping[str, Any], contest: Contest) -> list[Entrant]:
    """The house players HOUSE, HOUSE - 1, ... as they were when the contest began.

    They are those that the settings name, whatever sources the header gives; the one beside bots that join later is
    not recorded.
    """
    if not contest.against and not contest.house:
        return [_find_named(COMPANION, contest.rules, "house")[0]]
    recorded = header["against"] if contest.against else [header["house"]]
    return [Entrant.from_dict({**one, "source": source}) for one, source in zip(recorded, contest.field, strict=True)]
