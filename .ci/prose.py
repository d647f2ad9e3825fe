"""Find words for which the glossary has another one, in code, comments, messages and documentation.

    python .ci/prose.py [FILE...]      all tracked files by default; exit status 1 if any is found

The glossary is docs/reference/glossary.md. Style is left to the writer.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

BANNED = {  # pattern: the glossary's word
    r"\bworths?\b(?! (?:a|the|it|reading|knowing|while))": "value, expected value",
    r"\bthe law\b|\blaws? of\b": "distribution, probabilities",
    r"\breferees?\b": "luck model, adjuster",
    r"\btell(s|ing)? (the )?luck\b": "luck-adjusted",
    r"(?<!\")\bstretch(es)?\b": "batch",  # a quoted one is a key of checkpoints
    r"\busual interval\b": "fixed-sample interval",
    r"\bhabits\b": "opponent model",
    r"\b(half|halves) of a (split|pair)\b|\bhalf-hands?\b": "split hand",
    r"\bdeal(s|t|ing)? (it )?again\b": "replay, reproduce",
    r"\bseed 00\d\b|\bseeds 00\d\b|\b(?-i:RULES\.md)\b": "a key of docs/reference/sources.md",
}
PATTERN = {re.compile(pattern, re.IGNORECASE): use for pattern, use in BANNED.items()}
SKIPPED = re.compile(r"^(CHANGELOG\.md|\.ci/prose\.py|docs/reference/glossary\.md)$|\.(png|json|csv|toml|yml)$")


def found(name: str) -> list[str]:
    """Complaints about one file, `file:line: phrase (use …)`."""
    try:
        lines = Path(name).read_text(encoding="utf-8").splitlines()
    except (UnicodeDecodeError, IsADirectoryError, FileNotFoundError):
        return []
    return [
        f"{name}:{number}: {match[0]!r} (use: {use})"
        for number, line in enumerate(lines, 1)
        for pattern, use in PATTERN.items()
        if (match := pattern.search(line))
    ]


def main(names: list[str]) -> int:
    """Print all complaints about these files."""
    if not names:
        names = subprocess.run(["git", "ls-files"], check=True, capture_output=True, text=True).stdout.splitlines()
    complaints = [line for name in names if not SKIPPED.search(name) for line in found(name)]
    print(*complaints, sep="\n", end="\n" if complaints else "")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
