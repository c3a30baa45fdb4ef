# Targets for developers and operators; `make help` lists them.

PYTHON ?= python3
BIN := .venv/bin
GUIDE := app/guide/site/index.html
# Checked in; `make client` generates it.
CLIENT := rankery/client/schemas/answers.py
API_TYPES := app/dashboard/types/openapi.d.ts
# Node comes from a wheel of the development lock, and only checks and tests the dashboard's JavaScript.
NPM = PATH="$(CURDIR)/$(BIN):$$PATH" npm
PYTEST = $(BIN)/pytest --numprocesses auto --dist loadgroup --no-loadscope-reorder $(if $(SEED),--random-order --random-order-seed=$(SEED))
# Without cached bytecode, every process of the service would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: install
install: .venv/.installed ## create or update .venv, in which the service runs

# The locks are layers: development.lock includes extras.lock, which includes service.lock. An update keeps the layer of .venv.
LAYER = $(or $(and $(wildcard .venv/.developed),development),$(and $(wildcard .venv/.extended),extras),service)
define synchronise
$(BIN)/uv pip sync --quiet --python .venv --require-hashes requirements/installer.lock requirements/$(1).lock
$(BIN)/uv pip install --quiet --python .venv --no-deps --no-build-isolation --editable . --editable ./server
@touch $@
endef

$(BIN)/uv: requirements/installer.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Rankery needs Python 3.11 or later; name one with PYTHON=…")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --require-hashes --requirement requirements/installer.lock
	@touch $@

.venv/.installed: $(BIN)/uv requirements/service.lock pyproject.toml server/pyproject.toml
	$(call synchronise,$(LAYER))

.PHONY: extras
extras: .venv/.extended ## add the optional packages: networks, distributed training, PostgreSQL, S3, ONNX, …

.venv/.extended: .venv/.installed requirements/extras.lock
	$(call synchronise,$(if $(wildcard .venv/.developed),development,extras))

.PHONY: develop
develop: .venv/.developed install ## add to .venv the optional packages, and the packages of tests, benchmarks and linters

.venv/.developed: .venv/.installed requirements/development.lock
	$(call synchronise,development)

node_modules/.package-lock.json: .venv/.developed package.json package-lock.json
	$(NPM) ci
	@touch $@

$(API_TYPES): $(CLIENT) node_modules/.package-lock.json
	$(BIN)/python -m tools.generate_api_types

.venv/.builds: .venv/.installed requirements/build.lock
	$(BIN)/uv pip install --quiet --python .venv --require-hashes --requirement requirements/build.lock
	@touch $@

$(GUIDE): .venv/.builds $(CLIENT) mkdocs.yml $(shell find docs guide app core rankery -type f -not -path 'app/guide/site/*' -not -name '*.pyc')
	$(BIN)/rankery warm-up
	$(BIN)/python -m guide

.PHONY: guide
guide: develop ## build the guide, which the service shows at /guide; with screenshots if Chromium is installed
	$(BIN)/python -m guide.screenshots
	$(BIN)/python -m guide

.PHONY: demo
demo: install ## train two losses on synthetic data, or on TRAIN= VALIDATION= TEST= files, and compare them
	$(BIN)/rankery demo $(if $(TRAIN),--train $(TRAIN)) $(if $(VALIDATION),--validation $(VALIDATION)) $(if $(TEST),--test $(TEST))

.PHONY: serve
serve: install ## start the embedded service: Valkey, API, worker, dashboard; the guide is built in the background
	@$(MAKE) --silent $(GUIDE) >.venv/guide.log 2>&1 &
	$(BIN)/rankery serve

.PHONY: test
test: tested-tools ## run all tests except slow ones: unit, real processes, browser; SEED= shuffles their order
	$(NPM) test --silent
	$(PYTEST)

.PHONY: test-all
test-all: tested-tools ## run all tests, including campaigns of kills, faults and mutated input; takes hours
	$(NPM) test --silent
	$(PYTEST) -m "slow or not slow"
	$(MAKE) test-servers test-kill test-imports test-events test-schedules test-faults test-resume test-api-fuzz fuzz-datasets fuzz-scoring

