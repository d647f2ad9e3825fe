"""Who plays: the header of a journal, the house players, and whether this machine can play the programs."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bjsim import __version__
from bjsim.bots.contest.config import PROTOCOLS, Contest, has_luck
from bjsim.bots.contest.entrants import Entrant, EntrantError, identify, read_unchanged
from bjsim.bots.contest.luck.adjust import REFERENCE, known_plays
from bjsim.bots.programs import need_programs
from bjsim.bots.protocol import printable
from bjsim.bots.sandbox.folders import read_bot
from bjsim.bots.sandbox.languages import BuildError
from bjsim.bots.seats import warn_of_guessable
from bjsim.sim.game.rules import Rules
from bjsim.strategies.players.catalogue import is_python


def house_players(contest: Contest) -> list[Entrant]:
    """The house players HOUSE, HOUSE - 1, ... of a contest."""
    return [identify(source, contest.rules, "house") for source in contest.field]


def check_programs(entrants: Sequence[Entrant], contest: Contest, sandbox: str) -> None:
    """Check that this machine can play these bots, and that the contest plays their protocols. Raises: InputError."""
    programs = [entrant for entrant in entrants if entrant.timed]
    check_protocols(programs, contest.protocols)
    for entrant in programs:
        need_programs(entrant.source)
    if programs:
        from bjsim.bots.sandbox.session import choose_box, raise_file_limit

        choose_box(sandbox)
        check_toolchains(programs)
        raise_file_limit(len(programs))
        warn_of_guessable(contest.seed)


def describe(entrant: Entrant, rules: Rules) -> dict[str, Any]:
    """A bot as the journal records it, with the plays of a named strategy or chart, which its luck is computed from."""
    plays = {} if entrant.timed else known_plays(read_unchanged(entrant, rules), rules)
    return entrant.to_dict() | ({"plays": plays} if plays else {})


def check_protocols(entrants: Sequence[Entrant], protocols: Sequence[str]) -> None:
    """Check that the contest plays these protocols. Raises: EntrantError, which names a program that may not play."""
    for entrant in entrants:
        if entrant.timed and entrant.protocol not in protocols:
            raise EntrantError(
                f"the bot {entrant.name} speaks the protocol {entrant.protocol}, and this contest plays "
                f"{' and '.join(protocols)}; use --protocols {','.join(PROTOCOLS)}"
            )


def check_toolchains(entrants: Sequence[Entrant]) -> None:
    """Check that this machine has what these programs need to be built and run. Raises: EntrantError."""
    for entrant in entrants:
        try:
            language = read_bot(Path(entrant.source)).language
            if language:
                language.need_tools(entrant.name)
        except BuildError as error:
            raise EntrantError(f"the bot {entrant.name} cannot play: {error}") from None


def check_trusted(entrants: Sequence[Entrant], folder: Path) -> None:
    """Reject a contest from elsewhere that would run Python code in this process. Raises: EntrantError."""
    for entrant in entrants:
        if is_python(entrant.source) or (":" in os.path.basename(entrant.source) and entrant.by_name):
            raise untrusted(f"the contest in {folder}", entrant.source)


def untrusted(what: str, source: str) -> EntrantError:
    """What others wrote names a Python player."""
    return EntrantError(
        f"{what} runs {source} in this process, outside any sandbox; trust it only if the code is yours (--trust)"
    )


def make_header(
    contest: Contest, entrants: Sequence[Entrant], houses: Sequence[Entrant], left_out: Mapping[str, str]
) -> dict[str, Any]:
    return {
        "bjsim": __version__,
        "python": platform.python_version(),
        "luck": REFERENCE if has_luck(contest.rules) else "",
        "contest": contest.to_dict(),
        "bots": [describe(entrant, contest.rules) for entrant in entrants],
        "house": houses[0].to_dict() if contest.house else None,
        "against": [entrant.to_dict() for entrant in houses] if contest.against else [],
        "left_out": {printable(name): printable(reason) for name, reason in left_out.items()},
    }


def recorded_house_players(header: Mapping[str, Any], contest: Contest) -> list[Entrant]:
    """The house players as they were when the contest began; the one beside bots that join later is not recorded.

    They are those that the settings name, whatever sources the header gives.
    """
    if not contest.against and not contest.house:
        return []
    recorded = header["against"] if contest.against else [header["house"]]
    return [Entrant.from_dict({**one, "source": source}) for one, source in zip(recorded, contest.field, strict=True)]
