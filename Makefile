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
TF215 := .venv-tf215
# What is fetched is asked for again when an index or a mirror did not answer.
FETCH := sh scripts/retry.sh
PYTEST ?= $(BIN)/python -m pytest
# Processes that run tests side by side; most of their time is waiting.
WORKERS ?= 5
FAST := -m "not slow and not chaos and not fuzz and not engines and not browser and not second_database and not frameworks"

.PHONY: setup lock demo docs wheel webui check-webui chromium test test-browser check lint types imports bench test-chaos test-engines test-slow test-postgres test-gpu test-frameworks test-frameworks-fast fuzz official engines services docker frameworks clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt requirements-dev.txt
	@PYTHON=$(PYTHON) $(FETCH) sh scripts/setup_venv.sh $(VENV)
	@touch $(STAMP)

# What `make setup` installs, with the hash of every file, from the pins of constraints.txt. Torch is left out: its CPU
# build and the index's are different files of one version.
lock: setup
	$(BIN)/uv pip compile -q --system-certs --generate-hashes --no-annotate --no-header --python-version 3.11.0 \
		-c constraints.txt --extra dev --no-emit-package torch --no-emit-package redetermined pyproject.toml -o requirements-dev.txt
	$(BIN)/uv pip compile -q --system-certs --generate-hashes --no-annotate --no-header --python-version 3.11.0 \
		scripts/guide/requirements.in -o requirements-docs.txt
	$(BIN)/uv pip compile -q --system-certs --generate-hashes --no-annotate --no-header --python-version 3.11.0 \
		-c constraints.txt scripts/build_requirements.in -o requirements-build.txt

# Without a network for npm the demo still runs; its address then shows a plain page.
demo: setup
	-@$(PYTHON) webui/build.py --if-needed
	$(BIN)/python scripts/demo.py

# The web page, into webui/dist; a Node that is new enough comes from PyPI where there is none.
webui:
	npm_config_fetch_retries=5 $(PYTHON) webui/build.py --if-needed

# The documentation site, into build/guide; a warning of the generator is an error. It has an environment of its own.
docs:
	@PYTHON=$(PYTHON) $(PYTHON) scripts/guide/build.py --if-needed

# The wheel and the source distribution, with the web page and the documentation, into dist/.
wheel: webui docs
	@$(FETCH) sh scripts/build_wheel.sh dist

# Types, style, unit tests and sizes of the page.
check-webui: webui
	cd webui && for step in types lint test size; do sh node.sh npm run -s $$step || exit 1; done

# The distribution's Chromium (as root; elsewhere its tests are skipped when there is none).
chromium:
	@if [ "$$(id -u)" = 0 ]; then $(FETCH) sh scripts/install_chromium.sh; fi

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
	@PYTHON=$(PYTHON) $(FETCH) sh scripts/setup_official.sh $(OFFICIAL)
	@touch $(OFFICIAL)/.stamp

# A Ray of its own environment, and Slurm's daemons from the distribution (as root; elsewhere its tests are skipped).
engines: $(RAY)/.stamp
	@if [ "$$(id -u)" = 0 ]; then $(FETCH) sh scripts/install_slurm.sh; fi

# PostgreSQL and OpenSSH, likewise; the tests start servers of their own.
services:
	@if [ "$$(id -u)" = 0 ]; then $(FETCH) sh scripts/install_postgres.sh && $(FETCH) sh scripts/install_ssh.sh; fi

# The distribution's Docker, likewise; the tests start a daemon of their own.
docker:
	@if [ "$$(id -u)" = 0 ]; then $(FETCH) sh scripts/install_docker.sh; fi

$(RAY)/.stamp: pyproject.toml scripts/install_ray.sh
	@PYTHON=$(PYTHON) $(FETCH) sh scripts/install_ray.sh $(RAY)
	@touch $(RAY)/.stamp

# Every framework of the compatibility table, in today's releases and in the last TensorFlow with Keras 2: gigabytes.
frameworks: $(FRAMEWORKS)/.stamp $(TF215)/.stamp

$(FRAMEWORKS)/.stamp: scripts/install_frameworks.sh
	@PYTHON=$(PYTHON) $(FETCH) sh scripts/install_frameworks.sh $(FRAMEWORKS)
	@touch $@

$(TF215)/.stamp: scripts/install_frameworks.sh
	@PYTHON=$(PYTHON) $(FETCH) sh scripts/install_frameworks.sh $(TF215) tf215
	@touch $@

# Files run in parallel, those of real clusters first: most of their time is waiting, which the others fill. `check` has
# run the architecture tests. What comes before is made and checked side by side, the output of each in one piece.
test:
	@$(MAKE) --no-print-directory -j 3 --output-sync=target official engines chromium services docs check check-webui
	DET_TEST_OFFICIAL=$(CURDIR)/$(OFFICIAL) $(PYTEST) -q -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(FAST) \
		--ignore tests/architecture tests

# Every page, journey, theme and width in a real browser; `make test` has a smoke of it.
test-browser: setup chromium webui
	$(PYTEST) -q tests/browser

test-chaos: setup
	$(PYTEST) -q -m "chaos" tests

# Real Ray and Slurm clusters, Docker, frameworks that take long to start: what `make test` has only a fast subset of.
test-engines: setup engines docker frameworks
	@sh scripts/compile_deepspeed.sh $(FRAMEWORKS)
	$(PYTEST) -q -m "engines" tests

# Examples in full, as their READMEs say: many trainings, minutes each.
test-slow: setup
	$(PYTEST) -q -m "slow" tests

# Everything of tests/integration that `make test` runs on SQLite alone.
test-postgres: setup
	$(PYTEST) -q -n 3 --dist loadfile -m "second_database and not chaos" tests/integration

# Every row of docs/frameworks.md, whose table this writes, and the tests that need a framework, in its environment.
test-frameworks: setup frameworks
	$(PYTEST) -q -m "frameworks" --write-table tests/frameworks
	$(PYTEST) -q -m "frameworks" tests/contract/training_apis
	sh scripts/test_framework_units.sh $(FRAMEWORKS) $(TF215)

# One row of each framework. Most of the time goes into importing them, by one core each.
test-frameworks-fast: setup
	$(MAKE) -j 2 frameworks
	$(PYTEST) -q -n 2 --dist load -m "frameworks_fast" tests/frameworks

test-gpu: setup
	$(PYTHON) tests/gpu/check_gpu.py
	$(PYTHON) tests/gpu/check_train_loop.py
	$(PYTHON) tests/gpu/check_metrics.py
	$(PYTHON) tests/gpu/check_saves.py
	$(PYTHON) tests/gpu/check_deepspeed.py

fuzz: setup
	sh scripts/fuzz.sh $(VENV)

bench: setup
	$(BIN)/python benchmarks/run_all.py

clean:
	rm -rf $(VENV) $(OFFICIAL) $(RAY) $(FRAMEWORKS) $(TF215) .venv-docs .venv-mlflow .pytest_cache .mypy_cache .ruff_cache dist build
