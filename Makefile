# Cukassza: `make` lists the targets. Needs Python 3.11 and nothing else: PostgreSQL and Valkey come from wheels,
# unless DATABASE_URL and REDIS_URL name real servers.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-builtin-rules --no-print-directory
.DEFAULT_GOAL := help
.PHONY: help venv demo run test slow check bench soak books lock down clean

VENV := .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.installed
# A python3.11 that really runs: shims of version managers may stand in front and not work with another HOME.
PYTHON ?= $(shell for p in python3.11 /usr/bin/python3.11 /usr/local/bin/python3.11 python3; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' >/dev/null 2>&1 && { echo "$$p"; break; }; done)
# The addresses of the services, for commands that load the settings; `up` also starts what is not running.
ENV := exports="$$($(PY) -m deploy.embedded env)" && eval "$$exports"
UP := $(PY) -m deploy.embedded up >/dev/null && $(ENV)

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-6s %s\n", $$1, $$2 }' Makefile

venv: $(STAMP) ## create .venv with the locked, hash-checked requirements

$(STAMP): requirements.lock
	@[ -n "$(PYTHON)" ] || { echo "make: Python 3.11 was not found; name one with PYTHON=/path/to/python3.11" >&2; exit 2; }
	@echo "installing the locked requirements into $(VENV) (once, about a minute)" >&2
	@[ -x $(PY) ] || "$(PYTHON)" -m venv $(VENV)
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-input $(PIP_CACHE) \
		--require-hashes --no-deps -r requirements.lock
	@touch $@
# pip complains about a cache folder that it cannot write.
PIP_CACHE = $(shell [ -n "$$HOME" ] && [ -w "$$HOME" ] || echo --no-cache-dir)

demo: $(STAMP) ## play the recorded evening over HTTP (EVENING=file for another one)
	@$(PY) -m deploy.demo $(if $(EVENING),"$(EVENING)")

run: $(STAMP) ## run the house: web, worker and beat, until Ctrl-C
	@$(PY) -m deploy.demo --serve

test: $(STAMP) ## run the tests on a real PostgreSQL and Valkey, but for the slow ones (ARGS=... for pytest)
	@$(PY) -m pytest $(or $(ARGS),-n 2 -m "not slow")

slow: $(STAMP) ## run the tests that take long: hands under kill -9 and FLUSHALL, every piece of the ledger's bench
	@$(PY) -m pytest -n 2 -m slow

check: $(STAMP) ## lint, format, types, import contracts, missing migrations
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(ENV) && $(PY) -m mypy
	@$(VENV)/bin/lint-imports
	@$(UP) && $(PY) manage.py makemigrations --check --dry-run

bench: $(STAMP) ## measure (ARGS=engine, ledger, application, proof, http or profile for a part)
	@$(PY) -m tests.bench $(ARGS)

soak: $(STAMP) ## a million random hands of each game and deep counts (ARGS=... for tests.soak)
	@$(PY) -m tests.soak $(ARGS)
	@$(PY) -m tests.soak.zsiros
	@$(PY) -m tests.soak.barbu
	@$(PY) -m tests.soak.tricks
	@$(PY) -m tests.soak.shedding
	@$(PY) -m tests.soak.models

books: $(STAMP) ## a million entries exported and checked by beancount and hledger, long lives of random books
	@$(PY) -m tests.soak.exports --check
	@LEDGER_EXAMPLES=1000 LEDGER_CROWDS=30 $(PY) -m pytest tests/ledger/test_machine.py tests/ledger/test_crowd.py -q

lock: ## write requirements.lock anew (needs uv)
	@uv pip compile pyproject.toml --all-extras --generate-hashes --python-version 3.11 \
		--no-header --no-emit-index-url --no-emit-find-links --quiet -o requirements.lock

down: ## stop the embedded services
	@[ ! -x $(PY) ] || $(PY) -m deploy.embedded down

clean: ## stop the services; remove their data, the environment and all caches
	@[ ! -x $(PY) ] || $(PY) -m deploy.embedded remove
	@rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
