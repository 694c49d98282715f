# make bench: set up and do the main job; make test: set up and run all tests.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
SUITE ?= suites/default.yaml
PYTEST_OPTIONS ?= --numprocesses auto --maxprocesses 4 --dist loadscope

.PHONY: bench test lint docs-check clean

bench: $(READY)
	$(BIN)/dyno detect
	$(BIN)/dyno run $(SUITE) --quick
	$(BIN)/dyno report summary --format html,md,pdf,json --output report

test: $(READY)
	$(BIN)/python -m pytest $(PYTEST_OPTIONS)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs-check: $(READY)
	$(BIN)/python -m pytest tests/docs

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[cpu,cuda,server,serving,training,dev]'
	touch $@
