# One door to everything: `make` lists the targets. Each works from a fresh clone with python3 (3.11 to 3.14), make and git.

PYTHON ?=
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.stamp
CORE := $(VENV)/.core
SERVERS := $(VENV)/.servers
QUIET := sh tools/quiet.sh
WORKERS ?= 2

# Not `mkdocs --quiet`: it drops the warnings before --strict can count them.
# The documentation theme prints a notice about its own future on every build.
export NO_MKDOCS_2_WARNING := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-slow test-all checks fast-tests studio bench bench-peers zoo reproduce docs pictures translations format lint types lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP) ## create .venv with everything in requirements.lock and the project itself

$(STAMP): pyproject.toml requirements.lock
	@PYTHON="$(PYTHON)" sh tools/bootstrap.sh $(VENV) dev
	@touch $(CORE) $(SERVERS) $@

$(SERVERS): pyproject.toml requirements.lock
	@PYTHON="$(PYTHON)" sh tools/bootstrap.sh $(VENV) servers
	@touch $(CORE) $@

$(CORE): pyproject.toml requirements.lock
	@PYTHON="$(PYTHON)" sh tools/bootstrap.sh $(VENV) core
	@touch $@

demo: $(CORE) ## protect sample data, attack it, measure both and write a report into demo/
	@$(BIN)/noren demo --out demo

test: setup ## format, lint, types and the fast tests: run it before every commit
	@$(MAKE) --no-print-directory --jobs 2 --output-sync checks fast-tests

test-slow: setup ## the slow tests, and every property on more examples
	@sh tools/test.sh slow $(WORKERS)

test-all: checks ## format, lint, types and all tests, with coverage
	@sh tools/test.sh all $(WORKERS)

checks: setup
	@$(QUIET) "ruff format" $(BIN)/ruff format --check .
	@$(QUIET) "ruff check" $(BIN)/ruff check .
	@$(QUIET) prose $(BIN)/python tools/prose.py
	@$(QUIET) mypy $(BIN)/mypy

fast-tests: setup
	@sh tools/test.sh fast $(WORKERS)

studio: $(SERVERS) ## open the web workbench on this machine
	@$(BIN)/noren studio

bench: setup ## run every benchmarks/bench_*.py, one after another
	@set -e; for script in $(filter-out benchmarks/bench_peers.py,$(wildcard benchmarks/bench_*.py)); do \
	  [ -e "$$script" ] || { echo "there are no benchmarks yet; see CHANGELOG" >&2; exit 2; }; \
	  echo "== $$script"; $(BIN)/python "$$script"; \
	done

bench-peers: setup ## measure Noren beside its peers, each in a pinned environment of its own
	@$(BIN)/python benchmarks/bench_peers.py

zoo: setup ## bring every file of tests/zoo through every method and step, and print what came of it
	@$(BIN)/python -m tests.zoo --workers $(WORKERS)

reproduce: setup ## set the papers' tables next to ours, in reproduced/ and in docs/results/
	@$(BIN)/noren reproduce all --out reproduced --force
	@$(BIN)/python tools/results_pages.py reproduced docs/results

docs: setup ## build the documentation into site/
	@$(QUIET) "site/index.html" $(BIN)/mkdocs build --strict

pictures: setup ## take the documentation's pictures of the studio anew, into docs/images/
	@$(BIN)/python tools/screenshots.py

translations: setup ## refresh the catalogues under src/noren/locale from the marked text, and compile them
	@$(QUIET) "translations" sh tools/translations.sh

format: setup ## rewrite the code in the house style
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

lint: setup ## check the style of code and prose without changing them
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/python tools/prose.py

types: setup ## check the types
	@$(BIN)/mypy

lock: setup ## write requirements.lock after a change of dependencies (UPGRADE=1 takes the newest of everything)
	@$(BIN)/python -m pip install --quiet --prefer-binary --no-build-isolation \
	  $(if $(UPGRADE),--upgrade --upgrade-strategy eager) --editable '.[dev]'
	@$(BIN)/python tools/lock.py
	@touch $(STAMP)

clean: ## remove what the other targets built (.venv stays)
	@rm -rf build dist site demo reproduced screenshots .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage .coverage.* coverage.xml
	@find src tests tools benchmarks examples docs -name __pycache__ -type d -prune -exec rm -rf {} +
