"""Start the processes of the service; no other module of this package imports the API or the worker."""

import gc
import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankery.errors import InvalidSettings, ProcessFailed, invalid_settings
from rankery.keys import require_key_beyond_loopback
from rankery.server_package import require_server_package

if TYPE_CHECKING:
    from core.warm_up import Part

# Shorter than the grace period of the embedded service, so that a slow upload does not cause a kill.
_GRACEFUL_SHUTDOWN_SECONDS = 5
# The export process takes 2 s of a processor and 200 MB; a service that ends earlier seldom needs it.
_EXPORT_PROCESS_DELAY_SECONDS = 300.0
_PRIVATE_UMASK = 0o077  # other users cannot read labels, models, or the secrets of webhooks
_GIL_SWITCH_SECONDS = 0.0005  # a tenth of Python's default
_PREFIX, _TEST_PREFIX = "RANKERY_", "RANKERY_TEST_"
_CLIENT_VARIABLES = ("api_key", "url")
# A rank worker runs code of jobs and does not need these credentials.
WITHHELD_VARIABLES = ("RANKERY_DATABASE_URL", "RANKERY_BROKER_URL", "RANKERY_ENCRYPTION_KEYS", "PGPASSWORD")
IMPORT_CREDENTIALS = "RANKERY_CREDENTIALS_"  # prefix of variables with named credentials, withheld as well


def run_api(host: str, port: int, data_dir: Path, descriptors: Sequence[int] = ()) -> None:
    """Run the API and the dashboard until SIGINT or SIGTERM.

    Args:
        host: Address to listen on.
        descriptors: Sockets that already listen on this address and port.

    Raises:
        PackageMissing, PackageShadowed: A package of the server is missing, or shadowed by another.
        InvalidSettings: A `RANKERY_…` variable is out of bounds.
        KeyMissing: The address is not loopback, and no API key was ever created.
        StoreUnusable: The address is not loopback, and the database cannot be used.
        ProcessFailed: A URL of the database or the artifact storage is invalid, or its package is missing.
    """
    require_server_package()
    capture_output()
    _prepare_environment()
    require_key_beyond_loopback(host, data_dir)
    from core.process_start import garbage_collection_paused

    with garbage_collection_paused(), _convert_settings_errors():
        from app.settings import ApiSettings

        settings = ApiSettings(data_dir=data_dir.absolute(), host=host, port=port)
    with garbage_collection_paused():  # after the settings, since these imports take seconds
        import uvicorn

        from app import create_app
        from app.http.access_log import configure_logging
        from app.http.admission.low_priority import LOW_PRIORITY
        from app.http.connections import server_options
        from core.store import Store

    configure_logging(settings.log_level, settings.log_format)
    _warn_of_unknown_variables()
    _warn_of_readable_data_folder(settings.data_dir)
    with _convert_core_errors():
        Store.open(settings).close()  # opening does not connect yet
        application = create_app(settings)
    _start_later(LOW_PRIORITY.start)
    # A full collection pauses all requests; freezing the existing objects makes each pause 0.2 s shorter.
    gc.collect()
    gc.freeze()
    # The event loop waits up to this interval for the GIL for each running thread.
    sys.setswitchinterval(_GIL_SWITCH_SECONDS)
    # The application has a structured access log, which replaces that of uvicorn.
    configuration = uvicorn.Config(
        application,
        host=host,
        port=port,
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=_GRACEFUL_SHUTDOWN_SECONDS,
        **server_options(settings),
    )
    # Uvicorn's option `fd` would treat the socket as a Unix socket, and not set TCP_NODELAY.
    listeners = [socket.socket(fileno=descriptor) for descriptor in descriptors]
    with suppress(KeyboardInterrupt):
        uvicorn.Server(configuration).run(listeners or None)


@contextmanager
def _convert_core_errors() -> Iterator[None]:
    """Convert core errors in the block to `ProcessFailed`."""
    from core.errors import RankeryError

    try:
        yield
    except RankeryError as error:
        raise ProcessFailed(str(error)) from error


def _start_later(start: Callable[[], None]) -> None:
    timer = threading.Timer(_EXPORT_PROCESS_DELAY_SECONDS, start)
    timer.daemon = True
    timer.start()


def run_worker(
    data_dir: Path, lane: str | None = None, *, concurrency: int | None = None, threads: int | None = None
) -> None:
    """Run a worker until SIGINT or SIGTERM, for one lane or with a process for each lane.

    Raises:
        PackageMissing, PackageShadowed: A package of the server is missing, or shadowed by another.
        InvalidSettings: A `RANKERY_…` variable is out of bounds.
        ProcessFailed: The database or the artifact store cannot be used.
    """
    require_server_package()
    capture_output()
    _prepare_environment(threads)
    from core.process_start import garbage_collection_paused

    options = {"data_dir": data_dir.absolute(), "worker_concurrency": concurrency, "threads": threads}
    changed: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    with garbage_collection_paused(), _convert_settings_errors():
        from worker.settings import WorkerSettings

        settings = WorkerSettings(**changed)
    with garbage_collection_paused():
        from worker import run
        from worker.application import configure_logging

    configure_logging(settings)
    _warn_of_unknown_variables()
    with _convert_core_errors():
        run(settings, lane)


