# Everything a person does with Slapjack. `make play` needs Python 3.11 or newer and nothing else.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

python := .venv/bin/python
pip := $(python) -m pip install -qq --disable-pip-version-check --no-input --require-hashes
export PYTHON
# The Python it was made with may be gone since.
$(shell $(python) -c '' 2>/dev/null || rm -rf .venv)

.PHONY: help
help: ## This list
	@sed -n 's/^\([a-z-]*\):.* ## \(.*\)/  make \1	\2/p' Makefile | expand -t 24

.PHONY: play
play: .venv/play.done web ## Start the server and say where it is
	@exec $(python) -m server

.PHONY: cluster
cluster: .venv/play.done web ## Three servers behind a proxy on this machine; needs redis-server and haproxy
	@exec $(python) -m tools.cluster

.PHONY: web
web: .venv/node.done ## Build the page
	@$(python) tools/web.py build

.PHONY: check
check: format-check lint types contracts sizes wire web-check licences-check ## Everything that needs no server to be checked

.PHONY: format
format: .venv/develop.done .venv/node.done ## Put the code into shape
	$(python) -m ruff format
	$(python) -m ruff check --fix
	$(python) tools/web.py format

.PHONY: format-check
format-check: .venv/develop.done
	$(python) -m ruff format --check

.PHONY: lint
lint: .venv/develop.done ## Look for what is bad style
	$(python) -m ruff check

.PHONY: types
types: .venv/develop.done ## Check the types
	$(python) -m mypy

.PHONY: contracts
contracts: .venv/develop.done
	.venv/bin/lint-imports

.PHONY: sizes
sizes: .venv/develop.done
	$(python) -m tools.sizes

.PHONY: wire
wire: .venv/develop.done
	$(python) -m tools.protocol_ts --check
	$(python) -m tools.protocol_docs --check

.PHONY: web-check
web-check: .venv/node.done
	$(python) tools/web.py lint
	$(python) tools/web.py check

.PHONY: licences
licences: .venv/develop.done .venv/node.done ## Write down anew what is shipped, and under which licences
	@$(python) tools/web.py build
	$(python) tools/licences.py

.PHONY: licences-check
licences-check: .venv/develop.done .venv/node.done
	@$(python) tools/web.py build
	$(python) tools/licences.py --check

.PHONY: test
test: .venv/develop.done .venv/node.done ## Run every test; installs what they need of the system where it is missing
	@sh tools/system.sh
	$(python) tools/web.py test
	@$(python) tools/web.py build
	@# Most of the time they wait, for a page or a process: three at a time, and each file's one after the other.
	$(python) -m pytest -n 3 --dist loadfile

.PHONY: screens
screens: .venv/develop.done .venv/node.done ## Take a picture of every screen, in build/screens
	@sh tools/system.sh
	@$(python) tools/web.py build
	$(python) -m tests.browser.screens

.PHONY: evening
evening: .venv/develop.done .venv/node.done ## One evening of play, to watch; leaves a contact sheet in build/evening
	@sh tools/system.sh
	@$(python) tools/web.py build
	$(python) -m tests.evening

.PHONY: faults
faults: .venv/develop.done .venv/node.done ## Put the promises about faults to the test, for half an hour
	@sh tools/system.sh
	@$(python) tools/web.py build
	$(python) -m tests.faults

.PHONY: soak
soak: .venv/develop.done ## Play for two hours while the clock leaps, and see that nothing grows
	@sh tools/system.sh
	$(python) -m tests.faults.soak

.PHONY: audit
audit: .venv/develop.done ## Ask whether a pinned package is known to have a hole; advice only
	@sh tools/audit.sh $(python)

.PHONY: webkit
webkit: .venv/develop.done .venv/node.done ## Join, turn, slap and reconnect in WebKitGTK; needs webkit2gtk-driver and xvfb
	@$(python) tools/web.py build
	$(python) -m tests.browser.webkit_smoke

.PHONY: playouts
playouts: .venv/develop.done ## Play many games against the rules, for ten minutes
	$(python) -m tests.bench.playouts 600

.PHONY: bench
bench: .venv/develop.done ## Tables a core, against what people would pick instead: twelve minutes, better with nothing else running
	$(python) -m tests.bench.speed

.PHONY: bench-curves
bench-curves: .venv/develop.done ## How costs grow, what a full server does and how soon it is there: seven minutes
	$(python) -m tests.bench.curves

.PHONY: bench-engine
bench-engine: .venv/develop.done ## Time the engine and the judge
	$(python) -m tests.bench.engine_speed
	$(python) -m tests.bench.judge_speed

.PHONY: bench-fairness
bench-fairness: .venv/develop.done ## Does the truly first hand win? A quarter of an hour, on real sockets and made-up clocks
	$(python) -m tests.bench.fairness

.PHONY: lock
lock: .venv/develop.done ## Pin the newest Python packages that fit pyproject.toml
	$(python) -m pip install --quiet uv
	$(python) -m uv pip compile $(pins) --upgrade pyproject.toml -o requirements/play.txt
	$(python) -m uv pip compile $(pins) --upgrade --all-extras -c requirements/play.txt pyproject.toml \
	    -o requirements/develop.txt
	$(python) -m uv pip compile $(pins) --upgrade requirements/node.in -o requirements/node.txt
	$(python) -m uv pip compile $(pins) --upgrade requirements/build.in -o requirements/build.txt

pins := --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --custom-compile-command "make lock"

.PHONY: clean
clean: ## Take away all that was made here; tables and scores stay
	rm -rf .venv .coverage .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache build dist test-output
	rm -rf clients/web/dist clients/web/node_modules
	find clients engine server tests tools -name __pycache__ -type d -prune -exec rm -rf {} +

# What follows makes the environment; each step is taken again when what it was made from has changed.

.venv/pyvenv.cfg:
	@echo "Making an environment for Slapjack in .venv, once ..."
	@sh tools/venv.sh

.venv/play.done: requirements/play.txt .venv/pyvenv.cfg
	@$(pip) -r $<
	@touch $@

.venv/develop.done: requirements/develop.txt .venv/pyvenv.cfg
	@$(pip) -r $<
	@touch $@ .venv/play.done

.venv/node.done: requirements/node.txt tools/web.py .venv/pyvenv.cfg
	@$(python) tools/web.py npm 2>/dev/null || $(pip) -r $<
	@touch $@
