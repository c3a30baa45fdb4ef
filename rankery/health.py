"""Health of one API or worker on this machine, for the probes of containers and supervisors."""

from collections.abc import Sequence
from pathlib import Path

import httpx

from rankery.embedded.ports import reachable_host
from rankery.errors import NotHealthy
from rankery.server_package import require_server_package

_TIMEOUT_SECONDS = 5.0


def check_api(host: str, port: int, purpose: str | None, *, live: bool) -> None:
    """Check the health of the API at an address of this machine.

    Args:
        host: Address that the API listens on.
        purpose: `scoring` or `jobs`; None for everything.
        live: Check only whether the process answers.

    Raises:
        NotHealthy: The API does not answer, or reports a fault.
    """
    path = "healthz" if live else "readyz" if purpose is None else f"readyz?for={purpose}"
    url = f"http://{reachable_host(host)}:{port}/{path}"
    try:
        response = httpx.get(url, timeout=_TIMEOUT_SECONDS, trust_env=False)
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:  # the last for a host such as a..b
        raise NotHealthy(f"the API does not answer at {url}: {error}") from error
    if response.status_code != httpx.codes.OK:
        try:
            detail = response.json()["detail"]
        except (ValueError, KeyError, TypeError):
            detail = f"{url} answered {response.status_code}"
        raise NotHealthy(f"the API is not ready: {detail}")


def check_worker(data_dir: Path, lanes: Sequence[str], *, live: bool) -> None:
    """Check the last health report of the worker of this machine.

    Args:
        lanes: Lanes to check.
        live: Check only whether the processes run, not whether they are ready.

    Raises:
        NotHealthy: A lane has no worker here, its report is a minute old, or it is not ready.
    """
    require_server_package()
    from core.worker_health import READY, STALE_SECONDS, WorkerHealthFile

    for lane in lanes:
        health = WorkerHealthFile(data_dir, lane).read()
        if health is None:
            raise NotHealthy(f"no worker of the lane {lane} runs on this machine with {data_dir}")
        if not health.is_live:
            raise NotHealthy(f"the worker of the lane {lane} has not answered for {STALE_SECONDS:g} s")
        if not live and health.state != READY:
            raise NotHealthy(f"the worker of the lane {lane} is not ready: {health}")
