#!/usr/bin/env bash
# Checks the bots in which the last commit differs from a branch, then plays them against two players of bjsim.
#   ci/check.sh BASE        such as main, or origin/main in a workflow
set -euo pipefail
cd "$(dirname "$0")/.."
base=${1:?usage: ci/check.sh BASE}

declare -A changed=()
while IFS= read -r -d '' file; do
    name=${file#bots/}
    bot=bots/${name%%/*} # the file, or the folder that it is in
    if [ -e "$bot" ]; then
        changed[$bot]=1
    fi
done < <(git diff --name-only -z "$base...HEAD" -- bots)

if [ ${#changed[@]} = 0 ]; then
    echo "no bot has changed since $base"
    exit 0
fi
failed=0
for bot in "${!changed[@]}"; do
    bjsim bot check "$bot" --config contest.toml --sandbox required || failed=1
done
if [ $failed = 1 ]; then
    echo "a bot has failed its check" >&2
    exit 1
fi
rm -rf check-site
bjsim koth play --config contest.toml --matches 4 --out check-site "${!changed[@]}" lim17 optimal
