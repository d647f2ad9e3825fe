#!/usr/bin/env bash
# Comments on the pull request of COMMIT with the standings that its check, the workflow run RUN, has stored.
# Whoever opened it can store anything, so of that file only short names and numbers are taken.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${REPOSITORY:?}" "${RUN:?}" "${COMMIT:?}"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
gh run download "$RUN" --repo "$REPOSITORY" --name page --dir "$folder" || exit 0 # no bot has changed
pulls="repos/$REPOSITORY/pulls?state=open&per_page=100"
number=$(gh api --paginate "$pulls" --jq ".[] | select(.head.sha == \"$COMMIT\") | .number" | head -n 1)
[[ $number =~ ^[0-9]+$ ]] || exit 0
python3 - "$folder/standings.json" >"$folder/answer" <<'PYTHON'
import json, re, sys

with open(sys.argv[1], encoding="utf-8") as file:
    rows = json.loads(file.read(1 << 20))
print("| place | bot | chips per hand, luck-adjusted | faults |\n|---|---|---|---|")
for row in rows[:50]:
    name = re.sub(r"[^A-Za-z0-9 _.-]", "?", str(row["bot"]))[:40]
    first, last = row["rank_range"] or (0, 0)
    place = "–" if row["rank"] is None else f"{int(row['rank'])} ({int(first)} to {int(last)} are open)"
    per_hand = "–" if row["luck_adjusted"] is None else f"{float(row['luck_adjusted']):+.3f}"
    print(f"| {place} | `{name}` | {per_hand} | {sum(int(count) for count in row['faults'].values())} |")
print("\nA short contest on the forge; the place in the real one is on its page after the merge.")
PYTHON
gh pr comment "$number" --repo "$REPOSITORY" --body-file "$folder/answer"
