# Everything a newcomer and a contributor needs. `make setup` builds .venv; every other target does it first if needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export UV_FIND_LINKS ?= $(PIP_FIND_LINKS)
unexport PYTHONDONTWRITEBYTECODE
STAMP := $(VENV)/.stamp
OFFICIAL := .venv-official
PYTEST ?= $(BIN)/python -m pytest
FAST := -m "not slow and not chaos and not fuzz"

.PHONY: setup demo test check lint types imports bench test-chaos test-gpu fuzz official clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@PYTHON=$(PYTHON) sh scripts/setup_venv.sh $(VENV)
	@touch $(STAMP)

demo: setup
	$(BIN)/python scripts/demo.py

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

# Files run in parallel: most of their time is waiting. The survival suite runs alone, for it holds a time limit.
test: setup official check
	DET_TEST_OFFICIAL=$(CURDIR)/$(OFFICIAL) $(PYTEST) -q -n 3 --dist loadfile $(FAST) --ignore tests/e2e/test_survival.py tests
	$(PYTEST) -q $(FAST) tests/e2e/test_survival.py

test-chaos: setup
	$(PYTEST) -q -m "chaos" tests

test-gpu: setup
	$(PYTHON) tests/gpu/check_gpu.py

fuzz: setup
	sh scripts/fuzz.sh $(VENV)

bench: setup
	$(BIN)/python benchmarks/run_all.py

clean:
	rm -rf $(VENV) $(OFFICIAL) .pytest_cache .mypy_cache .ruff_cache dist build
