# SPDX-License-Identifier: Apache-2.0
# The verbs of a developer; `make` lists them. Each sets up what it needs and is quick the second time.
SHELL := /bin/bash
PYTHON_IN_VENV := .venv/bin/python
BACKEND ?= cpu
# Two workers keep a small machine busy without starving the kernels that the tests time.
TEST_WORKERS ?= 2
PYTEST_ARGS ?=
# Arguments of tools/upstream_triton_tests.py.
UPSTREAM_ARGS ?=
LIGER_VERSION ?= 0.8.5
# Options of bench-runner run, for example --executor local.
DEMO_ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help setup demo test gate gate-baseline test-cpp test-triton-versions test-inventory-real test-upstream test-liger docker lint format clean

help: ## List the verbs
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

setup: ## Make .venv for BACKEND (default cpu)
	@./setup.sh $(BACKEND)

demo: ## Set up and judge the example candidates on the CPU
	@./setup.sh cpu
	@bash examples/demo.sh $(DEMO_ARGS)

test: lint gate ## Set up, lint, gate and run every test (BENCH_REQUIRE_DOCKER=1: no engine is an error)
	@$(PYTHON_IN_VENV) -m pytest tests -n $(TEST_WORKERS) $(PYTEST_ARGS)
	@$(MAKE) --no-print-directory test-cpp test-triton-versions

gate: ## Has the accuracy suite lost a test, a variant or a mark that nobody approved?
	@./setup.sh cpu
	@bash scripts/gate.sh

gate-baseline: ## Hold the next changes against the accuracy suite as it is now
	@./setup.sh cpu
	@bash scripts/gate.sh baseline

test-cpp: ## Build the C++ operators for the CPU and run their tests
	@bash scripts/test_cpp.sh -n $(TEST_WORKERS) $(PYTEST_ARGS)

test-triton-versions: ## Run the tests of kernels on the oldest and the newest Triton
	@./setup.sh cpu
	@$(PYTHON_IN_VENV) tools/triton_versions.py -n $(TEST_WORKERS) $(PYTEST_ARGS)

test-upstream: ## Run upstream Triton's own tests on the CPU (an hour; UPSTREAM_ARGS: files, --repository DIR, ...)
	@./setup.sh cpu
	@$(PYTHON_IN_VENV) tools/upstream_triton_tests.py -n $(TEST_WORKERS) --limit 120 $(UPSTREAM_ARGS)

test-liger: ## Run Liger-Kernel's operators, forward and backward, on the CPU (installs its wheel in .venv/liger)
	@./setup.sh cpu
	@$(PYTHON_IN_VENV) -m pip install --quiet --no-deps --upgrade --target .venv/liger liger-kernel==$(LIGER_VERSION)
	@PYTHONPATH=.venv/liger $(PYTHON_IN_VENV) -m pytest tests/integration/triton_cpu/test_liger.py $(PYTEST_ARGS)

test-inventory-real: ## Hold the inventory against PyTorch's own files (fetches 6.5 GB once; half an hour)
	@./setup.sh cpu
	@bash scripts/inventory_real.sh
	@BENCH_INVENTORY_REAL_TESTS=1 $(PYTHON_IN_VENV) -m pytest tests/integration/inventory $(PYTEST_ARGS)

docker: ## Bring up a Docker engine and build the CPU image
	@./setup.sh cpu
	@bash scripts/docker.sh

lint: ## Set up and check style and types
	@./setup.sh cpu
	@$(PYTHON_IN_VENV) -m ruff check .
	@$(PYTHON_IN_VENV) -m ruff format --check .
	@$(PYTHON_IN_VENV) -m mypy

format: ## Set up and rewrite the sources in the project's style
	@./setup.sh cpu
	@$(PYTHON_IN_VENV) -m ruff check --fix .
	@$(PYTHON_IN_VENV) -m ruff format .

clean: ## Remove the environment and every cache; runs/ stays
	@rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist cpp/build *.egg-info
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
