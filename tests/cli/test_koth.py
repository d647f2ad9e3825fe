"""`bjsim koth`: the tutorial runs as written, and errors are one line."""

import csv
import json
import re
import shlex
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from bot_helpers import needs_sandbox
from support.command import bjsim, refusal
from support.printed import printed
from support.pseudo_terminal import PseudoTerminal
from support.waiting import wait_until

from bjsim.bots.contest.host import Host
from bjsim.bots.contest.standings import standings_table
from bjsim.bots.sandbox import restrictions
from bjsim.cli.koth_play import ContestScreen, choose_contest
from bjsim.sim.game.presets import load_rules

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorials" / "contest.md"
KEYS = {"rank", "bot", "matches", "hands", "chips", "chips_ci95", "luck_adjusted", "luck_adjusted_ci95", "faults"}


def koth(*words, status=0):
    """What `bjsim koth` prints."""
    done = bjsim("koth", *words)
    assert done.status == status, done.err
    return done.out


def rows_in(folder):
    return json.loads((folder / "standings.json").read_text(encoding="utf-8"))


@needs_sandbox
@pytest.mark.slow
def test_the_tutorial(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("secrets.randbits", lambda bits: 2698)  # no two bots end with the same chips
    (tmp_path / "bots").mkdir()
    text = TUTORIAL.read_text(encoding="utf-8")
    for name, content in re.findall(r"`([\w/.]+)`:\n\n```\w+\n(.*?)```", text, re.S):
        (tmp_path / name).write_text(content)
    commands = [line for block in re.findall(r"```sh\n(.*?)```", text, re.S) for line in block.splitlines()]
    assert len(commands) == 8 and all(command.startswith("bjsim ") for command in commands)
    done = [bjsim(*shlex.split(command)[1:]) for command in commands]
    assert not any(each.status for each in done)
    printed = "".join(each.out for each in done)
    assert "every card and chip is correct" in printed and "bold" in printed
    for folder in ("trial", "final"):
        for name in ("journal.jsonl", "index.html", "standings.csv", "standings.json"):
            assert (tmp_path / folder / name).stat().st_size
    rows = rows_in(tmp_path / "final")
    assert [row["rank"] for row in rows] == [1, 2, 3, 4]
    assert {row["bot"] for row in rows} == {"bold", "careful", "lim17", "optimal"}
    assert all(row.keys() >= {*KEYS, "ms_per_move"} for row in rows)
    assert not any(row["faults"] for row in rows)
    assert [row["score"] for row in rows] == sorted((row["score"] for row in rows), reverse=True)
    with (tmp_path / "final" / "standings.csv").open() as file:
        assert [line["bot"] for line in csv.DictReader(file)] == [row["bot"] for row in rows]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["play", "--against", "lim17"], "a contest needs a bot or more, not 0"),
        (["play", "lim17", "lim71"], "did you mean lim17?"),
        (["play", "lim17", "lim18", "--timeout", "-1"], "seconds from 0.01 to 600"),
        (["show", "nowhere"], "no contest in nowhere"),
        (["verify", "nowhere"], "no contest in nowhere"),
        (["shw", "final"], "Did you mean 'show'?"),
        (["lim17", "optimal"], "No such command 'lim17'"),
        (["play", "lim17", "--resume", "x"], "No such option"),
        (["play", "--config", "nowhere.toml"], "cannot read the contest nowhere.toml"),
    ],
)
def test_errors_are_one_line(tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    assert said in refusal("koth", *arguments)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "needed"),
    [
        ([], ""),
        (["--timeout", 5, "--seed", 3, "--duplicate"], ""),  # the contest's own, which its journal keeps
        (["--workers", 2, "--sandbox", "auto"], " --workers 2 --sandbox auto"),
    ],
)
def test_the_command_to_go_on_can_be_typed_as_it_is_printed(tmp_path, monkeypatch, options, needed):
    def interrupt(screen, host):
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(ContestScreen, "update", interrupt)
        printed = koth("play", "lim17", "optimal", "--matches", 4, "--out", "k i", *options, status=130)
    command = f"bjsim koth resume 'k i'{needed}"
    assert f"to resume after a stop: {command}\n" in printed and f"stopped; resume with: {command}\n" in printed
    printed = koth(*shlex.split(command)[2:])
    assert f"to resume after a stop: {command}\n" in printed
    assert f"{8 if '--duplicate' in options else 4} matches; ended" in printed


