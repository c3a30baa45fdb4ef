"""Fixtures that tests of several packages share."""

import functools
import gc
import itertools
import os
import re
import shutil
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import structlog

from core.machine import available_cpus
from rankery.embedded.compilation_progress import compilation_progress
from tests.examples import load_profile
from tests.requirements import skip_without

# Otherwise, threads that wait for each other keep processors busy that other tests need.
os.environ.setdefault("GOMP_SPINCOUNT", "0")

_REPOSITORY = Path(__file__).parents[1]

# Trainings of networks compile the same functions repeatedly, in all processes of the tests.
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(_REPOSITORY / ".pytest_cache" / "jax"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")

# A commit of SQLite waits for a disk, and never for memory.
_MEMORY = Path("/dev/shm")
if _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free >= 12 * 2**30:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))

pytest_plugins = ["tests.servers.fixtures"]

_LONGEST_ID = 200
_numbers = itertools.count(1)

# Tests in these folders share services that start once for whole files, or for the session.
_FOLDERS_OF_SERVICES = ("browser/", "deploy/", "faults/", "guide/", "integration/", "rankery/", "security/")


def pytest_configure(config: pytest.Config) -> None:
    """Draw all examples of Hypothesis if slow tests are selected, as `make test-all` does."""
    load_profile(thorough=config.getoption("markexpr").startswith("slow"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return one process more than processors, at most 4: tests wait for services a third of the time.

    With `--numprocesses logical`, for tests without services, as many as processors: each collects all tests.
    """
    processors = available_cpus()
    return processors if config.option.numprocesses == "logical" else min(processors + 1, 4)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile changes since `make install` once for all processes, outside of the time limits of tests."""
    if hasattr(session.config, "workerinput"):
        return
    from core.warm_up import compile_kernels

    with compilation_progress() as report:
        compile_kernels(report=lambda progress: report(progress.compiled, progress.parts))


def pytest_make_parametrize_id(val: object) -> str | None:
    """Shorten long values, up to a megabyte, since each report sends ids between processes."""
    return f"{val[:_LONGEST_ID]!r}…" if isinstance(val, str | bytes) and len(val) > _LONGEST_ID else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Disable garbage collection while tests are collected, and exempt the collected tests from it later.

    With the default thresholds, collections take a twelfth of the processor time of tests.
    """
    gc.disable()
    collected = yield
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    gc.enable()
    return collected


@pytest.hookimpl(wrapper=True, tryfirst=True)  # the other hooks read marks and sort parameters
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Keep tests of a file, or of files that share a service, in one process if tests run in several.

    Each process creates shared objects once; xdist takes longer to send one test than most tests run.
    """
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(_group(item)))
    yield
    order = _running_order(items)
    items.sort(key=lambda item: order[item])


def _running_order(items: Sequence[pytest.Item]) -> dict[pytest.Item, tuple[int, str, int]]:
    """Run groups of services first, then files with long tests; short files fill the remaining time.

    Within a group, tests are sorted by kind of store and by file, so that services start once.
    """
    files = {path: number for number, path in enumerate(dict.fromkeys(item.path for item in items))}
    long_files = {item.path for item in items if item.get_closest_marker("long")}

    def place(item: pytest.Item) -> tuple[int, str, int]:
        group, path = item.get_closest_marker("xdist_group"), _path(item)
        assert group is not None
        if group.args[0] != path or path.startswith(_FOLDERS_OF_SERVICES):
            return 0, _service_kind(item), files[item.path]
        return 1 if item.path in long_files else 2, "", files[item.path]

    return {item: place(item) for item in items}


def _group(item: pytest.Item) -> str:
    """Return the name of the service that a test shares with other files, or else its file."""
    path = _path(item)
    folder, _, _ = path.partition("/")
    fixtures = getattr(item, "fixturenames", ())
    if folder == "browser" and "visit" in fixtures:
        # One Chromium for pages of the live service, another for pages with sign-in and recorded pages.
        return "live pages" if item.path.parent.name == "browser" else "other pages"
    if "stack" in fixtures and folder != "rankery":
        return f"service-{_service_kind(item)}"
    if (folder == "security" and "target" in fixtures) or (folder == "rankery" and "stack" in fixtures):
        return folder
    return "service-servers" if _uses_servers(item) else path


def _uses_servers(item: pytest.Item) -> bool:
    """Return whether a test has a store on PostgreSQL and S3, which start once, as few tests use them."""
    if item.config.getoption("store") is not None:
        return False
    fixtures = getattr(item, "fixturenames", ())
    return _parameter(item, "store_kind") == "servers" or "postgres" in fixtures or "s3" in fixtures


def _path(item: pytest.Item) -> str:
    return _path_of_file(item.path)


@functools.cache
def _path_of_file(path: Path) -> str:
    return path.relative_to(_REPOSITORY / "tests").as_posix()


def _service_kind(item: pytest.Item) -> str:
    return _parameter(item, "service_kind")


def _parameter(item: pytest.Item, name: str) -> str:
    call: Any = getattr(item, "callspec", None)
    return str(call.params.get(name, "")) if call else ""


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a unique path, since shared processes identify files by their paths.

    Pytest removes its own folder after the test, so the next one may get the same path. To choose a number,
    pytest lists all folders so far, and there are thousands.
    """
    name = re.sub(r"\W", "_", request.node.name)[:30]
    return tmp_path_factory.mktemp(f"{name}-{next(_numbers)}", numbered=False)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of small public datasets: RANKERY_TEST_DATA, or the default beside the repository."""
    folder = Path(os.environ.get("RANKERY_TEST_DATA") or _REPOSITORY.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"no public datasets in {folder}; set RANKERY_TEST_DATA to their folder")
    return folder


@pytest.fixture(scope="session")
def built_guide() -> Path:
    """The folder of the guide that `make` built."""
    from app.guide.files import NOT_BUILT, SITE  # the process that distributes tests needs no application

    if not (SITE / "index.html").is_file():
        skip_without(NOT_BUILT)
    return SITE


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """Return the path of Chromium; tests skip without it, or fail if RANKERY_TEST_REQUIRE_ALL is set.

    The headless build needs a sixth less processor time.
    """
    named = os.environ.get("RANKERY_TEST_CHROMIUM")
    wanted = [named] if named else ["chromium-headless-shell", "chromium"]
    path = next(filter(None, map(shutil.which, wanted)), None)
    if path is None:
        remedy = "apt-get install chromium-headless-shell, or set RANKERY_TEST_CHROMIUM"
        skip_without(f"no {' and no '.join(wanted)}: {remedy}")
    return path


@pytest.fixture(autouse=True)
def _quick_tracebacks() -> None:
    """Until a test configures the log, omit local variables from tracebacks, which take seconds to print."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback),
        ]
    )
