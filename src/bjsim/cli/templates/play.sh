#!/usr/bin/env bash
# Plays the contest anew, with other cards, and writes its page into site/.
set -euo pipefail
cd "$(dirname "$0")/.."
rm -rf site
bjsim koth play --config contest.toml --workers 2 --out site
