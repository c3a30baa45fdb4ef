"""A small typed client of the HTTP interface."""

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias
from urllib.parse import quote

import httpx

from rankery.errors import InvalidSettings, JobFailed, KeyRefused, RankeryApiError, ServiceUnreachable

Document: TypeAlias = dict[str, Any]

_ENDED = frozenset({"succeeded", "failed", "cancelled"})
_UPLOAD_TIMEOUT_SECONDS = 3600.0


class Client:
    """Talk to one Rankery service; use it as a context manager or call `close`.

    Every method returns the service's JSON as plain dictionaries and raises `RankeryApiError` with the
    problem that the service reported (`KeyRefused` where it wants another key), or `ServiceUnreachable`.

    Args:
        base_url: Where the service is, such as `http://127.0.0.1:8000`.
        timeout_seconds: How long to wait for one answer. Uploads may take an hour.
        transport: Another httpx transport, to reach an application inside this process.
        api_key: The secret of a key, `rk_…`; that of RANKERY_API_KEY where left out. None is needed while
            the service has no key at all.
    """

    def __init__(
        self,
        base_url: str,
        timeout_seconds: float = 30.0,
        transport: httpx.BaseTransport | None = None,
        *,
        api_key: str | None = None,
    ) -> None:
        secret = (os.environ.get("RANKERY_API_KEY", "") if api_key is None else api_key).strip()
        self._has_key = bool(secret)
        self._http = httpx.Client(
            base_url=base_url, timeout=timeout_seconds, transport=transport, headers=_authorization(secret)
        )

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def upload_dataset(
        self,
        path: Path | None = None,
        name: str | None = None,
        *,
        parts: Mapping[str, Path] | None = None,
        query_sizes: Mapping[str, Path] | None = None,
        **options: Any,
    ) -> Document:
        """Upload judged data; it is read by a job and becomes `ready` or `invalid`.

        Args:
            path: The file, streamed; or None where `parts` has several.
            name: What people will call it; the file's name when left out.
            parts: `train`, `validation` and `test` files instead. Each becomes a dataset; that of the first
                is returned, and its `parts` names them all.
            query_sizes: LightGBM's query file beside each part; beside `file` for a single one.
            **options: `format`, `non_contiguous_queries`, `repeated_features`, `columns`, `feature_names`.
        """
        paths = {**({} if path is None else {"file": path}), **(parts or {})}
        paths |= {f"{part}_query": side for part, side in (query_sizes or {}).items()}
        fields = {
            key: value if isinstance(value, str) else json.dumps(value) for key, value in options.items()
        }
        if name is not None:
            fields["name"] = name
        with ExitStack() as stack:
            files = {
                part: (file.name, stack.enter_context(file.open("rb")), "application/octet-stream")
                for part, file in paths.items()
            }
            return self._send(
                "POST", "/v1/datasets", files=files, data=fields, timeout=_UPLOAD_TIMEOUT_SECONDS
            )

    def synthetic_dataset(
        self, queries: int, *, seed: int = 0, polynomial_seed: int = 0, name: str | None = None
    ) -> Document:
        """Ask for a synthetic dataset; those with one `polynomial_seed` share the function to be learnt."""
        body: Document = {"queries": queries, "seed": seed, "polynomial_seed": polynomial_seed}
        if name is not None:
            body["name"] = name
        return self._send("POST", "/v1/datasets/synthetic", json=body)

    def dataset(self, dataset_id: str) -> Document:
        """Return a dataset with its statistics, or with the problem found in it."""
        return self._send("GET", f"/v1/datasets/{dataset_id}")

    def delete_dataset(self, dataset_id: str) -> None:
        """Remove a dataset; what was trained or measured on it stays."""
        self._request("DELETE", f"/v1/datasets/{dataset_id}")

    def queries(self, dataset_id: str, *, limit: int | None = None, cursor: str | None = None) -> Document:
        """Return a page of a dataset's queries."""
        wanted = {"limit": limit, "cursor": cursor}
        return self._send(
            "GET", f"/v1/datasets/{dataset_id}/queries", params={k: v for k, v in wanted.items() if v}
        )

    def query(self, dataset_id: str, query_id: str, *, offset: int = 0, limit: int = 100) -> Document:
        """Return documents of one query of a dataset, with their labels and features."""
        address = f"/v1/datasets/{dataset_id}/queries/{quote(query_id, safe='')}"
        return self._send("GET", address, params={"offset": offset, "limit": limit})

    def submit(self, job: Mapping[str, Any]) -> Document:
        """Submit a job: `{"kind": "train" | "evaluate" | "rank" | "compare" | "inspect", …}`."""
        return self._send("POST", "/v1/jobs", json=dict(job))

    def job(self, job_id: str) -> Document:
        """Return a job with its status, progress, metrics, result and problem."""
        return self._send("GET", f"/v1/jobs/{job_id}")

    def cancel(self, job_id: str) -> Document:
        """Ask a job to stop; a queued one stops at once, a running one within a second or so."""
        return self._send("POST", f"/v1/jobs/{job_id}/cancel")

    def history(self, job_id: str, after: int = 0) -> Document:
        """Return a training job's learning curves, from the iteration behind `after` on."""
        return self._send("GET", f"/v1/jobs/{job_id}/history", params={"after": after})

    def wait(
        self,
        job_id: str,
        on_progress: Callable[[Document], None] | None = None,
        *,
        timeout_seconds: float | None = None,
        interval_seconds: float = 0.3,
    ) -> Document:
        """Wait until a job has ended and return it.

        Args:
            job_id: The job.
            on_progress: Called with the job each time it was asked for.
            timeout_seconds: Give up after so long; None waits for ever.
            interval_seconds: The pause between two questions.

        Raises:
            JobFailed: It failed or was cancelled.
            TimeoutError: It has not ended in time.
        """
        deadline = None if timeout_seconds is None else time.monotonic() + timeout_seconds
        while True:
            job = self.job(job_id)
            if on_progress is not None:
                on_progress(job)
            if job["status"] == "succeeded":
                return job
            if job["status"] in _ENDED:
                raise JobFailed(job)
            if deadline is not None and time.monotonic() > deadline:
                raise TimeoutError(f"job {job_id} is still {job['status']} after {timeout_seconds:g} s")
            time.sleep(interval_seconds)

    def wait_for_dataset(
        self, dataset: Mapping[str, Any], *, timeout_seconds: float | None = None
    ) -> Document:
        """Wait until a dataset just sent has been read, and return it ready.

        Raises:
            JobFailed: It is invalid; the sentence names the first fault and its place.
        """
        self.wait(dataset["job_id"], timeout_seconds=timeout_seconds)
        return self.dataset(dataset["id"])

    def model(self, reference: str) -> Document:
        """Return a model by id, name, `name:version` or `name@alias`."""
        return self._send("GET", f"/v1/models/{reference}")

    def set_alias(self, name: str, alias: str, version: int) -> Document:
        """Point an alias such as `champion` at a version of a model; returns the model.

        An alias with a gate is moved by a job, of kind `promote`, which is returned instead.
        """
        return self._send("PUT", f"/v1/models/{name}/aliases/{alias}", json={"version": version})

    def set_gate(self, name: str, alias: str, gate: Mapping[str, Any]) -> Document:
        """Say what a version must show before an alias moves to it: `{"dataset_id", "metric", …}`."""
        return self._send("PUT", f"/v1/models/{name}/aliases/{alias}/gate", json=dict(gate))

    def roll_back(self, name: str, alias: str) -> Document:
        """Undo the last move of an alias that is not undone yet; returns the model that it points at then."""
        return self._send("POST", f"/v1/models/{name}/aliases/{alias}/rollback")

    def import_model(self, path: Path, name: str) -> Document:
        """Upload a model that LightGBM saved as text; its job tries it out and makes the name's next version.

        Args:
            path: The file, streamed.
            name: The name that it becomes a version of.
        """
        with path.open("rb") as file:
            files = {"file": (path.name, file, "text/plain")}
            fields = {"name": name}
            return self._send("POST", "/v1/models", files=files, data=fields, timeout=_UPLOAD_TIMEOUT_SECONDS)

    def reproduce(self, reference: str) -> Document:
        """Train a model again; the result of the job that it returns says whether the same bytes came out."""
        return self._send("POST", f"/v1/models/{reference}/reproduce")

    def evaluation(self, evaluation_id: str) -> Document:
        """Return the mean and 95% interval of each metric of an evaluation."""
        return self._send("GET", f"/v1/evaluations/{evaluation_id}")

    def comparison(self, comparison_id: str) -> Document:
        """Return what may be said of every pair of systems, and the tests behind it."""
        return self._send("GET", f"/v1/comparisons/{comparison_id}")

    def upload_run(self, path: Path, dataset_id: str, *, name: str | None = None) -> Document:
        """Upload a TREC run, the ranking of any other system; the job that reads it makes a ranking.

        Args:
            path: The file, streamed.
            dataset_id: The dataset whose queries it ranks.
            name: What people will call the system; the file's name when left out.
        """
        fields = {"dataset_id": dataset_id} | ({} if name is None else {"name": name})
        with path.open("rb") as file:
            files = {"file": (path.name, file, "text/plain")}
            return self._send(
                "POST", "/v1/rankings", files=files, data=fields, timeout=_UPLOAD_TIMEOUT_SECONDS
            )

    def ranking(self, ranking_id: str, *, limit: int | None = None, cursor: str | None = None) -> Document:
        """Return a page of the ranked queries of a ranking."""
        wanted = {"limit": limit, "cursor": cursor}
        return self._send(
            "GET", f"/v1/rankings/{ranking_id}", params={k: v for k, v in wanted.items() if v is not None}
        )

    def rank(
        self, reference: str, queries: Sequence[Mapping[str, Any]], top_k: int | None = None
    ) -> Document:
        """Order candidate documents by a model.

        Args:
            reference: The model: id, name, `name:version` or `name@alias`.
            queries: `{"id", "documents": [{"id", "features": {name: value} or [values]}]}` each.
            top_k: Return only so many documents of each query.
        """
        body: Document = {"queries": [dict(query) for query in queries]}
        if top_k is not None:
            body["top_k"] = top_k
        return self._send("POST", f"/v1/models/{reference}/rank", json=body)

    def _send(self, method: str, path: str, **options: Any) -> Document:
        answer: Document = self._request(method, path, **options).json()
        return answer

    def _request(self, method: str, path: str, **options: Any) -> httpx.Response:
        try:
            response = self._http.request(method, path, **options)
        except httpx.HTTPError as error:
            address = self._http.base_url
            raise ServiceUnreachable(f"no answer from the service at {address}: {error}") from error
        if response.status_code == httpx.codes.UNAUTHORIZED:
            raise KeyRefused(response.status_code, _problem(response), has_key=self._has_key)
        if response.is_error:
            raise RankeryApiError(response.status_code, _problem(response))
        return response


def _authorization(secret: str) -> dict[str, str]:
    if not secret:
        return {}
    if not (secret.isascii() and secret.isprintable()) or " " in secret:
        raise InvalidSettings("the API key holds characters that no key has; give the whole secret, rk_…")
    return {"Authorization": f"Bearer {secret}"}


def _problem(response: httpx.Response) -> Document:
    try:
        problem = response.json()
    except ValueError:
        problem = None
    if isinstance(problem, dict):
        return problem
    return {"title": response.reason_phrase, "detail": f"{response.status_code} {response.reason_phrase}"}
