"""Fixtures that tests of several packages share."""

import gc
import os
import re
import shutil
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog

from app.guide.files import NOT_BUILT, SITE
from core.machine import available_cpus
from rankery.embedded.compilation_progress import compilation_progress
from tests.examples import load_profile
from tests.requirements import skip_without

# Else threads that wait for each other keep processors busy that other tests need.
os.environ.setdefault("GOMP_SPINCOUNT", "0")

_REPOSITORY = Path(__file__).parents[1]

# Trainings of networks compile the same functions again and again, in all processes of the tests.
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(_REPOSITORY / ".pytest_cache" / "jax"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")

# A commit of SQLite waits for a disk, and never for memory.
_MEMORY = Path("/dev/shm")
if _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free >= 12 * 2**30:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))

pytest_plugins = ["tests.servers.fixtures"]

_LONGEST_ID = 200

# Their tests share services that start for whole files, or for the session.
_FOLDERS_OF_SERVICES = ("browser", "deploy", "faults", "guide", "integration", "rankery", "security")


def pytest_configure(config: pytest.Config) -> None:
    """Draw all examples of Hypothesis where slow tests are selected, as `make test-all` does."""
    load_profile(thorough=config.getoption("markexpr").startswith("slow"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return two processes more than processors, at most 4: tests of services wait a third of their time.

    With `--numprocesses logical`, for tests without services, as many as processors: each collects all tests.
    """
    processors = available_cpus()
    return processors if config.option.numprocesses == "logical" else min(processors + 2, 4)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile what changed since `make install`: once for all processes, and within no test's time limit."""
    if hasattr(session.config, "workerinput"):
        return
    from core.warm_up import compile_kernels

    with compilation_progress() as report:
        compile_kernels(report=lambda progress: report(progress.compiled, progress.parts))


def pytest_make_parametrize_id(val: object) -> str | None:
    """Cut long values, up to a megabyte: ids go between processes with each report."""
    return f"{val[:_LONGEST_ID]!r}…" if isinstance(val, str | bytes) and len(val) > _LONGEST_ID else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for garbage neither while tests are collected nor later among them: they stay to the end."""
    gc.disable()
    collected = yield
    gc.freeze()
    gc.enable()
    return collected


@pytest.hookimpl(wrapper=True, tryfirst=True)  # meanwhile marks are read and parameters sorted
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Keep tests that share a service in one process, where tests run in several, and begin with those."""
    for item in items:
        group = _shared_by(item)
        if group is not None:
            item.add_marker(pytest.mark.xdist_group(group))
    yield
    files = {path: number for number, path in enumerate(dict.fromkeys(item.path for item in items))}
    items.sort(key=lambda item: _running_order(item, files[item.path]))


def _running_order(item: pytest.Item, file: int) -> tuple[bool, str, int]:
    """Put groups first: short tests fill up what is left of each process's time.

    Within a group one kind of store comes after the other, and each file as a whole: services start once.
    """
    if item.get_closest_marker("xdist_group") is None:
        return True, "", 0
    return False, _service_kind(item), file


def _shared_by(item: pytest.Item) -> str | None:
    """Name the service that a test shares with others, or the file with services or fixtures of its own."""
    path = item.path.relative_to(_REPOSITORY / "tests").as_posix()
    folder, _, _ = path.partition("/")
    fixtures = getattr(item, "fixturenames", ())
    if folder == "browser":
        return item.path.parent.name if "visit" in fixtures else None
    if "stack" in fixtures and folder != "rankery":
        return f"service-{_service_kind(item)}"
    if (folder == "security" and "target" in fixtures) or (folder == "rankery" and "stack" in fixtures):
        return folder
    return path if folder in _FOLDERS_OF_SERVICES or _has_fixture_of_file(item) else None


def _has_fixture_of_file(item: pytest.Item) -> bool:
    """Tell whether tests of a file share a fixture.

    Each process that runs one of them makes it, and again after tests of other files.
    """
    fixtures: Any = getattr(item, "_fixtureinfo", None)  # None of a doctest
    definitions = fixtures.name2fixturedefs.values() if fixtures else ()
    return any(definition.scope == "module" for each in definitions for definition in each)


def _service_kind(item: pytest.Item) -> str:
    call: Any = getattr(item, "callspec", None)
    return str(call.params.get("service_kind", "")) if call else ""


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder at a path of its own: what tests share, such as processes, knows files by their paths.

    Pytest's own folder is removed after the test, so that the next one may get the same path.
    """
    return tmp_path_factory.mktemp(re.sub(r"\W", "_", request.node.name)[:30])


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of small public datasets: where RANKERY_TEST_DATA says, else beside the repository."""
    folder = Path(os.environ.get("RANKERY_TEST_DATA") or _REPOSITORY.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"no public datasets in {folder}; set RANKERY_TEST_DATA to their folder")
    return folder


@pytest.fixture(scope="session")
def built_guide() -> Path:
    """The folder of the guide that `make` built."""
    if not (SITE / "index.html").is_file():
        skip_without(NOT_BUILT)
    return SITE


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """Find Chromium; without it these tests skip, or fail where RANKERY_TEST_REQUIRE_ALL is set.

    The one without windows needs a sixth less of the processors.
    """
    named = os.environ.get("RANKERY_TEST_CHROMIUM")
    wanted = [named] if named else ["chromium-headless-shell", "chromium"]
    found = next(filter(None, map(shutil.which, wanted)), None)
    if found is None:
        way_out = "apt-get install chromium-headless-shell, or set RANKERY_TEST_CHROMIUM"
        skip_without(f"no {' and no '.join(wanted)}: {way_out}")
    return found


@pytest.fixture(autouse=True)
def _quick_tracebacks() -> None:
    """Until a test configures the log, a traceback would show every local variable, which takes seconds."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback),
        ]
    )
