# What one does with this repository. Every target installs what it needs, says what it is doing, and is quick when
# there is nothing to do. CARGO_TARGET_DIR is respected.

TARGET := $(or $(CARGO_TARGET_DIR),target)
TRUCKEE := $(TARGET)/release/truckee
FAST := $(TARGET)/fast/truckee
WEB := $(TARGET)/wasm32-unknown-unknown/web/truckee_web.wasm
PYTHON := .venv/bin/python
REQUIREMENTS := tools/requirements.txt docs/requirements.txt validation/requirements.txt tests/report/requirements.txt

.PHONY: help demo release fast check test nightly live bench validation stacks identities tables studies numbers book figures clean \
	web rust venv live-tools browser

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 18

demo: release ## Reproduce a published figure: which TCP downloads fastest over a noisy hop?
	@echo "==> truckee study run wireless-download --out out/demo"
	@rm -rf out/demo # runs of an earlier build would be kept as finished
	@$(TRUCKEE) study run wireless-download --out out/demo

release: rust
	@echo "==> building truckee (the first time takes some minutes)"
	@$(if $(wildcard $(WEB)),TRUCKEE_WEB=$(abspath $(WEB))) cargo build --release --locked -p truckee-cli

fast: rust ## Build target/fast/truckee for long sweeps: compiled by a profile of its own runs, at fixed addresses
	@$(if $(wildcard $(WEB)),TRUCKEE_WEB=$(abspath $(WEB))) tools/fast.py $(TARGET)

web: rust venv browser ## Build the simulator for browsers, and hold its digests in Node and Chromium against the pinned ones
	@echo "==> building truckee-web for browsers (the first time takes a minute or two)"
	@cargo build --locked --profile web --target wasm32-unknown-unknown --package truckee-web
	@$(PYTHON) tools/web.py $(WEB)
	@echo "==> truckee lab --engine $(WEB)"

check: rust venv ## Check what was touched: format, lints, tests of the crates that differ from main
	@$(PYTHON) tools/gate.py --touched

test: rust venv live-tools browser ## Check everything: format, lints, tests, studies, licences, Python, the book
	@$(PYTHON) tools/gate.py

nightly: release venv live-tools browser ## Before a release: ten times as much of what is drawn, drawn anew, every simulated study in full, and recorded traces
	@$(PYTHON) tools/nightly.py

live: release live-tools ## Measure what is live and judged by statistics (hours; ARGS=--quick for less), and write its page
	@validation/live.py --truckee $(TRUCKEE) $(ARGS)

bench: fast ## Measure beside ns-2 and ns-3, installing them where possible
	@bench/peers/install.sh
	@bench/run.py --truckee $(FAST)

validation: release venv ## Hold senders, 802.11 and queues against those of ns-2 and ns-3, and the profile ns-2 against ns-2 (an hour)
	@bench/peers/install.sh
	@$(PYTHON) validation/run.py --truckee $(TRUCKEE) --figures docs/figures/validation
	@$(PYTHON) validation/wireless.py --truckee $(TRUCKEE)
	@$(PYTHON) validation/queues.py --truckee $(TRUCKEE)
	@$(PYTHON) validation/ns2_profile.py --truckee $(TRUCKEE) --json $(TARGET)/ns2-profile.json --earlier $(TARGET)/ns2-profile.json

stacks: release live-tools ## Have the probe judge TCP stacks that nobody here wrote: smoltcp, lwIP, gVisor, libslirp, user-mode Linux
	@validation/stacks/run.py --truckee $(TRUCKEE)

identities: release live-tools ## Have the probe tell which TCP each of these is, ten times: a quarter of an hour
	@validation/stacks/identify.py --truckee $(TRUCKEE) --jobs 6

tables: venv release live-tools ## Count of each of these what the tables of the split-ACK thesis count, beside them: ten minutes
	@$(PYTHON) validation/stacks/tables.py --truckee $(TRUCKEE) --figure $(TARGET)/thesis-tables.svg

studies: venv fast ## Run every study in full, store what it comes to, and draw its page of the book (up to an hour)
	@TRUCKEE=$(FAST) $(PYTHON) docs/results.py studies --runs $(TARGET)/studies
	@$(PYTHON) docs/generate.py --pages

numbers: venv release ## Make the results anew that the book's sentences take their numbers from (a minute)
	@TRUCKEE=$(TRUCKEE) $(PYTHON) docs/results.py numbers
	@$(PYTHON) docs/generate.py --pages

book: venv release ## Fill in what the command prints and build the book into site/
	@TRUCKEE=$(TRUCKEE) $(PYTHON) docs/generate.py
	@NO_MKDOCS_2_WARNING=1 TRUCKEE=$(TRUCKEE) ENGINE=$(WEB) .venv/bin/mkdocs build --strict --quiet
	@echo "==> open site/index.html"

figures: venv release ## Draw the book's figures anew
	@TRUCKEE=$(TRUCKEE) $(PYTHON) docs/figures.py

clean: ## Remove everything that was built
	cargo clean
	rm -rf .venv site out bench/out

rust:
	@tools/prepare.sh rust

live-tools:
	@tools/prepare.sh live

browser:
	@tools/prepare.sh browser

venv:
	@tools/prepare.sh python $(REQUIREMENTS)