def run_rank_worker(
    scheduler: str | None, *, threads: int | None, memory: str, host: str | None, say: Callable[[str], None]
) -> None:
    """Run a worker of a Dask cluster until SIGINT or SIGTERM, without credentials of the database.

    Raises:
        PackageMissing, PackageShadowed: A package of the server is missing, or shadowed by another.
        InvalidSettings: No scheduler is given, or a `RANKERY_…` variable is out of bounds.
        ProcessFailed: Dask is not installed, or certificates or kernels cannot be used.
    """
    require_server_package()
    _start_without_credentials(say)
    capture_output()
    _prepare_environment(threads)
    from core.process_start import garbage_collection_paused

    with garbage_collection_paused():
        from core.machine import available_cpus
        from rankery.embedded.compilation_progress import compilation_progress
        from worker.application import configure_logging
        from worker.dask.rank_worker import RankWorkerOptions, run_until_stopped
        from worker.settings import WorkerSettings

    changed: dict[str, Any] = {} if scheduler is None else {"dask_scheduler": scheduler}
    with _convert_settings_errors():
        settings = WorkerSettings(**changed)
    if settings.dask_scheduler is None:
        raise InvalidSettings(
            "give the address of the Dask scheduler with --scheduler or RANKERY_DASK_SCHEDULER"
        )
    configure_logging(settings)
    _warn_of_unknown_variables()
    with compilation_progress() as report:
        compile_kernels(report)  # otherwise each rank would compile them
    options = RankWorkerOptions(threads or settings.threads or available_cpus(), memory, host, settings.ports)
    with _convert_core_errors():
        run_until_stopped(settings, options)


def _start_without_credentials(say: Callable[[str], None]) -> None:
    """Restart this process without credentials: variables that are only unset stay in its memory."""
    withheld = [name for name in WITHHELD_VARIABLES if name in os.environ]
    withheld += sorted(name for name in os.environ if name.startswith(IMPORT_CREDENTIALS))
    if not withheld:
        return
    say(f"a rank worker uses no database and no broker: {' and '.join(withheld)} removed")
    environment = {name: value for name, value in os.environ.items() if name not in withheld}
    sys.stderr.flush()
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)  # noqa: S606 - our own command


def capture_output() -> None:
    """Redirect the standard output of this process to its log, if the log is in JSON."""
    from core import logs

    logs.capture_output()


def unknown_variables(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the unknown `RANKERY_…` variables, each with a hint."""
    from app.settings import ApiSettings
    from core.names import did_you_mean
    from worker.settings import WorkerSettings

    fields = {*ApiSettings.model_fields, *WorkerSettings.model_fields, *_CLIENT_VARIABLES}
    variables = {name.upper(): f"{_PREFIX}{name.upper()}" for name in fields}
    valid = {*variables.values(), *(name for name in environment if name.startswith(_TEST_PREFIX))}
    return {
        name: did_you_mean(name.upper().removeprefix(_PREFIX), variables) or "the guide lists all settings"
        for name in sorted(environment)
        if name.upper().startswith(_PREFIX) and name.upper() not in valid
        if not name.startswith(IMPORT_CREDENTIALS)
    }


def _warn_of_unknown_variables() -> None:
    import structlog

    for name, hint in unknown_variables().items():
        structlog.stdlib.get_logger(__name__).warning("setting.unknown", variable=name, hint=hint)


def compile_kernels(report: Callable[[int, int], None]) -> Path:
    """Compile the kernels that are missing in the cache of this machine; return the cache folder.

    Args:
        report: Called with the number of compiled parts and of all parts.

    Raises:
        ProcessFailed: The kernels cannot be compiled or cached.
    """
    from core.kernel_cache import is_writable, kernel_cache
    from core.warm_up import PARTS, missing_parts

    if missing_parts() and not is_writable(kernel_cache()):
        raise ProcessFailed(f"{kernel_cache()} cannot be written; set NUMBA_CACHE_DIR to a folder that can")
    _compile(PARTS, report)
    return kernel_cache()


def compile_demo_kernels(report: Callable[[int, int], None]) -> None:
    """Compile the kernels of `rankery demo` that are missing in the cache, if it is writable.

    Args:
        report: Called with the number of compiled parts and of all parts.

    Raises:
        ProcessFailed: The kernels cannot be compiled.
    """
    from core.warm_up import DEMO

    _compile(DEMO, report)


def _compile(parts: "Sequence[Part]", report: Callable[[int, int], None]) -> None:
    from core.errors import KernelsNotReady
    from core.warm_up import compile_kernels

    try:
        compile_kernels(parts, report=lambda progress: report(progress.compiled, progress.parts))
    except KernelsNotReady as error:
        raise ProcessFailed(f"the kernels {error}") from error


def _prepare_environment(threads: int | None = None) -> None:
    """Set the umask, and the variables that numba, OpenMP and Arrow read at import."""
    from core.machine import limit_threads
    from core.process_start import leave_out_unused

    os.umask(_PRIVATE_UMASK)
    leave_out_unused()

    configured = os.environ.get("RANKERY_THREADS", "")
    limit_threads(requested=threads or (int(configured) if configured.isdecimal() else None))
    # LightGBM and numba may each have an OpenMP pool; spinning idle threads of one would slow the other.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    # libgomp: spinning for microseconds suffices for LightGBM's many short loops. With the default of 300,000
    # spins, two processes on the same cores take a hundred times as long.
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")


def _warn_of_readable_data_folder(data_dir: Path) -> None:
    """Warn if other users can read the data folder, such as one of an older release."""
    import structlog

    if data_dir.is_dir() and data_dir.stat().st_mode & _PRIVATE_UMASK:
        structlog.stdlib.get_logger(__name__).warning(
            "data_folder.open_to_others", data_dir=str(data_dir), hint=f"chmod -R go= {data_dir}"
        )


@contextmanager
def _convert_settings_errors() -> Iterator[None]:
    from pydantic import ValidationError

    try:
        yield
    except ValidationError as error:
        raise invalid_settings(error.errors()) from None
