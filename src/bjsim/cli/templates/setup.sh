#!/usr/bin/env bash
# Prepares a machine of the forge: a fresh Ubuntu or Debian with Python.
set -euo pipefail
cd "$(dirname "$0")/.."

# Add what `bjsim doctor bots` asks for, such as sbcl or default-jdk-headless.
sudo apt-get update -qq
sudo apt-get install -qq -y bubblewrap gcc g++ >/dev/null
# Ubuntu 24.04 forbids the sandbox its namespaces otherwise; other systems do not have this setting.
sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 || true
python3 -m pip install --quiet @BJSIM@
bjsim doctor bots
