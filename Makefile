# Cukassza: `make` lists the targets. Needs Python 3.11 to 3.14 and nothing else: PostgreSQL and Valkey come from wheels,
# unless DATABASE_URL and REDIS_URL name real servers. Works with what macOS has: GNU make 3.81 (which does not know
# .SHELLFLAGS, so nothing relies on it), bash 3.2, BSD tools.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-builtin-rules --no-print-directory
# A demo or a test run starts many Pythons: each would compile every module anew where none may keep what it compiled.
unexport PYTHONDONTWRITEBYTECODE
.DEFAULT_GOAL := help
.PHONY: help venv demo run test slow long browser faults ha image compatibility pooler runbooks restore-drill check pages messages examples catalogue client verifier shots sbom audit wheels bench growth load soak books lock down clean

VENV := .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.installed
# A Python that really runs and can make environments: shims of version managers may stand in front and not work with
# another HOME, and Debian's has no ensurepip without python3-venv.
PYTHONS := 3.11 3.12 3.13 3.14
SUITABLE := import sys, ensurepip; sys.exit("%d.%d" % sys.version_info[:2] not in sys.argv[1:])
PYTHON ?= $(shell for name in $(PYTHONS:%=python%) python3; do \
	for p in "$$name" /usr/bin/$$name /usr/local/bin/$$name /opt/homebrew/bin/$$name; do \
	"$$p" -c '$(SUITABLE)' $(PYTHONS) >/dev/null 2>&1 && { echo "$$p"; exit; }; done; done)
# The addresses of the services, for commands that load the settings; `up` also starts what is not running.
ENV := exports="$$($(PY) -m deploy.embedded env)" && eval "$$exports"
UP := $(PY) -m deploy.embedded up >/dev/null && $(ENV)

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

venv: $(STAMP) ## create .venv with the locked, hash-checked requirements

$(STAMP): requirements.lock
	@[ -n "$(PYTHON)" ] || { echo "make: no Python of $(PYTHONS) with venv and pip was found; name one with" \
		"PYTHON=/path/to/python3" >&2; exit 2; }
	@echo "installing the locked requirements into $(VENV) (once, about a minute)" >&2
	@$(PY) -c '' 2>/dev/null || "$(PYTHON)" -m venv --clear $(VENV)
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-input $(PIP_CACHE) \
		--require-hashes --no-deps -r requirements.lock
	@touch $@
# pip complains about a cache folder that it cannot write.
PIP_CACHE = $(shell [ -n "$$HOME" ] && [ -w "$$HOME" ] || echo --no-cache-dir)

demo: $(STAMP) ## play the recorded evening over HTTP (EVENING=file for another one)
	@$(PY) -m deploy.demo $(if $(EVENING),"$(EVENING)")

run: $(STAMP) ## run the newest house, NEW=1 a new one: web, worker and beat, until Ctrl-C
	@$(PY) -m deploy.demo --serve $(if $(NEW),--new)

test: $(STAMP) ## run the tests on a real PostgreSQL and Valkey, but for the slow ones (ARGS=... for pytest)
	@$(PY) -m pytest $(or $(ARGS),-n 2 --dist worksteal -m "not slow")

slow: $(STAMP) ## run the slow tests: screens in a real Chromium, servers that are killed, whole houses
	@$(PY) -m pytest -n 2 --dist worksteal -m "slow and not long"

long: $(STAMP) ## run what goes on for long: hands under kill -9 and FLUSHALL, measurements, further cases of many tests
	@$(PY) -m pytest -n 2 --dist worksteal -m long

faults: $(STAMP) ## run every fault under play, and prove what must hold afterwards (ARGS="--only NAME ...", --list, --write)
	@$(PY) -m tests.faults $(ARGS)

ha: $(STAMP) ## kill, freeze and switch over the primary of a cluster under play, and look up all that was acknowledged (ARGS=--unsynchronised)
	@$(PY) -m tests.ha $(ARGS)

image: $(STAMP) ## build the image and run a house of it as compose.yaml says (needs root, debootstrap, buildah, the network)
	@$(PY) -m tests.images $(ARGS)

compatibility: $(STAMP) ## run the code of the release before on the schema of this one: it starts, plays, settles and verifies
	@$(PY) -m pytest -q -m slow $(or $(ARGS),tests/upgrade/test_compatibility.py)

pooler: $(STAMP) ## play an evening through pgbouncer, which is killed, frozen and paused, and look up all that was acknowledged
	@$(PY) -m tests.pooled $(ARGS)

runbooks: $(STAMP) ## let go wrong under play what docs/how-to/runbooks.md has commands for, and run them (ARGS="--only HEADING ...")
	@$(PY) -m tests.runbooks $(ARGS)

restore-drill: $(STAMP) ## back up an evening under play, kill its database, restore it at a random second as the page says (ARGS="--seed N --keep")
	@$(PY) -m tests.drill $(ARGS)

