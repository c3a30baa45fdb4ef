"""Fixtures that tests of several packages share."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from hypothesis import settings

from app.guide.files import NOT_BUILT, SITE
from rankery.embedded.compilation_progress import compilation_progress

# Else threads that wait for each other keep processors busy that other tests need.
os.environ.setdefault("GOMP_SPINCOUNT", "0")

# A busy machine must not fail a test: speed is shown by benchmarks.
settings.register_profile("rankery", deadline=None)
settings.load_profile("rankery")

pytest_plugins = ["tests.servers.fixtures"]

_REPOSITORY = Path(__file__).parents[1]


# Their tests share services that start for whole files, or for the session.
_FOLDERS_OF_SERVICES = ("browser", "deploy", "faults", "guide", "integration", "rankery", "security")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile what changed since `make install`: once for all processes, and within no test's time limit."""
    if hasattr(session.config, "workerinput"):
        return
    from core.warm_up import compile_kernels

    with compilation_progress() as report:
        compile_kernels(report=lambda progress: report(progress.compiled, progress.parts))


@pytest.hookimpl(wrapper=True, tryfirst=True)  # meanwhile marks are read and parameters sorted
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Keep tests that share a service in one process, where tests run in several, and begin with those."""
    for item in items:
        group = _shared_by(item)
        if group is not None:
            item.add_marker(pytest.mark.xdist_group(group))
    yield
    items.sort(key=_running_order)


def _running_order(item: pytest.Item) -> tuple[bool, str]:
    """Put groups first: short tests fill up what is left of each process's time.

    Within the group that shares a service, one kind of store comes after the other, so that each starts once.
    """
    call: Any = getattr(item, "callspec", None)
    kind = call.params.get("service_kind", "") if call else ""
    return item.get_closest_marker("xdist_group") is None, kind


def _shared_by(item: pytest.Item) -> str | None:
    """Name the service that a test shares with others, or the file with services of its own."""
    folder, _, _ = item.path.relative_to(_REPOSITORY / "tests").as_posix().partition("/")
    fixtures = getattr(item, "fixturenames", ())
    if "service_kind" in fixtures:
        return "service"
    if folder == "browser":
        return item.path.parent.name if "visit" in fixtures else None
    if folder == "security" and "target" in fixtures:
        return folder
    return item.path.name if folder in _FOLDERS_OF_SERVICES else None


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
        if os.environ.get("RANKERY_TEST_REQUIRE_ALL"):
            pytest.fail(NOT_BUILT)
        pytest.skip(NOT_BUILT)
    return SITE


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """Find Chromium; without it these tests skip, or fail where RANKERY_TEST_REQUIRE_ALL is set."""
    wanted = os.environ.get("RANKERY_TEST_CHROMIUM", "/usr/bin/chromium")
    found = shutil.which(wanted)
    if found is None:
        reason = f"no Chromium at {wanted}; install it or set RANKERY_TEST_CHROMIUM"
        if os.environ.get("RANKERY_TEST_REQUIRE_ALL"):
            pytest.fail(reason)
        pytest.skip(reason)
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
