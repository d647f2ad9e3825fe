"""Shards: the parts of a run, merged, are the run."""

import json
import os
import random

import pytest

from bjsim.errors import InputError
from bjsim.merged import merge_parts
from bjsim.request import RunRequest
from bjsim.sim.running.shards import Part, Shard

GAMES = {
    "plain": ("easy", ["optimal", "lim17"], {}),
    "luck-adjusted": ("vegas-s17", ["optimal"], {}),
    "readable": ("cardshark", ["kelly"], {"tables": 2}),
}


def play(name, **options):
    game, bots, more = GAMES[name]
    hands = 5_000 if name == "readable" else 300_000
    return RunRequest(game, bots, hands, seed=3, workers=1, **more, **options).play()


def shards(folder, name, of):
    """Play all shards in some order. Returns: their parts."""
    parts = [folder / f"{name}-{number}.json" for number in range(1, of + 1)]
    for number in random.Random(4).sample(range(of), of):
        play(name, shard=f"{number + 1}/{of}", checkpoint=parts[number])
    return parts


def same(result, other):
    """Whether two results have the same bytes but for how long they took."""
    one, two = ({**result.to_json(), "seconds": 0, "rounds_per_second": 0} for result in (result, other))
    return json.dumps(one) == json.dumps(two)


@pytest.mark.parametrize(
    ("name", "of"),
    [
        pytest.param("plain", 64, marks=pytest.mark.slow),
        ("plain", 7),
        ("luck-adjusted", 3),
        ("readable", 2),
    ],
)
@pytest.mark.slow_but("common cards-5", "readable-2")
def test_merged_parts_are_the_whole_run(tmp_path, name, of):
    parts = shards(tmp_path, name, of)
    whole = play(name)
    assert same(merge_parts(parts[::-1]), whole)
    assert not same(play(name, shard=f"1/{of}", checkpoint=tmp_path / "alone.json"), whole)  # negative control


def test_a_part_that_was_killed_goes_on(tmp_path):
    """A part that has lost jobs, as if its task had been killed, and one that was never begun again."""
    parts = shards(tmp_path, "luck-adjusted", 2)
    cut = Part.read(parts[0])
    for job in list(cut.jobs)[1::2]:
        del cut.jobs[job]
    cut.save()
    with pytest.raises(InputError, match=f"{parts[0].name} was stopped before its end"):
        merge_parts(parts)
    play("luck-adjusted", shard="1/2", resume=parts[0])
    assert same(merge_parts(parts), play("luck-adjusted"))
    with pytest.raises(InputError, match="another shard"):
        play("luck-adjusted", shard="2/2", resume=parts[0])


def test_wrong_parts_are_refused_by_name(tmp_path):
    parts = shards(tmp_path, "readable", 3)
    other = tmp_path / "other.json"
    play("readable", shard="2/2", checkpoint=other)
    damaged = tmp_path / "damaged.json"
    damaged.write_text(parts[1].read_text().replace('"shard": [2', '"shard": [3'))
    foreign = Part.read(parts[1])
    foreign.path, foreign.description = tmp_path / "foreign.json", {**foreign.description, "seed": 4}
    foreign.save()
    changed = tmp_path / "changed"
    changed.mkdir()
    for part in map(Part.read, parts):  # all of one run that other players played
        part.path = changed / part.path.name
        part.description = {**part.description, "bots": [["kelly", "another"]]}
        part.save()
    for given, message in (
        ([], "no part to merge"),
        (parts[:2], "1 of 3 parts are missing: shard 3"),
        ([parts[0]], "2 of 3 parts are missing: shard 2, 3"),
        ([*parts, parts[1]], "readable-2.json are both shard 2/3"),
        ([*parts[:2], other], "other.json is a part of another run than .*different: shards"),
        ([parts[0], foreign.path, parts[2]], "foreign.json is a part of another run than .*different: seed"),
        ([parts[0], damaged, parts[2]], "damaged.json is not a part of a run, or is damaged"),
        ([*parts[:2], tmp_path / "absent.json"], "cannot read the part .*absent.json: No such file"),
        ([*parts[:2], tmp_path], "cannot read the part"),
        (sorted(changed.iterdir()), "was played by others than are here now .*different: bots"),
    ):
        with pytest.raises(InputError, match=message):
            merge_parts(given)


@pytest.mark.parametrize("text", ["0/4", "5/4", "4", "1/0", "a/4", "1/4/2", "1/1000000", "-1/4", "auto"])
def test_other_shards_are_refused(text, tmp_path, monkeypatch):
    for name in [name for name in os.environ if name.startswith(("SLURM", "JOB_"))]:
        monkeypatch.delenv(name)
    with pytest.raises(InputError, match="shard"):
        play("readable", shard=text, checkpoint=tmp_path / "part.json")


def test_a_shard_needs_a_fixed_length_a_seed_and_a_file(tmp_path):
    part = tmp_path / "part.json"
    with pytest.raises(InputError, match="needs a fixed number of hands, and a checkpoint"):
        play("readable", shard="1/2")
    with pytest.raises(InputError, match="needs a fixed number of hands"):
        play("readable", shard="1/2", checkpoint=part, until=0.1)
    with pytest.raises(InputError, match="needs seed, the same for all shards"):
        RunRequest("easy", "lim17", 10, shard="1/2", checkpoint=part)
    bot = tmp_path / "bot.py"
    bot.write_text("print('S')\n")
    with pytest.raises(InputError, match="programs are played on one machine"):
        RunRequest("cardshark", bot, 10, seed=1, shard="1/2", checkpoint=part)
    assert not part.exists()


@pytest.mark.parametrize(
    ("variables", "text", "shard"),
    [
        ({"SLURM_ARRAY_TASK_ID": "3", "SLURM_ARRAY_TASK_MIN": "1", "SLURM_ARRAY_TASK_COUNT": "64"}, "auto", (3, 64)),
        ({"SLURM_ARRAY_TASK_ID": "0", "SLURM_ARRAY_TASK_MIN": "0", "SLURM_ARRAY_TASK_COUNT": "8"}, "auto", (1, 8)),
        (
            {
                "SLURM_ARRAY_TASK_ID": "7",
                "SLURM_ARRAY_TASK_MIN": "1",
                "SLURM_ARRAY_TASK_STEP": "2",
                "SLURM_ARRAY_TASK_COUNT": "4",
            },
            "auto",
            (4, 4),
        ),
        ({"JOB_COMPLETION_INDEX": "7"}, "auto/8", (8, 8)),
    ],
)
def test_a_job_array_says_which_shard_it_is(variables, text, shard, monkeypatch):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert Shard.parse(text) == shard
