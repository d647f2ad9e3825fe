"""Files that others may have made: regular ones of a limited size are read, and links are not written through.

A pipe would wait for a writer, and a device has no end; a link in a folder from elsewhere may lead to any file of the
user. All refusals are OSErrors with a `strerror` to quote; only `write_file` raises an InputError that quotes it.
"""

import errno
import json
import os
import secrets
import stat
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, BinaryIO

from bjsim.errors import InputError, file_errors

MAX_TOML = 1 << 16  # bytes of a file; those of contests and rules have some hundred
MAX_DATA = 1 << 28  # bytes of a file that a program has written
LARGEST = 1 << 128  # above every setting; Python does not print integers of thousands of digits
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}  # errors of writing, when a part may be there


@contextmanager
def open_file(path: str | os.PathLike[str], folder: int | None = None, *, links: bool = True) -> Iterator[BinaryIO]:
    """Open a regular file in the open `folder`, if given; `links` says whether it may be a symbolic link."""

    def opener(name: str, flags: int) -> int:
        flags |= getattr(os, "O_NONBLOCK", 0)  # a named pipe would wait for a writer
        return os.open(name, flags if links else flags | getattr(os, "O_NOFOLLOW", 0), dir_fd=folder)

    with open(path, "rb", opener=opener) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))
        yield file


def read_up_to(file: BinaryIO, most: int) -> bytes | None:
    """The content of an open file; None if it is larger than `most` bytes."""
    content = None if os.fstat(file.fileno()).st_size > most else file.read(most + 1)
    return None if content is None or len(content) > most else content


def read_bytes(path: str | os.PathLike[str], most: int = MAX_DATA) -> bytes:
    """Read a file of at most `most` bytes. Raises: OSError."""
    with open_file(path) as file:
        content = read_up_to(file, most)
    if content is None:
        size = f"{most >> 20} MiB" if most >> 20 else f"{most >> 10} KiB"
        raise OSError(errno.EFBIG, f"larger than {size}", os.fspath(path))
    return content


def decode(content: bytes) -> str:
    """The text of a file in UTF-8, or in UTF-16 with a byte order mark. Raises: UnicodeDecodeError."""
    return content.decode("utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig")


def read_text(path: str | os.PathLike[str], most: int = MAX_DATA) -> str:
    """Read a file, decoded as by `decode`. Raises: OSError."""
    try:
        return decode(read_bytes(path, most))
    except UnicodeDecodeError:
        raise OSError(errno.EILSEQ, "not valid UTF-8", os.fspath(path)) from None


def read_json_lines(path: Path) -> Iterator[Any]:
    """Read the JSON objects in a file that has one on each line; no file has none, and other lines are skipped."""
    for line in read_bytes(path).splitlines() if path.exists() else ():
        with suppress(ValueError, RecursionError):
            values = json.loads(line)
            json.dumps(values, ensure_ascii=False).encode()  # what is no character cannot be written to a page
            if isinstance(values, dict):
                yield values


def is_special(path: Path) -> bool:
    """Whether a path is a device, a pipe or a socket."""
    return path.exists() and not path.is_file() and not path.is_dir()


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Write a file that replaces the one at a path when it is complete: readers see the old or the new content."""
    fresh = path.with_name(f"{path.name}.{secrets.token_hex(4)}.new")  # another process may write the same file
    with file_errors(path):
        if is_special(path):  # root would put a file in the place of a device
            raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))
        try:
            with fresh.open("xb") as file:
                yield file
            fresh.replace(path)
        except BaseException as error:
            with suppress(OSError):
                fresh.unlink(missing_ok=True)
            if isinstance(error, OSError) and str(error.filename) == str(fresh):
                error.filename = str(path)
            raise


def write_file(path: str, content: bytes) -> None:
    """Write a file that a user asked for. Raises: InputError: It cannot be written whole; half of it is removed."""
    try:
        Path(path).write_bytes(content)
    except OSError as error:
        if error.errno in FULL and os.path.isfile(path):  # else it could not be opened, and is what it was
            with suppress(OSError):
                os.remove(path)
        raise InputError(f"cannot write {path}: {error.strerror}") from None


def open_to_change(path: Path, mode: str) -> IO[bytes]:
    """Open a file to write to, but no link to one."""
    flag = getattr(os, "O_NOFOLLOW", 0)
    return open(path, mode, opener=lambda name, flags: os.open(name, flags | flag, 0o666))


def append_line(path: Path, line: str, most: int = MAX_DATA) -> None:
    """Append a line to a file, unless it has `most` bytes. A killed process may have left half a line."""
    with file_errors(path), open_to_change(path, "a+b") as file:
        size = file.tell()
        file.seek(max(size - 1, 0))
        is_torn = file.read() not in (b"", b"\n")
        if size < most:
            file.write(b"\n" * is_torn + f"{line}\n".encode())


def make_folder(path: Path) -> None:
    """Make a folder, unless it is there. Raises: OSError, also for a link to one."""
    with file_errors(path):
        path.mkdir(exist_ok=True)
        if path.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a TOML file of at most MAX_TOML. Raises: OSError, and ValueError as `parse_toml`."""
    return parse_toml(read_bytes(path, MAX_TOML))


def parse_toml(content: bytes) -> dict[str, Any]:
    """Parse a TOML file's content, decoded as by `decode`.

    A ValueError's message is a predicate to follow the file's name: not valid TOML, nested too deeply, or an
    integer of 2**128 or more.
    """
    try:
        values = tomllib.loads(decode(content))
        _check_numbers(values)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"is not valid TOML: {error}") from None
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    except ValueError:  # also raised by Python for a decimal number of thousands of digits
        raise ValueError("contains a number beyond 2^128") from None
    return values


def _check_numbers(value: object) -> None:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            _check_numbers(item)
    elif isinstance(value, int) and abs(value) >= LARGEST:
        raise ValueError
