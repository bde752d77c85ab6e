# The few commands of the project. `make run` and `make test` must work on a bare Debian machine
# with Rust, Python 3 and Node.

CARGO ?= cargo
# Where cargo puts what it builds; asked for only by the commands that run it from there.
TARGET = $(shell $(CARGO) metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')

# Tests wait more than they compute.
export RUST_TEST_THREADS ?= $(shell expr 2 \* $$(nproc))

.PHONY: run docs demo page library page-test test agentdojo bench soak chaos release lint lint-rust lint-python lint-page fmt prepare

run: page ## Build, then serve: it says what to try, and needs no key.
	@$(CARGO) run -p callgate-cli -- serve

docs: ## The documents as a site, in target/docs; the binary serves the same under /docs.
	@$(CARGO) run --quiet -p callgate-server --example docs -- target/docs

demo: ## Build, then take the guided tour in the real sandbox.
	@$(CARGO) run -p callgate-cli -- demo

page: web/dist/index.html library ## Build the page that the binary takes in; without Node a plain one stands in for it.

library: ## The Socket.IO client that the binary hands to other pages, from its npm package.
	@if command -v npm >/dev/null; then ./e2e/install node; fi

# Not `npm ci`: it refuses a lock file without the bundler's binaries for other systems.
web/dist/index.html: $(shell find web/src web/public -type f ! -name schema.d.ts) web/index.html web/package-lock.json web/vite.config.ts docs/openapi.json
	@if command -v npm >/dev/null; then \
		npm install --no-save --prefix web --ignore-scripts --no-audit --no-fund --silent && npm run build --prefix web --silent; \
	else echo "no npm: the page will be a plain one"; fi

page-test: page ## The page in a real browser, against the binary that holds it.
	$(CARGO) build --quiet -p callgate-cli
	npm ci --prefix e2e/page --ignore-scripts --no-audit --no-fund --silent
	cd e2e/page && CALLGATE_BIN="$(TARGET)/debug/callgate" npm test --silent

test: prepare lint ## Everything that must hold, on both databases, as root and as an ordinary user.
	$(CARGO) test --workspace --quiet
	CALLGATE_BIN="$(TARGET)/debug/callgate" python3 -m unittest discover -s python/tests
	$(MAKE) page-test

prepare: ## Install what the tests need (as root), or say what is missing.
	@./scripts/prepare

agentdojo: ## AgentDojo's attacks on a model that obeys them, through the real server: ARGUMENTS="--suite slack" is a part of it.
	$(CARGO) build --quiet -p callgate-cli
	./e2e/install agentdojo
	CALLGATE_BIN="$(TARGET)/debug/callgate" PYTHONPATH=e2e/agentdojo/python_modules \
		/usr/bin/python3 e2e/agentdojo/evaluate.py --write e2e/agentdojo/RESULTS.md $(ARGUMENTS)

bench: release ## Ours against peers, in one alternating run.
	$(TARGET)/release/callgate-bench
	./e2e/install onebot
	cd e2e && CALLGATE_BIN="$(TARGET)/release/callgate" PYTHONPATH=onebot/python_modules /usr/bin/python3 -m onebot bench

soak: release ## Ten thousand runs, eight at once: every result right, nothing left over. Then who holds back, and who will not stop: memory and disk stay flat.
	$(TARGET)/release/callgate-bench soak
	$(TARGET)/release/callgate-bench flood

chaos: ## Kills, database faults and full disks for a quarter of an hour: nothing is lost, doubled or stuck. CHAOS="--minutes 2 --seed 7" says otherwise.
	$(CARGO) build --quiet -p callgate-cli
	cd e2e && CALLGATE_BIN="$(TARGET)/debug/callgate" python3 -m chaos $(CHAOS)

# Both at once: built one after the other they would want their dependencies with different features.
release:
	$(CARGO) build --release --quiet -p callgate-cli -p callgate-bench

lint: page ## What can be seen without running it. Installs its tools, pinned, into the user's cache.
	@$(MAKE) --jobs=3 --output-sync=target --no-print-directory lint-rust lint-python lint-page

lint-rust:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --quiet -- -D warnings
	/usr/bin/python3 scripts/deny.py

lint-python:
	./scripts/lint/run

lint-page:
	npm run check --prefix web --silent

fmt:
	$(CARGO) fmt --all
