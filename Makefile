# Everything a newcomer and a contributor needs. `make setup` builds .venv; every other target does it first if needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export UV_FIND_LINKS ?= $(PIP_FIND_LINKS)
unexport PYTHONDONTWRITEBYTECODE
STAMP := $(VENV)/.stamp
OFFICIAL := .venv-official
RAY := .venv-ray
FRAMEWORKS := .venv-frameworks
PYTEST ?= $(BIN)/python -m pytest
FAST := -m "not slow and not chaos and not fuzz and not engines and not browser and not second_database"

.PHONY: setup demo webui check-webui chromium test test-browser check lint types imports bench test-chaos test-engines test-slow test-postgres test-gpu fuzz official engines frameworks clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@PYTHON=$(PYTHON) sh scripts/setup_venv.sh $(VENV)
	@touch $(STAMP)

# Without a network for npm the demo still runs; its address then shows a plain page.
demo: setup
	-@$(PYTHON) webui/build.py --if-needed
	$(BIN)/python scripts/demo.py

# The web page, into webui/dist; a Node that is new enough comes from PyPI where there is none.
webui:
	$(PYTHON) webui/build.py --if-needed

# Types, style, unit tests and sizes of the page.
check-webui: webui
	cd webui && for step in types lint test size; do sh node.sh npm run -s $$step || exit 1; done

# The distribution's Chromium (as root; elsewhere its tests are skipped when there is none).
chromium:
	@if [ "$$(id -u)" = 0 ]; then sh scripts/install_chromium.sh; fi

check: setup lint types imports
	$(PYTEST) -q tests/architecture

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

imports: setup
	$(BIN)/lint-imports

official: $(OFFICIAL)/.stamp

$(OFFICIAL)/.stamp:
	@PYTHON=$(PYTHON) sh scripts/setup_official.sh $(OFFICIAL)
	@touch $(OFFICIAL)/.stamp

# A Ray of its own environment, and Slurm's daemons from the distribution (as root; elsewhere its tests are skipped).
engines: $(RAY)/.stamp
	@if [ "$$(id -u)" = 0 ]; then sh scripts/install_slurm.sh; fi

$(RAY)/.stamp: pyproject.toml scripts/install_ray.sh
	@PYTHON=$(PYTHON) sh scripts/install_ray.sh $(RAY)
	@touch $(RAY)/.stamp

# TensorFlow and DeepSpeed, for the launchers' own tests: gigabytes, and a compilation of minutes.
frameworks: $(FRAMEWORKS)/.stamp

$(FRAMEWORKS)/.stamp: scripts/install_frameworks.sh
	@PYTHON=$(PYTHON) sh scripts/install_frameworks.sh $(FRAMEWORKS)
	@touch $(FRAMEWORKS)/.stamp

# Files run in parallel, those of real clusters first: most of their time is waiting, which the others fill. The survival
# suite runs alone, for it holds a time limit; `check` has run the architecture tests. What comes before is made and
# checked side by side, the output of each in one piece.
test:
	@$(MAKE) --no-print-directory -j 3 --output-sync=target official engines chromium check check-webui
	DET_TEST_OFFICIAL=$(CURDIR)/$(OFFICIAL) $(PYTEST) -q -n 5 --dist loadfile --no-loadscope-reorder $(FAST) \
		--ignore tests/e2e/test_survival.py --ignore tests/architecture tests
	$(PYTEST) -q $(FAST) tests/e2e/test_survival.py

# Every page, journey, theme and width in a real browser; `make test` has a smoke of it.
test-browser: setup chromium webui
	$(PYTEST) -q tests/browser

test-chaos: setup
	$(PYTEST) -q -m "chaos" tests

# Real Ray and Slurm clusters, frameworks that take long to start: what `make test` has only a fast subset of.
test-engines: setup engines frameworks
	$(PYTEST) -q -m "engines" tests

# Examples in full, as their READMEs say: many trainings, minutes each.
test-slow: setup
	$(PYTEST) -q -m "slow" tests

# Everything of tests/integration that `make test` runs on SQLite alone.
test-postgres: setup
	$(PYTEST) -q -n 3 --dist loadfile -m "second_database and not chaos" tests/integration

test-gpu: setup
	$(PYTHON) tests/gpu/check_gpu.py
	$(PYTHON) tests/gpu/check_train_loop.py
	$(PYTHON) tests/gpu/check_metrics.py

fuzz: setup
	sh scripts/fuzz.sh $(VENV)

bench: setup
	$(BIN)/python benchmarks/run_all.py

clean:
	rm -rf $(VENV) $(OFFICIAL) $(RAY) $(FRAMEWORKS) .pytest_cache .mypy_cache .ruff_cache dist build
