# Two commands do everything on a fresh machine: `make demo` and `make test`. The rest is for working on a part.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
ENV := $(PYTHON) tools/env.py
# Wheels of this machine's own index options stay untouched; the environments only lead PATH.
ansible = $(shell $(ENV) ansible)/bin
lint = $(shell $(ENV) lint)/bin
ARTIFACTS := .cache/artifacts

.PHONY: help link data docs format lint unit sanity galaxy artifacts molecule molecule-219 test test-real demo demo-clean bench clean

help:  ## this list
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | column -t -s "$$(printf '\t')"

link:  ## make the checkout usable as the collection ascend.fleet
	@mkdir -p .collections/ansible_collections/ascend
	@ln -sfn ../../.. .collections/ansible_collections/ascend/fleet

data: link  ## regenerate what is made from data/ (JSON for the controller, tables for the nodes)
	$(ansible)/python tools/make_data.py

docs: link  ## regenerate the tables in the READMEs
	$(ansible)/python tools/make_docs.py

format:  ## format the Python code
	$(lint)/ruff check --fix . && $(lint)/ruff format .

lint unit sanity: link  ## one group of gates
	FLEET_GATES=$@ $(ansible)/python -m pytest -q -rs -p no:cacheprovider tests/gates

galaxy: link  ## build the tarball, import it, install it and use it
	FLEET_GATES=galaxy,install $(ansible)/python -m pytest -q -rs -p no:cacheprovider tests/gates

artifacts: link  ## make the packages, wheels, sources and the conda channel of the demo and the tests
	$(ansible)/python molecule/shared/artifacts/build.py --out $(ARTIFACTS)

molecule: artifacts  ## every scenario; one: make molecule SCENARIO=cann
	PATH="$(ansible):$$PATH" $(ansible)/python tools/molecule.py $(SCENARIO)

test: link  ## every gate; the closing line counts them
	@$(ansible)/python -m pytest -v -rs -p no:cacheprovider tests/gates

test-real: artifacts  ## real torch, torch_npu, vLLM and vllm-ascend on one node (opt-in: minutes and gigabytes)
	$(ansible)/python -m pytest -v -rs -p no:cacheprovider tests/real

demo: artifacts  ## boot three simulated nodes and take them to an answered request, twice
	$(ansible)/python tools/demo.py

demo-clean:  ## remove everything that the demo left
	$(ansible)/python tools/demo.py --clean

bench: artifacts  ## what a run over a converged fleet costs
	$(ansible)/python tests/bench/bench.py

clean: demo-clean  ## remove every environment, cache and artifact too
	rm -rf .cache .collections