def test_a_contest_may_be_hosted_from_another_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    assert bjsim("bot", "export", "lim17", "--output", "mine/same.py").out == "wrote mine/same.py\n"
    (tmp_path / "mine" / "contest.toml").write_text('bots = ["same.py", "lim17"]\nmatches = 2')
    assert "2 matches; ended" in koth("play", "--config", "mine/contest.toml", "--sandbox", "auto", "--timeout", 20)
    assert choose_contest("mine/contest.toml", "vegas-s17", {})[0].rules == load_rules("vegas-s17")


def test_house_players_fill_chairs_and_are_not_ranked(tmp_path):
    koth("play", "lim17", "optimal", "--house", "mimic", "--matches", 2, "--out", tmp_path)
    assert {row["bot"] for row in rows_in(tmp_path)} == {"lim17", "optimal"}
    koth("verify", tmp_path)
    walt = refusal("koth", "show", tmp_path, "--hand", "1.1.1", "--bot", "walt")
    assert "--bot walt: table 1.1 has lim17, optimal" in walt
    assert "has no match 9 with a table 9" in refusal("koth", "show", tmp_path, "--hand", "9.9.9")
    assert "has no match 1 with a table 1 of bot 21" in refusal("koth", "show", tmp_path, "--hand", "1.1.1.21")
    for wrong, *more in (["1.1"], ["1.1.²"], [f"1.1.{'9' * 5000}"], ["1.1.1.1", "--bot", "lim17"]):
        said = refusal("koth", "show", tmp_path, "--hand", wrong, *more)  # of the third Python makes no integer
        assert "is not accepted; write MATCH.TABLE.ROUND" in said and len(said) < 400
    assert "--json is of the standings" in refusal("koth", "show", tmp_path, "--hand", "1.1.1", "--json", "-")


def test_standings_are_a_page_and_a_picture_that_keep_the_seed_until_the_contest_is_closed(tmp_path):
    page, picture, where = tmp_path / "x.html", tmp_path / "x.svg", tmp_path / "c"
    words = ("koth", "play", "lim17", "optimal", "--matches", 9, "--seed", 271828, "--out", where)
    played = bjsim(*words, "--html", page, "--plot", picture, "--json", "-")
    shown, text = bjsim("koth", "show", where, "--json", "-"), page.read_text()
    assert played.status == 0 and shown.json == played.json and picture.stat().st_size > 1000
    assert (shown.json["matches"], shown.json["ended"], shown.json["standings"]) == (9, "matches", rows_in(where))
    assert "luck-adjusted chips per match, with 95% intervals" in text and "luck-adjusted chips ± 95%" in text
    assert "271828" not in text and str(tmp_path) not in text
    koth("close", where)
    koth("show", where, "--html", page)
    assert "--seed 271828" in page.read_text() and str(tmp_path) not in page.read_text()


def test_a_hand_has_totals_and_chips_and_says_why_a_tie_loses(tmp_path):
    """Of two with 20 against 20 and 19 against 20; a bust hand of 25 is no tie, although the dealer has 25 too."""
    said = []
    for seed, hand in ((4, "2.1.2"), (1, "1.1.23")):
        koth("play", "lim17", "hoyle", "--matches", 2, "--seed", seed, "--out", tmp_path / hand)
        said.append(koth("show", tmp_path / hand, "--hand", hand).splitlines())
    assert said[0][-3:] == [
        "  The dealer takes 9: 20.",
        "  hoyle loses 10 chips (ties 20: loses).",
        "  lim17 loses 10 chips (19 against 20).",
    ]
    assert "  hoyle gets 8: 20." in said[0] and not any("bet" in line for line in said[0])
    assert "  lim17 gets Q: 25." in said[1] and "  The dealer takes J: 25." in said[1]
    assert said[1][-2] == "  lim17 loses 10 chips (bust 25)."


def test_odd_names_and_the_same_bot_twice(tmp_path):
    bots = ["[/b]<i>=lim17", "[red]=lim17", "名前 & co=lim17", "play=lim17", "lim17", "lim17"]
    printed = koth("play", *bots, "--matches", 2, "--out", tmp_path / "[x]")
    printed += koth("show", tmp_path / "[x]") + koth("verify", tmp_path / "[x]")
    names = {"[/b]<i>", "[red]", "名前 & co", "play", "lim17", "lim17-2"}
    assert all(printed.count(name) >= 2 for name in names) and "[x]/index.html" in printed
    assert {row["bot"] for row in rows_in(tmp_path / "[x]")} == names


