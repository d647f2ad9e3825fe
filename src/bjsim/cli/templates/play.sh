#!/usr/bin/env bash
# Brings the contest in hill/ up to date with the folder bots, and writes what may be published into site/. The first
# time it begins the contest. Old results stay: bots that are new or have changed play their matches from the same shoes.
#   ci/play.sh
#   CLOSE=true ci/play.sh   ends the contest for good; the page then shows the seed
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -e hill/journal.jsonl ]; then
    bjsim koth sync hill bots --workers 2
else
    bjsim koth play --config contest.toml --workers 2 --out hill
fi
if [ "${CLOSE:-}" = true ]; then
    bjsim koth close hill
fi
rm -rf site
mkdir site
cp -r hill/index.html hill/pages hill/standings.csv hill/standings.json site
if grep -q 'href="journal.jsonl"' site/index.html; then # otherwise it is secret: it has the seed of all cards
    cp hill/journal.jsonl site
fi
