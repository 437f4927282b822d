# `make` lists the targets. The first two need nothing but Python 3.11 or newer, python3-venv, make.

CORES ?= $(shell nproc 2>/dev/null || echo 2)
EXPERIMENT ?= quickstart
PORT ?= 5000
UV ?= uv

BIN := .venv/bin
# With a Snakefile at the top Snakemake does not find this profile by itself.
SNAKEMAKE = $(BIN)/snakemake --workflow-profile workflow/profiles/default --cores $(CORES)
# A text as one word of the shell.
quoted = '$(subst ','\'',$1)'
# What stands for ~/ at the beginning of a quoted path.
at_home = $(if $(filter ~/%,$(firstword $1)),$(HOME)$(patsubst ~%,%,$1),$1)
# Pages of what `make list` names and is no experiment.
PAGE_all := index.html
PAGE_papers := papers.html
PAGE_recorded := report.html
PAGE_leaderboard := leaderboard.html
PAGE_leaderboard_quick := board_quick.html
PAGE_audit := audit.html
PAGE_shifts_page := shifts.html
PAGE_findings := findings.html
page = $(or $(PAGE_$1),$1/report.html)
# One BLAS thread, as in a job of the workflow: tests that run side by side then do not compete.
PYTEST = OMP_NUM_THREADS=1 $(BIN)/python -m pytest
# What injects faults; of the other folders the files about servers, configurations, data files,
# and about what no data may break in the library.
FAULTS = tests/faults tests/methods/test_properties.py $(addprefix tests/workflow/, \
	storage/test_fetch.py config/test_hostile_config.py loaders/test_hostile_files.py)
# SLURM, a container, a store of files, PostgreSQL, MLflow over HTTP; nothing else beside them, as
# their seconds are told. Of a Debian package that is not installed the tests are skipped.
ENGINES = $(addprefix tests/workflow/, test_slurm.py test_image.py test_engines.py \
	tracking/test_sharing.py tracking/test_server.py)

.DEFAULT_GOAL := help
.PHONY: help benchmark compare list test test-runs slurm-test image-test setup lint bench peers reproduce reference check-reference faults engines campaigns ui report findings resume lock clean manual

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo "  Settings: EXPERIMENT=$(EXPERIMENT) CORES=$(CORES) PORT=$(PORT) PYTHON=python3.12"

benchmark: setup ## Run the quickstart, or the experiment named by EXPERIMENT=
	@$(SNAKEMAKE) $(EXPERIMENT)
	@echo
	@$(foreach name,$(EXPERIMENT),echo "The report:       $(CURDIR)/results/$(call page,$(name))";)
	@echo "All experiments:  $(CURDIR)/results/index.html"
	@echo "In MLflow:        make ui"

compare: setup ## Compare methods on your own files: DATA=folder [LABEL=column] [NAME=name] [OPTIONS=...]
	@test -n $(call quoted,$(DATA)) || { echo "Name a folder of files: make compare DATA=folder LABEL=column" >&2; exit 2; }
	@$(BIN)/domain-alignment compare $(call quoted,$(call at_home,$(DATA))) $(if $(LABEL),--label $(call quoted,$(LABEL))) \
		$(if $(NAME),--name $(call quoted,$(NAME))) --cores $(CORES) $(OPTIONS)

list: setup ## List the experiments: EXPERIMENT= takes each of these names
	@$(BIN)/snakemake --list

test: setup ## Run the tests
	$(PYTEST) -m "not slow and not campaign and not whole_run and not slurm and not image" -n 2 --dist loadfile --no-loadscope-reorder

test-runs: setup ## Run the tests that take longer: of whole runs, whole pages, in a browser, in processes
	$(PYTEST) -m "whole_run and not slow and not campaign" -n 2 --dist loadfile --no-loadscope-reorder --durations=25

setup: ## Create or update .venv from envs/requirements.lock
	@PYTHON="$(PYTHON)" envs/setup.sh

lint: setup ## Check style, formatting, the workflow, and that the lock holds no address
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow/rules
	$(BIN)/snakemake --lint
	test -s envs/requirements.lock && ! grep -nE '://|^--(index|extra-index|find-links)' envs/requirements.lock

