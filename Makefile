# Everything happens in .venv, and an install is repeated only when pyproject.toml changes.
#   make run | test | test-all | test-wheel | release-check | dearest | coverage | snapshots | agreement | gallery | bench | lint | docs | clean

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# A worker for each core, but few: every one of them compiles what it plays. The bots share one.
TESTS  := $(BIN)/pytest -n logical --maxprocesses 4 --dist loadgroup --no-loadscope-reorder
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet

.DELETE_ON_ERROR:
.PHONY: run test test-all test-wheel release-check dearest coverage snapshots agreement gallery bench lint docs clean

run: $(VENV)/.installed
	$(BIN)/bjsim run --bots optimal,lim17 --hands 1e7

# WORDS go to pytest, such as WORDS=tests/sim; so too in other targets.
test: $(VENV)/.installed-test
	$(TESTS) $(WORDS)

test-all: $(VENV)/.installed-test
	$(TESTS) -m "" $(WORDS)

# The fast tests, then the hundred cases that take most processor time; those above a limit become nightly, but for those
# that alone reach a line by the last `make coverage`.
dearest: $(VENV)/.installed-test
	PYTHONPATH=tests $(TESTS) -p nightly $(WORDS)

# The fast tests, and which lines and branches of the package they reach; fails below the floor in pyproject.toml.
coverage: $(VENV)/.installed-test
	$(TESTS) --cov --cov-context=test --cov-report=term --cov-report=html:build/coverage

# The fast tests again on the wheel, where there is no src/.
test-wheel: $(VENV)/.created
	$(BIN)/python .ci/package.py --tests $(WORDS)

# Builds dist/, installs sdist and wheel on every Python of PYTHONS, such as "python3.11 python3.13", and runs them.
release-check: $(VENV)/.created
	$(BIN)/python .ci/release.py check $(PYTHONS)

# Rewrites the texts of help and errors that tests/cli/test_snapshots.py compares; look at the difference with git diff.
snapshots: $(VENV)/.installed-test
	UPDATE_SNAPSHOTS=1 $(BIN)/pytest -q tests/cli/test_snapshots.py

# Computes docs/reference/agreement.md, our values next to all published ones; look at the difference with git diff.
agreement: $(VENV)/.installed
	$(BIN)/python .ci/agreement.py

# Runs the commands of docs/gallery.md, which draw its pictures anew; `make docs` draws those that are missing.
gallery: $(VENV)/.installed-plot
	$(BIN)/python .ci/gallery.py

bench: $(VENV)/.installed-test
	@mkdir -p .benchmarks
	$(BIN)/pytest bench -o python_files='bench_*.py' --benchmark-json=.benchmarks/latest.json
	OPENBLAS_NUM_THREADS=1 $(BIN)/python bench/speed.py

# mypy reads the tests' imports too, so what they need is installed.
lint: $(VENV)/.installed-test $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict
	$(BIN)/mypy tests bench
	$(BIN)/codespell . .ci .github
	$(BIN)/validate-pyproject pyproject.toml
	$(BIN)/python .ci/prose.py

# Tests of accessibility are skipped without it; npm fetches it.
build/axe/package/axe.min.js:
	mkdir -p build/axe
	npm pack --silent --pack-destination build/axe axe-core@4
	tar xzf build/axe/axe-core-4.*.tgz -C build/axe

docs: $(VENV)/.installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

clean:
	rm -rf $(VENV) build dist docs/gallery src/*.egg-info .pytest_cache .hypothesis .benchmarks .mypy_cache .ruff_cache .coverage*
	find . -name .git -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

# The interpreter names its own path, so that a slow launcher script in front of it is not kept in .venv.
$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "bjsim needs Python 3.11 or newer, but '$(PYTHON)' is $$($(PYTHON) --version 2>/dev/null || echo not found);" \
	       "try: make PYTHON=python3.12 …" >&2; exit 1; }
	@"$$($(PYTHON) -c 'import sys; print(sys.executable)')" -m venv --clear $(VENV) || { \
	  echo "'$(PYTHON)' cannot make a virtual environment (on Debian and Ubuntu: apt install python3-venv)" >&2; exit 1; }
	@touch $@

$(VENV)/.installed: $(VENV)/.created pyproject.toml
	$(PIP) install --editable .
	@touch $@

$(VENV)/.installed-%: $(VENV)/.created pyproject.toml
	$(PIP) install --editable '.[$*]'
	@touch $@ $(VENV)/.installed