.PHONY: tested-tools
tested-tools: develop node_modules/.package-lock.json .venv-mlflow/.installed $(GUIDE)

.PHONY: test-fast
test-fast: .venv/.developed $(CLIENT) ## run tests for about two minutes: no browser, no servers, no test longer than a second
	$(PYTEST) --numprocesses logical --store embedded -m "not long and not slow" tests/core tests/app tests/worker

.PHONY: test-servers
test-servers: develop ## run the tests that use a store, on PostgreSQL and S3: those of the API, the store, the worker and the whole service
	$(PYTEST) --store servers tests/app tests/core/store tests/worker tests/integration tests/faults/test_schedules.py

.PHONY: test-kill
test-kill: develop ## kill the service at ten random moments; no process may be left, and no job lost
	RANKERY_TEST_KILLS=10 $(BIN)/pytest -m slow tests/integration/test_kill.py

.PHONY: test-imports
test-imports: develop ## import 400 MiB from S3 and HTTPS with a killed worker, and download it; the API's memory must not grow
	RANKERY_TEST_IMPORT_MIB=400 $(BIN)/pytest tests/integration/test_source_urls.py

.PHONY: test-events
test-events: develop ## send EVENTS= events to a webhook and a stream while the API and the worker are killed and restarted
	$(BIN)/python -m tests.faults.events $(if $(EVENTS),--events $(EVENTS))

.PHONY: test-schedules
test-schedules: develop ## kill all workers KILLS= times around the due times of a schedule; each due time must have one run and one promotion
	$(BIN)/python -m tests.faults.schedules $(if $(KILLS),--kills $(KILLS))

.PHONY: test-faults
test-faults: develop ## run FAULTS_JOBS= jobs during kills, flushes, restarts, a full disk and an absent store; print a table
	$(BIN)/python -m tests.faults $(if $(FAULTS_JOBS),--jobs $(FAULTS_JOBS))

.PHONY: test-resume
test-resume: develop ## kill twenty trainings at random iterations; each resumed training must make the same model
	$(BIN)/python -m tests.faults --only resume

.PHONY: test-api-fuzz
test-api-fuzz: develop ## run schemathesis on the whole OpenAPI document: at least 5,000 requests, with and without a key
	$(BIN)/python -m tests.security.api_fuzz --requests 5000

.PHONY: fuzz-datasets
fuzz-datasets: develop ## read 100,000 mutated files of every format; each must be read, or refused with the position of the error
	$(BIN)/python -m tests.core.data.fuzz --files 100000

.PHONY: fuzz-scoring
fuzz-scoring: develop ## score 20,000 mutated requests of every form; our readers must agree with Python's, Arrow's and LightGBM's
	$(BIN)/python -m tests.app.scoring.differential --bodies 20000

.PHONY: check-image
check-image: ## build the Dockerfile's image from Debian's packages without a container engine, run it and print its size; needs root
	tools/check_image.sh

.PHONY: bench-start
bench-start: develop ## measure processor seconds until the service is ready, by process, and of single imports
	$(BIN)/python -m benchmarks.start

.PHONY: bench-objectives
bench-objectives: develop ## measure milliseconds of every loss, compared with LightGBM's objective, on three synthetic loads
	$(BIN)/python -m benchmarks.objectives

.PHONY: bench-training
bench-training: develop ## measure whole training jobs of a worker, compared with lightgbm.train and with the trees alone
	$(BIN)/python -m benchmarks.training

.PHONY: bench-neural
bench-neural: develop ## measure epochs of networks, compared with PyTorch if it is installed, RankNet on long queries, and figure 1 of the 2006 paper; SCALE=paper takes hours
	$(BIN)/python -m benchmarks.neural $(if $(SCALE),--scale $(SCALE))

.PHONY: bench-quantised
bench-quantised: develop ## measure speed and NDCG@10 of quantised gradients, goss and dart, on a synthetic load and on FILES="TRAIN TEST …"
	$(BIN)/python -m benchmarks.quantised $(FILES)

