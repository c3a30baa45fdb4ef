"""A service to attack: real processes, with data, models and results."""

import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from rankery.embedded.stack import EmbeddedStack

PATIENCE_SECONDS = 60.0
FINAL = {"succeeded", "failed", "cancelled"}


@dataclass
class Target:
    """A running service and the ids of its objects.

    Attributes:
        url: URL of the service.
        data_dir: Data folder of the service.
        broker_url: URL of its Redis, with the password, which only its processes have.
        worker_pid: Process id of the worker's parent process.
        ids: Ids of objects by their names in the tests.
        secrets: API keys by scope; empty if no key is required.
    """

    url: str
    data_dir: Path
    broker_url: str
    worker_pid: int
    ids: dict[str, str] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)

    @property
    def headers(self) -> dict[str, str]:
        """The headers of a caller with the scope admin."""
        return {"Authorization": f"Bearer {self.secrets['admin']}"} if self.secrets else {}

    def require_keys(self, scopes: Sequence[str]) -> None:
        """Make a key of each scope; from the first key on, the service requires one."""
        for scope in sorted(scopes, key=lambda scope: scope != "admin"):  # the first key makes keys required
            self.secrets[scope] = self.make_key(scope)

    def make_key(self, scope: str, **more: Any) -> str:
        """Make a key and return its secret."""
        with self.client() as http:
            created = http.post("/v1/keys", json={"name": scope, "scopes": [scope], **more})
        assert created.status_code == 201, created.text
        return str(created.json()["secret"])

    def client(self, **options: Any) -> httpx.Client:
        """Make a client with the scope admin."""
        return httpx.Client(base_url=self.url, headers=self.headers, timeout=60, trust_env=False, **options)

    def upload(self, filename: str, content: bytes, **fields: str) -> dict[str, Any]:
        """Upload a dataset, wait until it was read or refused, and return it."""
        with self.client() as http:
            sent = http.post("/v1/datasets", files={"file": (filename, content)}, data=fields)
            assert sent.status_code == 202, sent.text
            self.wait_for_end(sent.json()["job_id"])
            dataset: dict[str, Any] = http.get(f"/v1/datasets/{sent.json()['id']}").json()
        return dataset

    def run(self, **job: Any) -> dict[str, Any]:
        """Submit a job, wait until it has ended, and return it."""
        with self.client() as http:
            sent = http.post("/v1/jobs", json=job)
        assert sent.status_code == 202, sent.text
        return self.wait_for_end(sent.json()["id"])

    def wait_for_end(self, job_id: str) -> dict[str, Any]:
        """Wait for a job and return it."""
        until = time.monotonic() + PATIENCE_SECONDS
        with self.client() as http:
            while time.monotonic() < until:
                job: dict[str, Any] = http.get(f"/v1/jobs/{job_id}").json()
                if job["status"] in FINAL:
                    return job
                time.sleep(0.1)
        raise AssertionError(f"{job_id} does not end")


@contextmanager
def running_target(data_dir: Path, **environment: str) -> Iterator[tuple[Target, EmbeddedStack]]:
    """Start Valkey, the API and a worker."""
    with EmbeddedStack(data_dir, environment=environment) as stack:
        broker_url = _environment_of(stack.processes["api"])["RANKERY_BROKER_URL"]
        yield Target(stack.url, stack.data_dir, broker_url, stack.processes["worker"]), stack


def stock(target: Target) -> None:
    """Store datasets, two models, an evaluation, a ranking, a comparison and a failed job."""
    for name, seed in (("learnt", 1), ("measured", 2)):
        target.ids[name] = target.upload(f"{name}.csv", judged_table(seed))["id"]
    target.ids["broken"] = target.upload("broken.txt", b"2 qid:1 1:oops\n")["id"]
    for version in (1, 2):
        trained = target.run(
            kind="train",
            model_name="web",
            dataset_id=target.ids["learnt"],
            test_dataset_id=target.ids["measured"],
            loss={"name": "lambdarank"},
            hyperparameters={"num_iterations": 5 * version, "num_leaves": 4, "min_data_in_leaf": 2},
            metrics=["ndcg@5"],
        )
        assert trained["status"] == "succeeded", trained
        target.ids |= {"job": trained["id"], **_result_ids(trained["result"])}
    with target.client() as http:
        for alias in ("champion", "guarded"):
            assert http.put(f"/v1/models/web/aliases/{alias}", json={"version": 1}).status_code == 200
        gate = {"dataset_id": target.ids["measured"], "metric": "ndcg@5"}
        assert http.put("/v1/models/web/aliases/guarded/gate", json=gate).status_code == 200
    target.ids |= {"name": "web", "alias": "champion", "guarded": "guarded"}
    ranked = target.run(kind="rank", model="web", dataset_id=target.ids["measured"])
    compared = target.run(
        kind="compare",
        dataset_id=target.ids["measured"],
        systems=[{"model": "web:1"}, {"model": "web:2"}],
        metrics=["ndcg@5"],
        permutations=1000,
    )
    target.ids |= _result_ids(ranked["result"]) | _result_ids(compared["result"])


def judged_table(seed: int, queries: int = 12, documents: int = 6) -> bytes:
    """Write a table of judged documents whose labels depend on the first feature."""
    lines = ["query_id,document_id,label,split,bm25,pagerank"]
    for query in range(queries):
        for document in range(documents):
            label = (query + document * (seed + 1)) % 3
            lines.append(f"q{query},d{document},{label},{'ab'[query % 2]},{label + seed / 10},{document}")
    return "\n".join([*lines, ""]).encode()


def stop_worker(stack: EmbeddedStack) -> None:
    """Stop only the worker, so that jobs of a fuzzer stay queued and never run."""
    pid = stack.processes["worker"]
    os.kill(pid, signal.SIGTERM)
    until = time.monotonic() + PATIENCE_SECONDS
    while is_running(pid) and time.monotonic() < until:
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    """Return whether a process exists and has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def _environment_of(pid: int) -> dict[str, str]:
    variables = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
    return dict(variable.split("=", 1) for variable in variables if "=" in variable)


def _result_ids(result: dict[str, Any]) -> dict[str, str]:
    return {name.removesuffix("_id"): value for name, value in result.items() if name.endswith("_id")}
