SHELL := /bin/bash
CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/flux-operator
# CustomResourceDefinitions of Flux with the texts that `kubectl explain` shows; embedded by the build.
export FLUX_CRDS_DIR := $(CACHE)/flux-crds/described
TARGET := $(or $(CARGO_TARGET_DIR),target)

.DEFAULT_GOAL := help
.PHONY: help build check test test-1.34 demo demo-node bench image package generate repository crds bed registries

help: ## Show the targets
	@awk -F ':.*## ' '/^[a-z0-9.-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: crds bed ## Install both charts on a Kubernetes control plane, and watch Flux follow a repository
	cargo build --workspace --bins --examples
	$(TARGET)/debug/demo

demo-node: build ## The same with real pods, on a node of its own; as root
	cargo build --workspace --bins --examples
	FLUX_OPERATOR_BIN=$(TARGET)/release/flux-operator $(TARGET)/debug/demo-node

test: crds bed registries ## Run every test, on Kubernetes 1.36
	cargo build --workspace --bins --examples
	cargo test --workspace

test-1.34: crds bed registries ## Run the tests that need a cluster, on Kubernetes 1.34
	e2e/build.sh 1.34 >/dev/null
	cargo build --workspace --bins --examples
	E2E_KUBERNETES=1.34 cargo test --workspace --test '*'

check: crds ## Formatting and lints
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings

build: crds ## Build the release binary: target/release/flux-operator
	cargo build --release --package flux-operator

image: repository build ## Push the operator's image to REPOSITORY, or write it to the file TAR
	CRANE="$$(e2e/tools/build.sh crane)" operator/flux-operator/image/build.sh \
		$(TARGET)/release/flux-operator "$(REPOSITORY)" $(if $(TAR),"$(TAR)")

package: repository ## Package the charts for the operator's image in REPOSITORY: target/charts
	HELM="$$(e2e/tools/build.sh helm)" charts/package.sh "$(REPOSITORY)" $(TARGET)/charts

bench: build bed ## Measure the release binary: size, time, memory, requests
	cargo build --workspace --bins --examples
	$(TARGET)/debug/bench $(TARGET)/release/flux-operator

generate: ## Write the generated files of this tree anew
	cargo run --quiet --package crds --bin crdgen -- crds/yaml
	manifests/flux/generate-crds.sh manifests/flux/crds --without-descriptions
	charts/sync-crds.sh

repository:
	@[ -n "$(REPOSITORY)" ] || { echo "make: name the image's repository: REPOSITORY=registry.example.com/team/flux-operator" >&2; exit 2; }

crds:
	@manifests/flux/generate-crds.sh $(FLUX_CRDS_DIR)

bed:
	@e2e/build.sh >/dev/null
	@e2e/tools/build.sh helm >/dev/null
	@e2e/tools/build.sh flux-controllers >/dev/null

registries:
	@for program in crane registry cosign-legacy cosign; do e2e/tools/build.sh $$program >/dev/null || exit; done
