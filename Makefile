# Everything a fresh machine needs beyond Rust, Python 3.11 and make is set up here.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
STAMPS := .build
RUST := $(shell find crates tests/oracle -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock

# The neighbours live outside the checkout, so that a fresh clone finds them again.
CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/partita
named = $(CACHE)/$(1)-$(shell (cat requirements/$(1).txt; $(PYTHON) --version) | cksum | cut -d' ' -f1)
PEERS = $(call named,peers)
KERNEL_PEERS = $(call named,kernels)

export PYTHONDONTWRITEBYTECODE := 1

.PHONY: help build demo test system-mpi system-mlir system-hosts mutants fuzz wheel test-arm test-alone compile-ranks test-ranks test-rust test-python test-peers test-hosts soak test-distdl conformance bench bench-distdl bench-kernels bench-dialects bench-arrays bench-algorithms bench-sparse scaling check fmt clean

help:
	@echo "make demo        build, then a wave on four ranks, drawn, explained and timed beside NumPy"
	@echo "make test        build and run all tests"
	@echo "make test-peers  run the tests against neighbouring libraries"
	@echo "make test-hosts  run ranks on hosts of their own, made of namespaces, and cut their links (root, Linux)"
	@echo "make soak        10^6 halo exchanges and 10^5 redistributions on both engines; SECONDS=N for less"
	@echo "make test-distdl DISTDL=PATH   run DistDL's own tests on partita"
	@echo "make conformance SUITE=PATH   run the Array API's own tests on ranks in lockstep; RANKS=2 LAYOUT=block ENGINE=mpi"
	@echo "make bench       measure, side by side with the neighbours, into docs/benchmarks.md"
	@echo "make check       formatting, lints, types"
	@echo "make bench-kernels   the same for kernels, into docs/benchmarks-kernels.md"
	@echo "make bench-dialects  the same for array programs, into docs/benchmarks-dialects.md"
	@echo "make bench-arrays    the same for NumPy programs, into docs/benchmarks-arrays.md"
	@echo "make bench-algorithms  the same for sorting, products, transforms, files, into docs/benchmarks-algorithms.md"
	@echo "make bench-sparse    the same for sparse matrices, into docs/benchmarks-sparse.md"
	@echo "make scaling         what calls cost on up to 4096 ranks, counted, and measured here, into docs/scaling.md"
	@echo "make mutants     change layouts, plans, protocols and copy kernels at random, and show which changes no test notices"
	@echo "make fuzz        read ten million changed programs; CASES=N SEED=S"
	@echo "make wheel       a wheel for older systems, into dist/"
	@echo "make test-arm    tests of copies and kernels on 64-bit ARM, emulated"

$(STAMPS)/tools: requirements/dev.txt
	@mkdir -p $(STAMPS)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || (apt-get update && apt-get install -y python3-venv && $(PYTHON) -m venv $(VENV))
	$(BIN)/pip install --quiet --disable-pip-version-check --requirement requirements/dev.txt
	@touch $@

$(STAMPS)/module: $(STAMPS)/tools $(RUST) pyproject.toml $(shell find python/partita -name "*.py")
	. $(BIN)/activate && maturin develop --release --quiet
	@touch $@

build: $(STAMPS)/module

demo: build
	@mkdir -p demo
	$(BIN)/python examples/demo.py demo

# Tests of Rust that need no ranks run while those of Python wait for theirs, in the time they leave.
# What they print is kept until the others have spoken.
test: build system-mpi
	@nice -n 19 $(MAKE) --no-print-directory test-alone compile-ranks > $(STAMPS)/alone.log 2>&1 & alone=$$!; \
	$(MAKE) --no-print-directory test-python; python=$$?; \
	wait $$alone; alone=$$?; cat $(STAMPS)/alone.log; \
	$(MAKE) --no-print-directory test-ranks && test $$python$$alone = 00

# The MPI layer is tried under the launchers of the virtual environment and of the system.
# Where those of the system cannot be installed, the tests name what they did not run.
system-mpi:
	@(command -v mpiexec.openmpi && command -v mpiexec.mpich) > /dev/null \
	|| test "$$(id -u)" != 0 || test -z "$$(command -v apt-get)" \
	|| (apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends openmpi-bin mpich) > /dev/null \
	|| echo "Open MPI and MPICH of the system could not be installed; the tests go on without them"

# Ten million changed programs: none may crash the reader.
fuzz:
	cargo run --release --quiet --package partita-ir --example fuzz -- $(or $(CASES),10000000) $(or $(SEED),1)

test-rust: test-alone test-ranks

# These start ranks; all other crates that `cargo test` takes work in one process.
WITH_RANKS := partita-mpi partita-team partita-array partita-cli
PACKAGES := $(WITH_RANKS:%=--package %)

test-alone: $(STAMPS)/tools
	cargo test --quiet $(WITH_RANKS:%=--exclude %) --exclude partita-py --exclude partita-linear --workspace
	cargo test --release --quiet --package partita-linear

compile-ranks: $(STAMPS)/tools
	@cargo test --quiet $(PACKAGES) --no-run
	@cargo test --quiet --package partita-team --features shuttle --lib --no-run

test-ranks: $(STAMPS)/tools system-mpi
	cargo test --quiet $(PACKAGES)
	cargo test --quiet --package partita-team --features shuttle --lib model

test-python: build system-mpi
	$(BIN)/python -m pytest

# The folder is named by what is in the file, so a newer file of the same content is no reason.
define environment
	rm -rf $(1)
	$(PYTHON) -m venv $(1)
	$(1)/bin/pip install --quiet --disable-pip-version-check --requirement $(2)
	@touch $(1)/ready
endef

$(PEERS)/ready: | requirements/peers.txt
	$(call environment,$(PEERS),requirements/peers.txt)

$(KERNEL_PEERS)/ready: | requirements/kernels.txt
	$(call environment,$(KERNEL_PEERS),requirements/kernels.txt)

# mlir-opt-19 reads and verifies what `partita opt` prints.
system-mlir:
	@command -v mlir-opt-19 > /dev/null \
	|| test "$$(id -u)" != 0 || test -z "$$(command -v apt-get)" \
	|| (apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends mlir-19-tools) > /dev/null \
	|| echo "mlir-19-tools could not be installed; the tests go on without it"

test-peers: build $(PEERS)/ready system-mlir
	PYTHONPATH=python $(PEERS)/bin/python -m pytest tests/peers

# Namespaces, bridges and cables are made by these; tests/hosts/hosts.py says how.
system-hosts:
	@(command -v ip && command -v tc && command -v unshare && command -v nsenter) > /dev/null \
	|| test "$$(id -u)" != 0 || test -z "$$(command -v apt-get)" \
	|| (apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends iproute2 util-linux) > /dev/null \
	|| echo "iproute2 could not be installed; the tests of several hosts say that they do not run"

# Two and three hosts on one machine; where none can be made, every test says that it did not run.
test-hosts: build system-hosts
	$(BIN)/python -m pytest tests/hosts

# In ten minutes at most; a short form is among the tests.
soak: build
	$(BIN)/python tests/python/soak.py --seconds $(or $(SECONDS),600)

# DistDL's own test-suite on our back-end: make test-distdl DISTDL=path/to/a/checkout RANKS=18
test-distdl: build $(PEERS)/ready
	$(PEERS)/bin/python tests/peers/distdl_suite.py $(DISTDL) -n $(or $(RANKS),4)

# The Array API's own test-suite, as it is, outside the checkout: SUITE=path/to/a/checkout for another.
CONFORMANCE = $(call named,conformance)
$(CONFORMANCE)/ready: | requirements/conformance.txt
	$(call environment,$(CONFORMANCE),requirements/conformance.txt)

# The Array API's own tests: make conformance SUITE=path/to/array-api-tests, with its submodule
conformance: build $(CONFORMANCE)/ready
	$(CONFORMANCE)/bin/python tests/conformance/run.py $(SUITE) --ranks $(or $(RANKS),2) --engine $(or $(ENGINE),mpi) \
		--layout "$(or $(LAYOUT),block)" --examples $(or $(EXAMPLES),20) $(TESTS)

bench-distdl: build $(PEERS)/ready
	$(PEERS)/bin/python benches/distdl.py $(if $(DISTDL),--distdl $(DISTDL)) --write docs/benchmarks-distdl.md

# Kernels beside numba, NumPy, numexpr, JAX and C, with all that the processor has and with AVX2 alone.
# ERRORS=1 measures the errors of the vector mathematics too, on all of float32: tens of minutes.
KERNEL_BENCH = $$(ls -t target/release/deps/kernels-* | grep -v '\.d$$' | head -1)
ULP := target/release/examples/ulp

bench-kernels: $(KERNEL_PEERS)/ready
	cargo build --release --quiet --package partita-kernel --bench kernels --example ulp
	@mkdir -p $(STAMPS)
	$(if $(ERRORS),($(ULP) single --all; $(ULP) double; $(ULP) complex 1000000) > $(STAMPS)/errors.md)
	$(KERNEL_PEERS)/bin/python benches/kernels.py --bench $(KERNEL_BENCH) --ulp $(ULP) \
		$(if $(ERRORS),--errors $(STAMPS)/errors.md) --write docs/benchmarks-kernels.md

# Array programs beside C, numba, JAX and NumPy, in about five minutes.
PIPELINE_BENCH = $$(ls -t target/release/deps/pipeline-* | grep -v '\.d$$' | head -1)

bench-dialects: build $(KERNEL_PEERS)/ready
	cargo build --release --quiet --package partita-array --bench pipeline
	$(KERNEL_PEERS)/bin/python benches/dialects.py --command $(BIN)/partita \
		--pipeline $(PIPELINE_BENCH) --write docs/benchmarks-dialects.md

bench-arrays: build $(KERNEL_PEERS)/ready $(PEERS)/ready
	$(KERNEL_PEERS)/bin/python benches/arrays.py --python $(BIN)/python \
		--neighbours $(PEERS)/bin/python --write docs/benchmarks-arrays.md

bench-algorithms: build $(PEERS)/ready
	$(PEERS)/bin/python benches/algorithms.py --mpiexec $(PEERS)/bin/mpiexec --write docs/benchmarks-algorithms.md

bench-sparse: build $(PEERS)/ready
	$(PEERS)/bin/python benches/sparse_matrices.py --mpiexec $(PEERS)/bin/mpiexec --write docs/benchmarks-sparse.md

# The largest team of the simulation takes two minutes and 16 GiB of memory: MOST=N for others.
scaling: build
	$(BIN)/python benches/scaling.py --most $(or $(MOST),4096)

bench: build $(PEERS)/ready
	cargo build --release --quiet --package partita-cli
	cargo bench --quiet --package partita-plan --bench planning -- $(abspath $(STAMPS)/planning.txt)
	PYTHONPATH=python $(PEERS)/bin/python benches/run.py --planning $(STAMPS)/planning.txt --write docs/benchmarks.md

check: build
	cargo fmt --check
	cargo clippy --quiet --workspace --all-targets -- --deny warnings
	RUSTDOCFLAGS="--deny warnings" cargo doc --quiet --no-deps
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest partita._partita --ignore-disjoint-bases --mypy-config-file pyproject.toml

# Every SHARD-th change of these crates and of the copy kernels, always the same for the same two numbers.
# What no test notices is judged in docs/mutants.md.
SHARD ?= 7/50
MUTANTS := $(CACHE)/tools/bin/cargo-mutants
MUTATED := partita-layout partita-plan partita-protocol

$(MUTANTS):
	cargo install --quiet --locked --root $(CACHE)/tools cargo-mutants@27.1.0

mutants: $(MUTANTS)
	$(MUTANTS) mutants $(MUTATED:%=--package %) $(MUTATED:%=--test-package %) \
		--test-package partita-picture --test-package partita-cli \
		--shard $(SHARD) --sharding round-robin --profile test --timeout 120 --no-times --output target/mutants || test $$? = 2
	$(MUTANTS) mutants --package partita-team --file "crates/partita-team/src/copy/**" \
		--shard $(SHARD) --sharding round-robin --profile test --timeout 120 --no-times --output target/mutants-copy \
		-- --test copy --test add --lib || test $$? = 2

# Built with the linker of zig against glibc 2.28: Debian 10, Ubuntu 18.10, RHEL 8 and newer.
wheel: $(STAMPS)/tools
	$(BIN)/pip install --quiet --disable-pip-version-check ziglang
	. $(BIN)/activate && maturin build --release --quiet --zig --compatibility manylinux_2_28 --out dist

# Copies and vector mathematics with NEON, in an emulator, in about ten minutes.
test-arm:
	tests/arm/run $(CACHE)/arm --package partita-team --test vectors --test copy --test add
	tests/arm/run $(CACHE)/arm --package partita-kernel --test math_levels --test math_special --test reductions --test extremes

fmt:
	cargo fmt
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

clean:
	rm -rf $(STAMPS) $(VENV) target demo python/partita/*.so
