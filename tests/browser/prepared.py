"""Data of the service for tests of pages: models, an uploaded run, evaluations and comparisons."""

import random
import time
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.browser.visit import PATIENCE_MILLISECONDS

Json = dict[str, Any]

QUERIES = 90
DOCUMENTS = 24
COUNTRIES = ["de", "fr"]
MISSING_FROM_RUN = "d3"
_FEATURES = 6


def judged_table(seed: int) -> str:
    """Write judged queries of two countries; features with higher numbers correlate more with the label."""
    draw = random.Random(seed)
    names = [f"f{j}" for j in range(1, _FEATURES + 1)]
    lines = [",".join(["query_id", "document_id", "label", "country", *names])]
    for query in range(QUERIES):
        for document in range(DOCUMENTS if query % 3 else 6):
            label = 0 if query == 0 else draw.choice([0, 0, 0, 1, 1, 2, 3])
            values = [f"{label * j / _FEATURES + draw.gauss(0, 2):.3f}" for j in range(1, _FEATURES + 1)]
            country = COUNTRIES[query % 2]
            lines.append(",".join([f"q{query}", f"d{document}", str(label), country, *values]))
    return "\n".join([*lines, ""])


def run_text(table: str) -> str:
    """Write a run that orders each query by a weak feature and omits one document of each query."""
    rows = [line.split(",") for line in table.splitlines()[1:]]
    scored = [(query, name, float(values[0])) for query, name, _, _, *values in rows]
    return "".join(
        f"{query} Q0 {name} 1 {value} poor\n" for query, name, value in scored if name != MISSING_FROM_RUN
    )


def shown_metric(value: float) -> str:
    """Return a metric as pages show it: with four decimals below 10, otherwise with two (mean ranks)."""
    return f"{value:.{4 if abs(value) < 10 else 2}f}"