slurm-test: setup ## Run the tests on a SLURM of two nodes on this machine (root, slurm-wlm, munge)
	$(PYTEST) tests/workflow/test_slurm.py -m slurm --durations=25

image-test: setup ## Build the container image and run its quickstart (root, buildah, debootstrap)
	$(PYTEST) tests/workflow/test_image.py -m image --durations=5

bench: setup ## Measure the methods beside their bounds (RUNS= times)
	OMP_NUM_THREADS=1 $(BIN)/python tests/bench/bounds.py --runs $(or $(RUNS),1)

peers: setup ## Measure methods beside the same ones of other packages (half an hour; ADAPT_PYTHON= measures adapt too)
	OMP_NUM_THREADS=1 $(BIN)/python tests/bench/peers.py $(if $(ADAPT_PYTHON),--adapt-python $(ADAPT_PYTHON))

reproduce: setup ## Run what tests/claims.yaml is about, check every claim, and run the slow tests
	@names=$$($(BIN)/python -m tests.claims) && $(SNAKEMAKE) $$names
	$(PYTEST) -m slow

reference: setup ## Copy tables and pictures of papers, boards and shifts run so far to reports/reference
	@$(BIN)/python -m workflow.lib.report.reference

check-reference: setup ## Compare the runs in results with reports/reference
	@$(BIN)/python -m workflow.lib.results.reference

faults: setup ## Inject faults, and list what became of each in reports/reference/faults.md
	$(PYTEST) $(FAULTS) -m "not campaign" -n 2 --dist loadfile --no-loadscope-reorder \
		--table reports/reference/faults.md

engines: setup ## Run the tests that need an engine, a store or a server, and list them in reports/reference/engines.md (root; slurm-wlm, munge, buildah, debootstrap, postgresql, rsync)
	$(PYTEST) $(ENGINES) -m "slurm or image or whole_run" --title "Engines, stores and servers" \
		--table reports/reference/engines.md

campaigns: setup ## Kill sixty runs at random, ten of them on a cluster; start eight at once; load the store, the collector and a mirror
	$(PYTEST) tests/faults -m campaign -n 2 --dist worksteal --title "Campaigns of faults" \
		--table reports/reference/campaigns.md

ui: setup ## Serve the recorded runs in the MLflow UI on this machine
	@$(BIN)/python -m workflow.lib.tracking.ui --port $(PORT)

report: setup ## One page of links over all experiments run so far, and Snakemake's own report
	@if ! ls results/*/report.html >/dev/null 2>&1; then \
		if ls results/*/answer.html >&2 2>/dev/null; \
		then echo "These answers on own data are all that there is: open them."; \
		else echo "There are no results yet. Run make benchmark first."; fi >&2; exit 1; fi
	@$(SNAKEMAKE) recorded
	@$(BIN)/snakemake recorded --report results/snakemake_report.html
	@echo
	@echo "The report:    $(CURDIR)/results/report.html"
	@echo "Snakemake's:   $(CURDIR)/results/snakemake_report.html"

manual: setup ## Build the manual, results/manual/index.html, without a network
	@OMP_NUM_THREADS=1 $(BIN)/python reports/manual/build.py

findings: setup ## What all boards run so far say
	@$(SNAKEMAKE) findings
	@echo
	@echo "The findings:  $(CURDIR)/results/findings.html"

resume: setup ## Continue a run that was killed (FOLDER= of one that was started with --directory)
	@$(BIN)/python -m workflow.lib.execution.resume $(if $(FOLDER),--folder $(call quoted,$(FOLDER))) $(if $(findstring command,$(origin CORES)),--cores $(CORES))

lock: ## Solve envs/requirements.in anew (needs uv) and write the lock and the conda pins
	@command -v $(UV) >/dev/null || \
		{ echo "uv was not found. Install it (pip install uv), or name it: make lock UV=..." >&2; exit 1; }
	UV=$(UV) python3 envs/lock.py

clean: ## Remove results, logs and Snakemake's notes; downloads and .venv stay
	rm -rf results logs .snakemake