browser: $(STAMP) ## run the tests of the screens in a real Chromium, unpacked without root where none is installed
	@$(PY) -m pytest -q -m slow $(or $(ARGS),tests/browser)

check: $(STAMP) ## lint, format, types, import contracts, missing migrations and harmful ones, generated pages, messages
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(ENV) && $(PY) -m mypy
	@$(VENV)/bin/lint-imports
	@$(UP) && $(PY) manage.py makemigrations --check --dry-run
	@$(ENV) && $(PY) manage.py migrations
	@$(ENV) && $(PY) manage.py pages --check
	@$(ENV) && $(PY) manage.py messages --check

pages: $(STAMP) ## write the generated pages of docs/reference
	@$(ENV) && $(PY) manage.py pages --write

messages: $(STAMP) ## write the catalogues of messages and compile them; what is not translated yet is printed
	@$(ENV) && $(PY) manage.py messages --write

examples: $(STAMP) ## play the evening of the API's examples, and write them to casino/api/http/examples.json
	@EXAMPLES=write $(PY) -m pytest -q tests/casino/api/test_examples.py

catalogue: $(STAMP) ## declare every object of the database as the migrations make it, after a change of them
	@CATALOGUE=write $(PY) -m pytest -q tests/casino/verification/test_catalogue.py -k as_declared

client: $(STAMP) ## make the Python package for programs that speak to a house, and print its wheel: var/client
	@$(ENV) && $(PY) -m deploy.client var/client

verifier: $(STAMP) ## build verify.pyz, the program that verifies exports by itself, and print its SHA-256
	@$(PY) -m casino.audit.zipapp verify.pyz

shots: $(STAMP) ## make pictures of an evening's papers and of every screen: var/shots, and those of docs/shots
	@$(PY) -m pytest -q -m "slow or not slow" $(or $(ARGS),tests/shots/documents.py tests/shots/screens.py)

sbom: $(STAMP) ## write what an installation is made of, with hashes and licences (CycloneDX): var/sbom.cdx.json (needs the network)
	@$(PY) -m tests.deploy.supply sbom var/sbom.cdx.json

audit: $(STAMP) ## ask OSV for known weaknesses of every locked version (needs the network)
	@$(PY) -m tests.deploy.supply audit

wheels: $(STAMP) ## ask the package index for the locked wheels of every Python and machine (needs the network)
	@$(PY) -m tests.deploy.wheels

bench: $(STAMP) ## measure (ARGS=engine, ledger, application, proof, http, live, screens, founding, reports or profile for a part)
	@$(PY) -m tests.bench $(ARGS)

growth: $(STAMP) ## fill houses of a month, a year and five years, and measure what each request costs in them (ARGS="--days 1 30 --hands 20 ...")
	@$(PY) -m tests.bench.growth $(ARGS)

load: $(STAMP) ## play 64 tables at once, in a closed and an open loop: hands/s, latencies, CPU by part (ARGS="--tables 8 ...")
	@$(PY) -m tests.load $(ARGS)

soak: $(STAMP) ## a million random hands of each game, deep counts, 10,000 lost connections (ARGS=... for tests.soak)
	@$(PY) -m tests.soak $(ARGS)
	@$(PY) -m tests.soak.zsiros
	@$(PY) -m tests.soak.barbu
	@$(PY) -m tests.soak.tricks
	@$(PY) -m tests.soak.shedding
	@$(PY) -m tests.soak.models
	@CRASHES=10000 $(PY) -m pytest -q -n 2 tests/faults/test_crashes.py

books: $(STAMP) ## a million entries exported and checked by beancount and hledger, long lives of random books
	@$(PY) -m tests.soak.exports --check
	@LEDGER_EXAMPLES=1000 LEDGER_CROWDS=30 $(PY) -m pytest tests/ledger/test_machine.py tests/ledger/test_crowd.py -q

lock: $(STAMP) ## write the locks anew, Patroni's too, for every Python and machine (UPGRADE=1: with the newest versions)
	@$(LOCK) pyproject.toml --all-extras -o requirements.lock
	@$(LOCK) pyproject.toml --no-annotate -c requirements.lock -o deploy/requirements.lock
	@$(LOCK) pyproject.toml --extra telemetry --no-annotate -c requirements.lock -o deploy/requirements-telemetry.lock
	@$(LOCK) deploy/patroni/requirements.in -o deploy/patroni/requirements.lock
LOCK = $(PY) -m uv pip compile --generate-hashes --universal --python-version $(firstword $(PYTHONS)) \
	--no-header --no-emit-index-url --no-emit-find-links --quiet $(if $(UPGRADE),--upgrade)

down: ## stop the embedded services
	@[ ! -x $(PY) ] || $(PY) -m deploy.embedded down

clean: ## stop the services; remove their data, the environment and all caches
	@[ ! -x $(PY) ] || $(PY) -m deploy.embedded remove
	@rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