@dataclass
class Prepared:
    """Results on the service by the names that tests use; each result is created once.

    Attributes:
        url: URL of the service that creates the results.
        ids: Ids of the results so far, by name.
    """

    url: str
    ids: dict[str, str] = field(default_factory=dict)
    _client: httpx.Client = field(default_factory=lambda: httpx.Client(timeout=60.0))

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def synthetic(self, name: str, queries: int, seed: int = 0) -> str:
        """Generate a dataset and return its id."""
        if name not in self.ids:
            created = self.post(
                "/v1/datasets/synthetic", json={"name": name, "queries": queries, "seed": seed}
            )
            self.ids[name] = str(self.result_of(created["job_id"])["dataset_id"])
        return self.ids[name]

    def dataset(self, name: str, seed: int) -> str:
        """Upload judged queries and return the dataset's id."""
        return self.uploaded(name, judged_table(seed).encode())

    def uploaded(self, name: str, content: bytes) -> str:
        """Upload judged data once and return the dataset's id."""
        if name not in self.ids:
            self.ids[name] = self.upload(name, content)
        return self.ids[name]

    def upload(self, name: str, content: bytes) -> str:
        """Upload judged data and return the dataset's id."""
        file = (name, content, "text/csv")
        created = self.post("/v1/datasets", files={"file": file})
        return str(self.result_of(created["job_id"])["dataset_id"])

    def broken(self, name: str, content: bytes) -> str:
        """Upload a file that cannot be read and return its dataset's id."""
        if name not in self.ids:
            created = self.post("/v1/datasets", files={"file": (name, content, "text/plain")})
            assert self.wait_for_job(created["job_id"])["status"] == "failed"
            self.ids[name] = created["id"]
        return self.ids[name]

    def test_data(self) -> str:
        """Return the id of the dataset that all evaluations and comparisons use."""
        return self.dataset("measured.csv", 2)

    def model(self, version: int) -> str:
        """Train all versions up to this one, each with more trees, and return this version's reference."""
        key = f"compared:{version}"
        if key not in self.ids:
            if version > 1:
                self.model(version - 1)
            self.job(
                kind="train",
                model_name="compared",
                dataset_id=self.dataset("learnt from.csv", 1),
                test_dataset_id=self.test_data(),
                loss={"name": "lambdarank"},
                hyperparameters={"num_iterations": 20 * version - 19, "num_leaves": 7},
                metrics=["ndcg@10"],
            )
            self.ids[key] = key
        return key

    def run(self) -> str:
        """Upload a run of the test data and return the ranking's id."""
        if "run" not in self.ids:
            self.ids["run"] = self.upload_run("poor", self.test_data(), run_text(judged_table(2)))
        return self.ids["run"]

    def upload_run(self, name: str, dataset_id: str, text: str) -> str:
        """Upload a run and return the ranking's id."""
        file = (f"{name}.run", text, "text/plain")
        job = self.post("/v1/rankings", data={"dataset_id": dataset_id, "name": name}, files={"file": file})
        return str(self.result_of(job["id"])["ranking_id"])

    def evaluation(self, name: str, **request: Any) -> str:
        """Evaluate on the test data and return the evaluation's id."""
        if name not in self.ids:
            result = self.job(kind="evaluate", dataset_id=self.test_data(), **request)
            self.ids[name] = result["evaluation_id"]
        return self.ids[name]

    def comparison(self, name: str, **request: Any) -> str:
        """Compare on the test data and return the comparison's id."""
        if name not in self.ids:
            result = self.job(kind="compare", dataset_id=self.test_data(), **request)
            self.ids[name] = result["comparison_id"]
        return self.ids[name]

    def inspection(self, model: str) -> str:
        """Inspect a model on the test data and return the inspection's id."""
        key = f"inspection of {model}"
        if key not in self.ids:
            result = self.job(kind="inspect", dataset_id=self.test_data(), model=model, repeats=2)
            self.ids[key] = result["inspection_id"]
        return self.ids[key]

    def experiment(self) -> str:
        """Reproduce a table and a figure of a paper on small data and return the experiment's id."""
        if "experiment" not in self.ids:
            parts = {
                "train": self.dataset("learnt from.csv", 1),
                "validation": self.dataset("held out.csv", 3),
            }
            created = self.post(
                "/v1/experiments",
                json={
                    "paper": "lambdaloss-2018",
                    "tables": ["table-5", "figure-5"],
                    "dataset_ids": {**parts, "test": self.test_data()},
                },
            )
            self._wait_for_experiment(created["id"])
            self.ids["experiment"] = created["id"]
        return self.ids["experiment"]

    def _wait_for_experiment(self, experiment_id: str) -> None:
        until = time.monotonic() + PATIENCE_MILLISECONDS / 1000
        while time.monotonic() < until:
            experiment = self._ask(f"/v1/experiments/{experiment_id}")
            if experiment["status"] not in {"preparing", "running", "reporting"}:
                assert experiment["status"] == "succeeded", experiment["problem"]
                return
            time.sleep(0.2)
        raise AssertionError(f"{experiment_id} does not end")

    def study(self, name: str, trials: int) -> str:
        """Start a study and return its id."""
        body = {
            "name": name,
            "model_name": name,
            "dataset_id": self.dataset("learnt from.csv", 1),
            "test": {"fraction": 0.2},
            "base": {"loss": {"name": "lambdarank"}, "hyperparameters": {"num_iterations": 3}},
            "search_space": {"/hyperparameters/num_leaves": {"type": "int", "low": 2, "high": 12}},
            "objective": {"metric": "ndcg@10", "validation": {"folds": 2}},
            "budget": {"trials": trials},
            "parallel_trials": 1,
        }
        return str(self.post("/v1/studies", json=body)["id"])

    def job(self, **request: Any) -> Json:
        """Submit a job, wait for it and return its result."""
        return self.result_of(self.post("/v1/jobs", json=request)["id"])

    def training(self, **request: Any) -> str:
        """Train a model and return the id of the job."""
        job_id = str(self.post("/v1/jobs", json={"kind": "train", **request})["id"])
        self.result_of(job_id)
        return job_id

    def result_of(self, job_id: str) -> Json:
        """Wait for a job and return its result."""
        job = self.wait_for_job(job_id)
        assert job["status"] == "succeeded", job["problem"]
        result: Json = job["result"]
        return result

    def wait_for_job(self, job_id: str) -> Json:
        """Wait for a job to end and return it."""
        until = time.monotonic() + PATIENCE_MILLISECONDS / 1000
        while time.monotonic() < until:
            job = self._ask(f"/v1/jobs/{job_id}")
            if job["status"] not in {"queued", "running"}:
                return job
            time.sleep(0.1)
        raise AssertionError(f"{job_id} does not end")

    def wait_until_idle(self) -> None:
        """Wait until no job is queued or running, including jobs of earlier tests."""
        while unfinished := [
            job["id"]
            for status in ("queued", "running")
            for job in self._ask(f"/v1/jobs?status={status}&limit=100")["items"]
        ]:
            for job_id in unfinished:
                self.wait_for_job(job_id)

    def get(self, path: str) -> Json:
        """Send a GET request to the API."""
        return self._ask(path)

    def post(self, path: str, **body: Any) -> Json:
        """Send a POST request to the API."""
        return self._answer(self._client.post(self.url + path, **body))

    def _ask(self, path: str) -> Json:
        return self._answer(self._client.get(self.url + path))

    def _answer(self, response: httpx.Response) -> Json:
        assert response.is_success, response.text
        answer: Json = response.json()
        return answer
