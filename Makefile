# What is typed often. `make` lists it.
.PHONY: help setup serve test unit lint format bench chaos lock sbom
.DEFAULT_GOAL := help

bin := .venv/bin
export_lock := uv export -q --no-header --no-emit-project --format requirements-txt

help: ## show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

setup: ## .venv with everything: extras, tests, linters, benchmarks
	python3 -m venv .venv
	$(bin)/pip install -q --require-hashes -r requirements-dev.lock
	$(bin)/pip install -q --no-deps --no-build-isolation -e .

serve: ## the service on http://127.0.0.1:8000
	$(bin)/ingest serve

test: ## all tests
	$(bin)/pytest -n 4 --dist loadfile

unit: ## tests without a database; a minute
	$(bin)/pytest -n 4 --dist loadfile tests/unit

lint: ## linters, types, import rules
	$(bin)/ruff check .
	$(bin)/ruff format --check .
	$(bin)/mypy
	$(bin)/lint-imports

format: ## fix what the linter can fix, and format
	$(bin)/ruff check --fix .
	$(bin)/ruff format .

bench: ## the benchmarks, without the peers; leave the machine alone meanwhile
	$(bin)/python -m benchmarks --no-peers

chaos: ## three minutes of random faults; longer: make chaos args='--minutes 120'
	$(bin)/python -m tests.chaos $(args)

lock: ## renew both lock files after a change in pyproject.toml (needs uv)
	$(export_lock) --no-dev --group build --extra tracing -o requirements.lock
	$(export_lock) --all-groups --all-extras -o requirements-dev.lock

sbom: ## what an installation consists of, with hashes and licences: dist/sbom.cdx.json (CycloneDX)
	mkdir -p dist
	$(bin)/python -m tests.sbom > dist/sbom.cdx.json
