# Every target does its own set-up: a Python 3.11 to 3.14 with venv is all that has to be there.
.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all check format unit others frameworks bench lock clean

PYTHON  ?= python3
PYTHONS := $(PYTHON) scripts/pythons.py
BIN     := .venv/bin
# The machine that this is written for has two cores; more workers than that only disturb the timing tests.
WORKERS ?= 2
UNITS   := $(addprefix tests/,boundary face order player)
PYTEST  := -m pytest -n $(WORKERS)

help:  ## what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

setup:  ## the environment .venv, with everything pinned; done again only when something changed
	@$(PYTHONS) main

demo: setup  ## record, replay offline, diverge: a small agent against a scripted model server; needs no key
	@$(BIN)/playhead demo

test: check unit others  ## check, then all tests on the main Python, then the quick ones on the newest other Python

test-all: export HYPOTHESIS_PROFILE = exploring
test-all: check frameworks  ## check, then all tests on every Python, sweeps included, with examples that are new each time
	$(BIN)/python $(PYTEST)
	@$(PYTHONS) each -- $(PYTEST)

check: setup  ## ruff, mypy strict, import-linter and the rules of the house
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m pytest -q tests/repo

format: setup  ## put the form right
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

unit: setup  ## all tests but the sweeps on the main Python
	$(BIN)/python $(PYTEST) -m "not sweep" --ignore=tests/repo

others: setup  ## the quick unit tests on the newest other Python of this machine
	@$(PYTHONS) newest -- $(PYTEST) -m "not slow and not sweep" $(UNITS)

frameworks:  ## agents of other frameworks, recorded and replayed, in an environment of their own
	@$(PYTHONS) frameworks -- $(PYTEST) tests/frameworks

bench: setup  ## the budgets: ratios to yardsticks measured in the same run
	$(BIN)/python benchmarks

lock: setup  ## resolve the dependencies anew into requirements/dev.txt
	@$(PYTHONS) lock

clean:  ## take away what was built, environments included
	rm -rf .venv .venv-3.* .venv-frameworks build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