def frames(folder, columns):
    """The screens that a terminal with this many columns shows during a contest.

    One bot is slow, because a quick contest would end before the display is updated."""
    bot = "import sys, time\ntime.sleep(0.004)\nprint('H' if int(sys.argv[1]) < 15 else 'Q')\n"
    (folder / "wild.py").write_text(bot)
    words = f"koth play wild.py optimal --matches 12 --sandbox auto --out seen{columns}".split()
    terminal = PseudoTerminal(*words, columns=columns, environment={"COLUMNS": str(columns), "LINES": "40"})
    terminal.watch(lambda text: False)
    assert terminal.finish()[1] == 0
    erased = re.split(r"\x1b\[2K(?:\x1b\[1A\x1b\[2K)*", terminal.text)
    return [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", screen) for screen in erased if screen.strip()]


@pytest.mark.parametrize("columns", [80, pytest.param(130, marks=pytest.mark.slow)])
def test_live_standings_in_a_terminal(tmp_path, monkeypatch, columns):
    """A wide screen shows all columns, a narrow one the most important; names and numbers are not cut."""
    monkeypatch.chdir(tmp_path)
    screens = frames(tmp_path, columns)
    live = [screen for screen in screens if "moves/s" in screen]
    assert live and all(len(line) <= columns for screen in screens for line in screen.splitlines())
    rates = r"match \d+ of 12   [\d,]+ rounds/s   [\d,]+ moves/s   at most [\d,]+ s left"
    assert any(re.search(rates, screen) for screen in live), live
    headings = ["rank", "bot", "broke/matches", "chips ± 95%", "faults", "luck-adjusted", "language"]
    tables = [screen for screen in live if "rank" in screen]  # before a round is counted, there are only rates
    assert tables
    for screen in tables:
        assert all(heading in screen for heading in headings), screen
        assert "wild" in screen and "optimal" in screen and "…" not in screen
    assert any(re.search(r"bad-reply +\d+", screen) for screen in tables)
    assert re.search(r"\d\.\d ± +\d", screens[-1]) and "12 matches; ended" in screens[-1]


@pytest.mark.parametrize("columns", [200, 140, 100, 80, 60, 40])
@pytest.mark.parametrize("factor", [1, 10_000])
def test_standings_cut_no_number_and_no_name(columns, factor):
    """Names and faults are folded; a table whose numbers do not fit is split."""
    values = {
        "matches": 100 * factor, "ms_per_move": 1009.37, "faults": {"start-failure": 98765, "crash": 3},
        "broke": 7 * factor, "chips": 155.5 * factor, "chips_ci95": [124.5 * factor, 186.5 * factor],
        "luck_adjusted": -1.25 * factor, "luck_adjusted_ci95": [-2 * factor, -0.5 * factor], "language": "in process",
    }  # fmt: skip
    rows = [
        {"rank": rank, "rank_range": rank and [1, 3], "bot": name, **values}
        for rank, name in ((1, "optimal"), (2, "a-bot-17"), (3, "Z" * 245), (None, "broken"))
    ]
    text = printed(standings_table(rows), columns, is_terminal=True)
    assert "…" not in text and all(len(line) <= columns for line in text.splitlines())
    words = Counter(text.replace(f"{7 * factor:,}/", "").split())
    numbers = [f"{100 * factor:,}", f"{155.5 * factor:.1f}", f"{-1.25 * factor:+.3f}", "1009.37", "98765,", "crash"]
    assert [words[number] for number in numbers] == [4] * len(numbers), text
    assert words[f"{31.0 * factor:.1f}"] == words[f"{0.75 * factor:.3f}"] == 4
    parts = words["bot"]  # of the table
    assert words["optimal"] == words["a-bot-17"] == words["broken"] == parts and text.count("Z") == 245 * parts
    assert words["–"] == 1 and words["rank"] == 1


@pytest.mark.parametrize("matches", [7, 8])
def test_no_interval_is_shown_from_fewer_than_eight_matches(tmp_path, matches):
    printed = koth("play", "lim17", "optimal", "--matches", matches, "--out", tmp_path)
    known = matches == 8
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    for key in ("chips_ci95", "per_hand_ci95", "luck_adjusted_ci95"):
        assert {row[key] is not None for row in rows_in(tmp_path)} == {known}
    assert len(re.findall(r"\d ± +–", printed)) == (0 if known else 4)
    assert len(re.findall(r"\d ± +\d", printed)) == (4 if known else 0)
    cells = re.findall(r"<td[^>]*>(.*?)</td>", re.search(r'<table id="standings".*?</table>', page, re.S)[0])
    assert sum(" to " in cell for cell in cells) == (2 if known else 0) and cells.count("–") == (2 if known else 4)
    assert ("±" in re.search(r'aria-describedby="cross-note">.*?</table>', page, re.S)[0]) == known


def test_a_bot_that_cannot_be_started_is_listed_last_and_not_ranked(tmp_path):
    """Even though it stands, which wins more than always busting."""
    (tmp_path / "abroken.py").write_text("print(")
    (tmp_path / "buster.py").write_text("def decide(view):\n    return 'H'\n")
    bots = [tmp_path / "abroken.py", f"buster={tmp_path / 'buster.py'}:decide", "mimic"]
    koth("play", *bots, "--matches", 2, "--seed", 1, "--out", tmp_path / "out", "--sandbox", "auto")
    rows = rows_in(tmp_path / "out")
    assert [(row["rank"], row["bot"]) for row in rows] == [(1, "mimic"), (2, "buster"), (None, "abroken")]
    assert rows[2]["chips"] > rows[1]["chips"] and rows[2]["tied_with"] == []
    assert re.findall(r"^ +(\w+) +([12–]) ", koth("show", tmp_path / "out"), re.M)[-1] == ("abroken", "–")
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "Bots that cannot be started or do not answer are not ranked." in page
    assert '<td data-v="4">–</td><th scope="row" class="bot"><a href="pages/abroken.html">abroken</a></th>' in page


def test_programs_play_a_contest_only_in_a_sandbox(tmp_path, monkeypatch):
    held = restrictions.Held("none", False, "bots cannot be isolated", "the kernel has no Landlock")
    monkeypatch.setattr(restrictions, "find_box", lambda: held)
    (tmp_path / "bot.py").write_text("print('S')")
    arguments = ["play", tmp_path / "bot.py", "lim17", "--matches", "2", "--out", tmp_path / "out"]
    refused = bjsim("koth", *arguments)
    said = "bjsim: a sandbox is required, but bots cannot be isolated (the kernel has no Landlock)\n"
    assert (refused.status, refused.err) == (1, said) and not (tmp_path / "out").exists()
    koth(*arguments, "--sandbox", "auto")
    koth("play", "optimal", "lim17", "--matches", "2", "--out", tmp_path / "other")  # no programs


@needs_sandbox
def test_cold_bots_have_no_server_also_after_a_resume(tmp_path):
    """A fork server freezes what it has loaded."""
    (tmp_path / "bot.py").write_text("import gc; print('forked' if gc.get_freeze_count() else 'S')")
    for option in ([], ["--cold"]):
        out = tmp_path / f"out{len(option)}"
        koth("play", tmp_path / "bot.py", "lim17", "--matches", "1", "--timeout", "20", *option, "--out", out)
        faults = {row["bot"]: row["faults"] for row in rows_in(out)}
        assert bool(faults["bot"]) == (not option)
        koth("close", out)
        assert ("--cold" in (out / "index.html").read_text()) == bool(option)
    assert Host.resume(out).contest.cold


@needs_sandbox
def test_too_few_files_are_one_line_before_the_contest(tmp_path, monkeypatch):
    (tmp_path / "bot.py").write_text("print('S')")
    monkeypatch.setattr("bjsim.bots.sandbox.session.resource.getrlimit", lambda kind: (100, 100))
    done = bjsim("koth", "play", tmp_path / "bot.py", "lim17", "--out", tmp_path / "out")
    said = r"bjsim: the bots need [0-9]+ open files, and 100 are allowed here \(ulimit -Hn\)\n"
    assert done.status == 1 and re.fullmatch(said, done.err) and not (tmp_path / "out").exists()


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "terminate"])
def test_a_stop_shows_the_standings_and_how_to_resume(tmp_path, sent):
    command = [sys.executable, "-c", "from bjsim.cli.main import main; main()", "koth", "play", "lim17", "optimal"]
    process = subprocess.Popen(
        [*command, "--matches", "100000", "--workers", "2", "--out", tmp_path / "c"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    file = tmp_path / "c" / "journal.jsonl"
    try:
        assert wait_until(lambda: file.exists() and file.stat().st_size > 50_000)
        process.send_signal(sent)
        printed = process.communicate(timeout=60)[0].decode()
    finally:
        process.kill()
    assert process.returncode == 130 and "matches so far, not finished" in printed
    assert "optimal" in printed and "resume with: bjsim koth resume" in printed
    assert "Traceback" not in printed


def test_an_unwritable_json_path_is_refused_before_the_contest(tmp_path):
    words = ["lim17", "optimal", "--out", tmp_path / "c", "--json", tmp_path / "no" / "x.json"]
    assert "cannot write" in refusal("koth", "play", *words) and not (tmp_path / "c").exists()
