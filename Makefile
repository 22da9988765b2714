# A thin door for people; CMakePresets.json and CMakeLists.txt do the work.
#
#   make           build/billboard, optimised
#   make demo      installs what is missing, builds, runs examples/schools, writes build/schools.html
#   make check     installs what is missing, builds, runs every test
#   make bench     the table of docs/benchmarks.md: against NumPy, pandas, scikit-learn, polars
#   make install   the program and the library, to PREFIX (/usr/local)
#   make format    one style for every C file
#   make clean

PREFIX ?= /usr/local
DESTDIR ?=
JOBS ?= $(shell nproc)

# The inner make gets its own -j.
BUILD = MAKEFLAGS=--no-print-directory cmake --build build --parallel $(JOBS) --target

build: build/Makefile
	@$(BUILD) billboard

build/Makefile:
	@cmake --preset release

deps:
	@scripts/install-deps

demo: deps
	@$(MAKE) --no-print-directory build
	@examples/schools/run.sh build/schools.html

check: deps
	@$(MAKE) --no-print-directory build/Makefile
	@$(BUILD) all
	@ctest --test-dir build --output-on-failure --parallel $(JOBS)

bench: build
	@$(BUILD) bench

install: build
	@$(BUILD) man libbillboard
	@DESTDIR=$(DESTDIR) cmake --install build --prefix $(PREFIX)

format:
	@scripts/check-format --fix

clean:
	@cmake -E rm -rf build

.PHONY: build deps demo check bench install format clean
