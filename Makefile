# Every target sets up its own environment when needed: with uv where present, else with python3 -m venv and pip.
#   make demo    simulate, check and plot the spatial slider-crank, compare six methods      make test    all tests
#   make test-fast   the tests that are not slow                       make bench   timings beside the peers, diagrams
#   make check   ruff, mypy --strict, import-linter                make bench-quick   the main timings, in two minutes
#   make engine  the compiled entries as libraries, for runs without Numba (docs/engine.md)
#   make docs    the documentation site, build/docs/index.html     make release   source distribution and wheel in dist/, checked

PYTHON       ?= python3
PYTEST_FLAGS ?=
VENV         := .venv
PEERS        := .venv-peers
SITE         := .venv-docs
UV           := $(shell command -v uv 2>/dev/null)
CONSTRAINTS  := .ci/constraints.txt
EVERYTHING   := -e '.[dev,viz,io,engine,fmu,gym,usd,mcap,rerun]'
FOR_SITE     := -e '.[docs,viz,io]'

# `environment FOLDER,REQUIREMENT`: build packages (hatchling) are held to the same constraints.
ifneq ($(UV),)
environment = $(UV) venv --quiet --clear --python $(PYTHON) $(1) && \
              $(UV) pip install --quiet --python $(1)/bin/python -c $(CONSTRAINTS) -b $(CONSTRAINTS) $(2)
else
environment = $(PYTHON) -m venv --clear $(1) && \
              PIP_CONSTRAINT=$(CONSTRAINTS) $(1)/bin/python -m pip install --quiet --disable-pip-version-check $(2)
endif

.PHONY: demo engine test test-fast check bench bench-quick docs release format clean

demo: $(VENV)/.stamp
	$(VENV)/bin/haugmbd demo

# Minutes of compilation; afterwards `make release` puts the engine into a wheel for this machine. ENGINE=fmu makes the binaries of FMUs, ENGINE=all every library.
engine: $(VENV)/.stamp
	$(VENV)/bin/python -m haugmbd.engine_build.build $(ENGINE)

test: $(VENV)/.stamp
	$(VENV)/bin/python -m pytest $(PYTEST_FLAGS)

test-fast: $(VENV)/.stamp
	$(VENV)/bin/python -m pytest -m "not slow" $(PYTEST_FLAGS)

check: $(VENV)/.stamp
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

bench: $(PEERS)/.stamp
	$(PEERS)/bin/python -m tests.benchmarks

bench-quick: $(PEERS)/.stamp
	$(PEERS)/bin/python -m tests.benchmarks --quick

# Built without a network once the environment is there; every warning is an error.
docs: $(SITE)/.stamp
	$(SITE)/bin/python -m pytest tests/reference -m published -q -p no:cacheprovider -o junit_family=xunit1 --junitxml=build/published.xml
	$(SITE)/bin/python -m sphinx -W --keep-going -q -b html -d build/doctrees docs build/docs
	@echo "open build/docs/index.html"

# What is left to a person is said at the end: the upload, with an account of its own.
release: $(VENV)/.stamp
	rm -rf dist
	PIP_CONSTRAINT=$(CONSTRAINTS) $(VENV)/bin/python -m build --outdir dist .
	$(VENV)/bin/python -m twine check --strict dist/*
	$(VENV)/bin/python .ci/check_wheel.py dist
	@echo "dist/ is checked. Left to you: tag the commit, and upload with  $(VENV)/bin/python -m twine upload dist/*"

format: $(VENV)/.stamp
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

clean:
	rm -rf $(VENV) $(PEERS) $(SITE) build dist benchmarks docs/generated .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage htmlcov
	find haugmbd joints tests examples -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.stamp: pyproject.toml $(CONSTRAINTS)
	$(call environment,$(VENV),$(EVERYTHING))
	@touch $@

$(SITE)/.stamp: pyproject.toml $(CONSTRAINTS)
	$(call environment,$(SITE),$(FOR_SITE))
	@touch $@

# A peer without a wheel for this machine is left out; the table then says so.
$(PEERS)/.stamp: pyproject.toml $(CONSTRAINTS)
	$(call environment,$(PEERS),-e '.[viz]')
	for peer in pin mujoco exudyn; do $(call peer,$$peer) || echo "no wheel of $$peer for this machine: left out"; done
	@touch $@

ifneq ($(UV),)
peer = $(UV) pip install --quiet --python $(PEERS)/bin/python -c $(CONSTRAINTS) --only-binary :all: $(1)
else
peer = PIP_CONSTRAINT=$(CONSTRAINTS) $(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: $(1)
endif
