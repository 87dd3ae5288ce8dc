# loresync's habits in one file: `make` alone lists them. Tools are installed on first use, at pinned versions, into
# .loresync/bin; after that everything but a changed go.mod works offline.

GOLANGCI_LINT_VERSION := v2.15.0
WORKFLOWCHECK_VERSION := v0.6.0

BIN           := $(CURDIR)/.loresync/bin
GOLANGCI_LINT := $(BIN)/golangci-lint-$(GOLANGCI_LINT_VERSION)
WORKFLOWCHECK := $(BIN)/workflowcheck-$(WORKFLOWCHECK_VERSION)

# One Postgres and one Temporal for all packages; each package gets a database of its own.
WITH_SERVERS := go run ./internal/testenv/cmd/with-servers --
# More flags for go test, such as TESTFLAGS='-v -run TestFence'.
TESTFLAGS ?=
# Most tests wait for servers, so one more than there are cores runs at a time.
PARALLEL := $(shell expr $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2) + 1)
# More flags for `make dev`, such as ARGS='--once --data-dir /tmp/lore'.
ARGS ?=

# Without debug information a cold build takes a sixth less time. All targets but `build` share it, and the Temporal CLI's
# build does (internal/local), so that the standard library is compiled once. Stack traces stay whole.
COMPILE_FLAGS := -gcflags=all=-dwarf=false
USERS_GOFLAGS := $(shell go env GOFLAGS)
export GOFLAGS := $(USERS_GOFLAGS) $(COMPILE_FLAGS)

# One compiler to a core and few collections in each: on two cores a cold build takes a third less time. It compiles what a
# package needs without linking; what is compiled already costs nothing.
CORES := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
COMPILE = GOGC=400 $(if $(filter 1 2 3 4,$(CORES)),GOMAXPROCS=1,) go list -p $(shell expr $(CORES) + 1) -export -deps

.DEFAULT_GOAL := help

.PHONY: help
help: ## List what can be made
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: dev
dev: ## Run everything on this machine and sync a sample handbook (flags: ARGS='--once')
	@$(FETCH_TEMPORAL)
	@$(COMPILE) ./dev >/dev/null
	go run ./dev $(ARGS)

# Where `dev` will have to build the Temporal CLI, its 160 modules arrive while `dev` itself is compiled.
TEMPORAL_MODULE := $(shell sed -n 's/^const temporalModule = "\(.*\)"/\1/p' internal/local/build_temporal.go)
FETCH_TEMPORAL = command -v temporal >/dev/null || test -x $(BIN)/temporal || { \
	echo "fetching the modules of $(TEMPORAL_MODULE) meanwhile"; \
	go install -n $(TEMPORAL_MODULE) >/dev/null 2>&1 & }

.PHONY: build
build: export GOFLAGS := $(USERS_GOFLAGS)
build: ## Build worker, starter, gateway and dev into bin/
	@mkdir -p bin
	go build -trimpath -o bin/ ./worker ./starter ./gateway ./dev

.PHONY: test
test: ## Run all that a change can break, against a real Postgres and Temporal
	$(WITH_SERVERS) go test -short -parallel $(PARALLEL) -timeout 15m $(TESTFLAGS) ./...

.PHONY: test-long
test-long: ## Run in full the packages that `make test` shortens
	@packages=$$(grep -rl --include='*_test.go' 'testing\.Short()' . | xargs -n 1 dirname | sort -u); \
	if [ -z "$$packages" ]; then echo "no package has long parts"; exit 0; fi; \
	echo "$(WITH_SERVERS) go test -parallel $(PARALLEL) -timeout 40m $(TESTFLAGS)" $$packages; \
	$(WITH_SERVERS) go test -parallel $(PARALLEL) -timeout 40m $(TESTFLAGS) $$packages

.PHONY: test-all
test-all: test test-long ## Run every test, the long ones too

# A storm's seed decides its steps, and OPS how many there are.
SEED ?= 1
OPS ?= 500

.PHONY: storm
storm: ## Let everything happen at once, servers dying too, and check the rules (SEED=1 OPS=500)
	go test -count=1 -timeout 6h -v -run '^TestStorm$$' $(TESTFLAGS) ./tests/storm -seed $(SEED) -ops $(OPS)

.PHONY: bench
bench: ## Measure speed and memory against the machine's own floor, into bench/README.md (15 minutes)
	go run ./bench $(ARGS)
	$(WITH_SERVERS) go test -run '^$$' -bench . -benchtime 100x -timeout 30m $(TESTFLAGS) ./bench ./internal/content/... ./internal/source/files

.PHONY: check
check: tidy vet lint workflowcheck ## Run every check that needs no server

.PHONY: tidy
tidy: ## Check that go.mod and go.sum say what is used
	go mod tidy -diff

.PHONY: vet
vet: ## Compile everything, tests included, and vet it
	go vet ./...

.PHONY: lint
lint: $(GOLANGCI_LINT) ## Check format, style and the arrows between the rooms
	$(GOLANGCI_LINT) fmt --diff
	$(GOLANGCI_LINT) run ./...

.PHONY: fmt
fmt: $(GOLANGCI_LINT) ## Format all Go files
	$(GOLANGCI_LINT) fmt

.PHONY: workflowcheck
workflowcheck: $(WORKFLOWCHECK) ## Check that workflows are deterministic
	$(WORKFLOWCHECK) -test=false ./workflows/...

.PHONY: tools
tools: $(GOLANGCI_LINT) $(WORKFLOWCHECK) ## Install the pinned tools

.PHONY: clean
clean: ## Remove what was built and measured; tools and the data of `make dev` stay
	rm -rf bin
	find . -path ./.loresync -prune -o -name '*.test' -type f -exec rm -f {} +
	find . -path ./.loresync -prune -o -name '*.prof' -type f -exec rm -f {} +

# go install names a binary after its package only. The version in ours makes a raised version install itself.
define install
	@mkdir -p $(BIN)
	@tmp=$$(mktemp -d $(BIN)/install.XXXXXX) && trap 'rm -rf "$$tmp"' EXIT && \
	GOFLAGS=$(COMPILE_FLAGS) GOBIN="$$tmp" go install $(1) && mv "$$tmp"/* $@
endef

$(GOLANGCI_LINT):
	@echo "installing golangci-lint $(GOLANGCI_LINT_VERSION): a minute or more, this once"
	$(call install,github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION))

$(WORKFLOWCHECK):
	@echo "installing workflowcheck $(WORKFLOWCHECK_VERSION): some seconds, this once"
	$(call install,go.temporal.io/sdk/contrib/tools/workflowcheck@$(WORKFLOWCHECK_VERSION))
