# The few commands of the project. `make run` and `make test` must work on a bare Debian machine
# with Rust, Python 3 and Node.

CARGO ?= cargo

.PHONY: run demo test bench soak lint fmt prepare

run: ## Build, then serve: it says what to try, and needs no key.
	@$(CARGO) run -p callgate-cli -- serve

demo: ## Build, then take the guided tour in the real sandbox.
	@$(CARGO) run -p callgate-cli -- demo

test: prepare ## Everything that must hold, on both databases, as root and as an ordinary user.
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --quiet -- -D warnings
	$(CARGO) test --workspace --quiet
	python3 -m unittest discover -s python/tests

prepare: ## Install what the tests need (as root), or say what is missing.
	@./scripts/prepare

bench: ## Ours against peers, in one alternating run.
	$(CARGO) build --release --quiet -p callgate-cli
	$(CARGO) run --release --quiet -p callgate-bench

soak: ## Ten thousand runs, eight at once: every result right, nothing left over.
	$(CARGO) run --release --quiet -p callgate-bench -- soak

lint:
	$(CARGO) clippy --workspace --all-targets -- -D warnings

fmt:
	$(CARGO) fmt --all