.PHONY: bench-memory
bench-memory: develop ## measure the peak memory of a worker limited to 8 GiB, on 12 million documents of 220 features; FOLDER= needs 45 GB of disk
	$(BIN)/python -m benchmarks.memory $(if $(FOLDER),--folder $(FOLDER))

.PHONY: bench-distributed
bench-distributed: develop ## compare 2 and 3 ranks with one process: time, memory, traffic and recovery; predict the time on up to 64 machines
	$(BIN)/python -m benchmarks.distributed

.PHONY: bench-auto
bench-auto: develop ## compare the NDCG@10 of automatic hyperparameters, the defaults and a random search, on FILES="A B …" and synthetic data
	$(BIN)/python -m benchmarks.automatic $(FILES)

.PHONY: bench-portfolio
bench-portfolio: develop ## compare automatic trainings with their candidates and LightGBM's defaults, on FILES="A B …" and synthetic data; RIVALS=1 adds a study and FLAML, ESTIMATES=1 checks the estimates of automatic trainings instead
	$(BIN)/python -m benchmarks.$(if $(ESTIMATES),portfolio_estimates,portfolio $(if $(RIVALS),--rivals) $(FILES))

.PHONY: bench-studies
bench-studies: develop ## measure the overhead of a trial at 1,000 trials, the verdicts of studies on noise, and the recovery of a worker killed ten times
	$(BIN)/python -m benchmarks.studies

.PHONY: bench-quality
bench-quality: develop ## compare every loss through the API with LightGBM's objective, on TRAIN= and TEST= files
	$(BIN)/python -m benchmarks.quality $(TRAIN) $(TEST)

.PHONY: bench-datasets
bench-datasets: develop ## measure reading a LETOR file of 520 MB, compared with scikit-learn, and its upload and training on the service
	$(BIN)/python -m benchmarks.datasets
	$(BIN)/python -m benchmarks.ingestion

.PHONY: bench-evaluation
bench-evaluation: develop ## compare all metrics with ranx and pytrec_eval, and the randomisation test with SciPy
	$(BIN)/python -m benchmarks.evaluation

.PHONY: bench-clicks
bench-clicks: develop ## measure seconds of an EM pass of click models, compared with NumPy and PYCLICK=FOLDER, on IMPRESSIONS=1e7
	$(BIN)/python -m benchmarks.click_models $(if $(IMPRESSIONS),--impressions $(IMPRESSIONS)) $(if $(PYCLICK),--pyclick $(PYCLICK))

.PHONY: bench-unbiased
bench-unbiased: develop ## measure the benefit of click corrections on simulated logs of four user models and two rankers: propensities and NDCG
	$(BIN)/python -m benchmarks.unbiased

.PHONY: bench-polling
bench-polling: develop ## measure 200 job polls per second for a minute during a training
	$(BIN)/python -m benchmarks.polling

.PHONY: bench-lifecycle
bench-lifecycle: develop ## measure the deletion of 10,000 jobs and 1,000 models during polling, and deletions killed at ten moments
	$(BIN)/python -m benchmarks.lifecycle

.PHONY: bench-dashboard
bench-dashboard: develop ## measure seconds until each page can be used, with 10,000 jobs and 1,000 models, in a real Chromium; MINUTES= also the memory of open pages
	$(BIN)/python -m benchmarks.dashboard $(if $(MINUTES),--followed-minutes $(MINUTES))

.PHONY: bench-scoring
bench-scoring: develop ## measure microseconds to score documents with forests of two sizes, compared with LightGBM, ONNX Runtime and treelite, and with sums of models
	$(BIN)/python -m benchmarks.scoring

.PHONY: bench-network-scoring
bench-network-scoring: develop ## measure microseconds to score documents with networks on one thread, compared with the same graph in ONNX Runtime
	$(BIN)/python -m benchmarks.network_scoring

.PHONY: bench-serving
bench-serving: develop .venv-mlserver/.installed ## measure requests per second of 100 documents, compared with MLServer with the same model
	$(BIN)/python -m benchmarks.serving

.PHONY: bench-shown
bench-shown: develop ## measure milliseconds of /rank alone, with logged rankings and with interleaved lists
	$(BIN)/python -m benchmarks.shown_lists

