"""The two kinds of store on which the same tests run: local files, and PostgreSQL with S3."""

import functools
import itertools
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import fsspec
import pytest

from core.store import Store, StoreSettings
from tests.servers.postgres import PostgresServer
from tests.servers.s3 import S3Server

StoreArguments = dict[str, Any]

_STORES = ("embedded", "servers")
_TESTS = Path(__file__).parents[1]
# Tests that run on servers by default only with the mark `both_stores`, which shows that stores behave alike.
_ON_SERVERS_IF_SELECTED = tuple(
    _TESTS / path
    for path in (
        "app",
        "core",
        "worker",
        "faults/test_schedules.py",
        "integration/test_comparisons.py",
        "integration/test_datasets.py",
        "integration/test_experiments.py",
        "integration/test_previous_release.py",
        "integration/test_registry.py",
        "integration/test_resumable_uploads.py",
        "integration/test_serving.py",
        "integration/test_two_apis.py",
    )
)
_numbers = itertools.count(1)


class ServicePlaces(NamedTuple):
    """Data folder and environment variables of a service's processes."""

    data_dir: Path
    environment: dict[str, str]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that runs tests on one kind of store only."""
    parser.addoption("--store", choices=_STORES, help="run on this kind of store only, instead of on both")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marks that bind a test to one kind of store, or to both."""
    config.addinivalue_line("markers", "both_stores: runs on both kinds of store, since they may differ")
    config.addinivalue_line("markers", "embedded: runs on local files only; servers would add nothing")
    config.addinivalue_line(
        "markers", "servers: runs on PostgreSQL and S3 only; local files would add nothing"
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test of a store or a service on both kinds of store, unless its mark names one.

    Tests that are numerous or slow run on servers by `make test-servers` only.
    """
    marked = {mark.name for mark in metafunc.definition.iter_markers()} & set(_STORES)
    selected = metafunc.config.getoption("store")
    path = metafunc.definition.path
    if selected is None and not marked and _is_on_servers_if_selected(path):
        both = metafunc.definition.get_closest_marker("both_stores") is not None
        marked = set(_STORES) if both else {"embedded"}
    kinds = [kind for kind in _STORES if selected in (None, kind) and (not marked or kind in marked)]
    if "store_kind" in metafunc.fixturenames:
        metafunc.parametrize("store_kind", kinds)
    if "service_kind" in metafunc.fixturenames:
        metafunc.parametrize("service_kind", kinds, scope="session")


@functools.cache
def _is_on_servers_if_selected(path: Path) -> bool:
    return any(map(path.is_relative_to, _ON_SERVERS_IF_SELECTED))


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    """The PostgreSQL server that tests share; it runs during the whole session."""
    with PostgresServer(tmp_path_factory.mktemp("postgres")) as server:
        yield server


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """The object store that tests share; it runs during the whole session."""
    with S3Server(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture(scope="session")
def bucket(s3: S3Server) -> str:
    """The storage URL of a bucket that tests share; each test has a separate folder in it."""
    return s3.new_bucket()[0]


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated, empty SQLite database, to be copied."""
    folder = tmp_path_factory.mktemp("migrated")
    _migrate(StoreSettings(data_dir=folder))
    return folder / "rankery.db"


@pytest.fixture(scope="session")
def migrated_database(postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A migrated, empty PostgreSQL database, to be copied."""
    url = postgres.new_database()
    _migrate(StoreSettings(data_dir=tmp_path_factory.mktemp("migrated"), database_url=url))
    return url


@pytest.fixture(scope="session")
def service_places(
    service_kind: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> ServicePlaces:
    """Data folder and environment variables of a service that tests share."""
    return new_service_places(service_kind, tmp_path_factory.mktemp(f"service-{service_kind}"), request)


@pytest.fixture
def store_arguments(
    store_kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[StoreArguments]:
    """Settings of a store for this test only; its database is migrated and empty."""
    data_dir = tmp_path / "data"
    if store_kind == "embedded":
        data_dir.mkdir()
        shutil.copy(request.getfixturevalue("migrated_file"), data_dir)
        yield {"data_dir": data_dir}
    else:
        template = request.getfixturevalue("migrated_database")
        yield from _places_on_servers(request, data_dir, template)


@pytest.fixture
def unmigrated_store_arguments(
    store_kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[StoreArguments]:
    """Settings of a store for this test only; its database is not migrated and has no tables."""
    data_dir = tmp_path / "data"
    if store_kind == "embedded":
        yield {"data_dir": data_dir}
    else:
        yield from _places_on_servers(request, data_dir, None)


def new_service_places(kind: str, data_dir: Path, request: pytest.FixtureRequest) -> ServicePlaces:
    """Return the arguments of a new, empty service on one kind of store."""
    if kind == "embedded":
        return ServicePlaces(data_dir, {})
    postgres: PostgresServer = request.getfixturevalue("postgres")
    s3: S3Server = request.getfixturevalue("s3")
    storage_url, environment = s3.new_bucket()
    named = {"RANKERY_DATABASE_URL": postgres.new_database(), "RANKERY_STORAGE_URL": storage_url}
    return ServicePlaces(data_dir, environment | named)


def artifact_keys(storage_url: str) -> list[str]:
    """List the keys of all artifacts and of empty folders."""
    files, root = fsspec.core.url_to_fs(storage_url, use_listings_cache=False, skip_instance_cache=True)
    if not files.exists(root):
        return []
    paths = set(files.find(root, withdirs=True)) - {root}
    folders = {path.rpartition("/")[0] for path in paths}
    return sorted(path.removeprefix(f"{root}/") for path in paths - folders)


def stored_datasets(storage_url: str) -> set[str]:
    """Return the ids of the datasets whose uploaded files are stored."""
    return {key.split("/")[1] for key in artifact_keys(storage_url) if key.startswith("datasets/")}


def _places_on_servers(
    request: pytest.FixtureRequest, data_dir: Path, template: str | None
) -> Iterator[StoreArguments]:
    postgres: PostgresServer = request.getfixturevalue("postgres")
    s3: S3Server = request.getfixturevalue("s3")
    bucket: str = request.getfixturevalue("bucket")
    monkeypatch: pytest.MonkeyPatch = request.getfixturevalue("monkeypatch")
    for name, value in s3.environment.items():
        monkeypatch.setenv(name, value)
    database_url = postgres.new_database(template)
    yield {
        "data_dir": data_dir,
        "database_url": database_url,
        "storage_url": f"{bucket}/{next(_numbers)}",
    }
    postgres.drop_database(database_url)


def _migrate(settings: StoreSettings) -> None:
    store = Store.open(settings)
    store.migrate()
    store.close()
