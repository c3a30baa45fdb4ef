"""Connect to a Dask cluster for the duration of a job."""

import asyncio
import contextlib
import logging
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from typing import TYPE_CHECKING

from core.errors import ClusterUnavailable, ExtraMissing
from worker.dask.settings import DaskSettings

if TYPE_CHECKING:
    from distributed import Client, Security
    from tornado.ioloop import IOLoop

CONNECT_SECONDS = 5.0
_CLOSE_SECONDS = 2.0
_SILENCE_SECONDS = 15  # timeout of a silent TCP connection; Dask requires at least 11
_CONFIGURATION = {
    "distributed.comm.timeouts.connect": f"{CONNECT_SECONDS}s",
    "distributed.comm.timeouts.tcp": f"{_SILENCE_SECONDS}s",
    "distributed.comm.retry.count": 0,
}
_PURPOSE = "distributed work"
_EXTRA = "distributed"


def security_of(settings: DaskSettings) -> "Security":
    """Return the TLS settings of connections to the cluster, without certificates on the loopback address.

    Raises:
        ExtraMissing: Dask is not installed.
    """
    try:
        from distributed import Security
    except ImportError as error:
        raise ExtraMissing(_PURPOSE, _EXTRA) from error
    if settings.dask_tls_ca_file is None:
        return Security(require_encryption=False)
    ca, cert, key = (
        str(settings.dask_tls_ca_file),
        str(settings.dask_tls_cert_file),
        str(settings.dask_tls_key_file),
    )
    return Security(
        require_encryption=(settings.dask_scheduler or "tls://").startswith("tls://"),
        tls_ca_file=ca,
        **{f"tls_{role}_cert": cert for role in ("client", "scheduler", "worker")},
        **{f"tls_{role}_key": key for role in ("client", "scheduler", "worker")},
    )


@contextlib.contextmanager
def cluster_client(settings: DaskSettings) -> Iterator["Client"]:
    """Connect to the scheduler until the block ends.

    The client's event loop runs in a thread started for the block, so that this works in a forked process.
    Results are routed through the scheduler: workers need not be reachable from here. A lost connection is
    retried for five seconds, then all futures are cancelled.

    Raises:
        ExtraMissing: Dask is not installed.
        ClusterUnavailable: The scheduler cannot be reached, refuses the certificate, or is lost.
    """
    security = security_of(settings)
    import dask
    from distributed import Client
    from distributed.comm.core import CommClosedError

    quieten()
    with dask.config.set(_CONFIGURATION), _event_loop() as loop:
        try:
            client = Client(
                settings.dask_scheduler,
                security=security,
                loop=loop,
                timeout=CONNECT_SECONDS,
                set_as_default=False,
                direct_to_workers=False,
            )
        except (OSError, ImportError, ValueError) as error:
            raise ClusterUnavailable(
                f"the Dask scheduler at {settings.dask_scheduler} cannot be used: {_reason(error)}"
            ) from error
        try:
            yield client
        except CommClosedError as error:
            raise ClusterUnavailable(f"the Dask scheduler at {settings.dask_scheduler} was lost") from error
        finally:
            with contextlib.suppress(TimeoutError):
                client.close(_CLOSE_SECONDS)


def quieten() -> None:
    """Limit Dask's logs to warnings; call after importing Dask, which sets other levels."""
    logging.getLogger("distributed").setLevel(logging.WARNING)
    # Suppress the client's messages after a lost connection, which the job reports.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)


def _reason(error: Exception) -> str:
    """Return the message of the innermost cause, since Dask's message only repeats the timeout."""
    cause: BaseException = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    return str(cause) or type(cause).__name__


@contextlib.contextmanager
def _event_loop() -> Iterator["IOLoop"]:
    """Run an event loop in a thread; the client's own loop would outlive a client that closes itself."""
    started: Future[tuple[IOLoop, asyncio.Event]] = Future()
    thread = threading.Thread(target=lambda: asyncio.run(_serve(started)), name="dask-client", daemon=True)
    thread.start()
    loop, ended = started.result()
    try:
        yield loop
    finally:
        loop.add_callback(ended.set)
        thread.join()


async def _serve(started: "Future[tuple[IOLoop, asyncio.Event]]") -> None:
    from tornado.ioloop import IOLoop

    ended = asyncio.Event()
    started.set_result((IOLoop.current(), ended))
    await ended.wait()
