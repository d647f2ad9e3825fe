"""Print what `make bench` measured: rounds per second, compiled : readable, and the solver's time, by preset."""

import json
from pathlib import Path

LATEST = Path(__file__).parent.parent / ".benchmarks" / "latest.json"


def fastest(benchmarks: list[dict], test: str) -> dict[str, dict]:
    """For each preset the benchmark of this test."""
    return {b["param"]: b for b in benchmarks if b["name"].startswith(f"{test}[")}


def main() -> None:
    """Print one line a preset; times are the fastest of those measured in one run."""
    found = json.loads(LATEST.read_text(encoding="utf-8"))["benchmarks"]
    compiled, readable, solver = (
        fastest(found, f"test_{what}") for what in ("compiled_round", "readable_round", "solver")
    )
    print(f"{'preset':>14}  {'compiled/s':>12}  {'readable/s':>10}  {'ratio':>6}  {'solver ms':>9}")
    for preset, one in compiled.items():
        fast = one["extra_info"]["rounds"] / one["stats"]["min"]
        slow = readable[preset]["extra_info"]["rounds"] / readable[preset]["stats"]["min"]
        ms = 1000 * solver[preset]["stats"]["min"]
        print(f"{preset:>14}  {fast:>12,.0f}  {slow:>10,.0f}  {fast / slow:>6,.0f}  {ms:>9.1f}")


if __name__ == "__main__":
    main()