.PHONY: bench-sampling
bench-sampling: develop ## measure the CPU time of scoring with none, a hundredth and all of the requests sampled
	$(BIN)/python -m benchmarks.sampling

.PHONY: bench-attacks
bench-attacks: develop ## measure 300 scoring requests per second during attacks on memory, threads, locks and hashes, one at a time
	$(BIN)/python -m benchmarks.attacks

# MLServer and MLflow have separate environments: they need other versions of the service's packages.
.venv-%/.installed: $(BIN)/uv requirements/%.lock
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-$*
	$(BIN)/uv pip sync --quiet --python .venv-$* --require-hashes requirements/$*.lock
	@touch $@

.PHONY: bench-coherency
bench-coherency: develop ## measure the share of queries with an incoherent gradient by iteration, as in Figure 3 of the 2023 paper
	$(BIN)/python -m benchmarks.coherency

.PHONY: check
check: check-python check-dashboard check-examples ## ruff, mypy --strict, import contracts, plain words, doc examples; ESLint, Prettier and tsc on the dashboard

.PHONY: check-python
check-python: .venv/.developed $(CLIENT)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tools.plain_words

.PHONY: check-dashboard
check-dashboard: $(API_TYPES)
	$(NPM) run lint
	$(NPM) run types

.PHONY: check-examples
check-examples: .venv/.developed $(CLIENT)
	$(BIN)/pytest --doctest-modules core rankery --ignore core/store/migrations

.PHONY: dist
dist: guide ## build the wheels and source archives of rankery and rankery-server into dist/
	rm -rf dist
	$(BIN)/uv build --quiet --all-packages --no-build-isolation --out-dir dist
	$(BIN)/twine check --strict dist/*

.PHONY: test-wheel
test-wheel: dist ## install both wheels beside foreign packages core/ and app/; run the demo and TESTS= (default: the client's tests)
	$(BIN)/python -m tests.wheels --python $(PYTHON) $(TESTS)

.PHONY: check-platforms
check-platforms: develop ## check that wheels alone can install the locked versions, for Python 3.11 to 3.14 on Linux and macOS
	$(BIN)/python -m tools.check_platforms

.PHONY: client
client: .venv/.developed ## generate the schemas and the synchronous half of the Python client and the options of the command line, after a change of the HTTP API or of the asynchronous half
	$(BIN)/python -m tools.generate_client

.PHONY: format
format: develop node_modules/.package-lock.json ## format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(NPM) run format

.PHONY: lock
lock: develop ## pin the newest versions that pyproject.toml allows, with hashes and without the address of a package index
	$(LOCK) $(SERVER) $(EXTRAS) --group dev --output-file requirements/development.lock
	$(LOCK) $(SERVER) $(EXTRAS) $(DEVELOPMENT_VERSIONS) --output-file requirements/extras.lock
	$(LOCK) $(SERVER) $(DEVELOPMENT_VERSIONS) --output-file requirements/service.lock
	$(LOCK) --group build $(DEVELOPMENT_VERSIONS) --output-file requirements/build.lock
	$(LOCK) --group installer $(DEVELOPMENT_VERSIONS) --output-file requirements/installer.lock
	$(LOCK) requirements/mlserver.in --output-file requirements/mlserver.lock
	$(LOCK) requirements/mlflow.in --output-file requirements/mlflow.lock
	$(NPM) update

LOCK := $(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-emit-index-url --custom-compile-command "make lock"
SERVER := server/pyproject.toml --no-emit-package rankery --no-emit-package rankery-server
EXTRAS := --extra distributed --extra encryption --extra gcs --extra huggingface --extra ir-datasets --extra neural --extra onnx --extra postgresql --extra s3 --extra telemetry
DEVELOPMENT_VERSIONS := --constraints requirements/development.lock

.PHONY: clean
clean: ## remove the environment and caches
	rm -rf .venv .venv-mlflow .venv-mlserver .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache *.egg-info server/*.egg-info build server/build dist app/guide/site node_modules $(API_TYPES)
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
