"""schemathesis over the whole OpenAPI document, with every check, with and without a key.

`python -m tests.security.api_fuzz` starts a service with one of everything in it, stops its worker so that
what is submitted stays queued, sends requests, and prints how many were answered with which status.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.security.target import Target, running_target, stock, stop_worker
from tools.generate_client import openapi_document

HOOKS = "tests.security.api_fuzz_checks"
# A fuzzer asks more often than anybody may, and with more wrong keys.
UNBOUNDED = {
    "RANKERY_READS_PER_SECOND": "0",
    "RANKERY_WRITES_PER_SECOND": "0",
    "RANKERY_SCORES_PER_SECOND": "0",
    "RANKERY_WRONG_KEYS_PER_MINUTE": "1000000",
    "RANKERY_MAX_ACTIVE_JOBS": "1000000",
}
# So that most requests get past the 404: the parameters' names, and what they may name.
_KNOWN = {
    "path.dataset_id": ("learnt", "measured", "broken"),
    "query.dataset_id": ("measured",),
    "path.job_id": ("job",),
    "path.evaluation_id": ("evaluation",),
    "path.comparison_id": ("comparison",),
    "path.ranking_id": ("ranking",),
    "path.name": ("name",),
    "path.alias": ("alias", "guarded"),
    "path.ref": ("model",),
}
_KNOWN_SHARE = 0.7
REFUSED = ["400", "401", "403", "404", "405", "409", "413", "414", "415", "422", "429", "431"]


@dataclass(frozen=True)
class Run:
    """One run of schemathesis.

    Attributes:
        statuses: How many requests were answered with which status.
        failures: Its exit code, 0 where every check held.
        report: Printed report.
    """

    statuses: Counter[int]
    failures: int
    report: str

    @property
    def requests(self) -> int:
        """How many requests were answered."""
        return self.statuses.total()


def fuzz(
    target: Target,
    folder: Path,
    examples: int,
    *,
    phases: str,
    secret: str | None,
    seed: int,
    selection: Sequence[str] = (),
) -> Run:
    """Run schemathesis against a service.

    Args:
        target: The service.
        folder: Where its files go.
        examples: The most random requests an operation, and the most steps of stateful sequences.
        phases: Phases of schemathesis, apart by commas.
        secret: The API key to send; with None everything but the probes must be refused.
        seed: Seed of its random numbers.
        selection: Options of schemathesis that select operations; all where there are none.
    """
    folder.mkdir(parents=True, exist_ok=True)
    events = folder / "events.ndjson"
    config = folder / "schemathesis.toml"
    config.write_text(_config(target, folder, secret))
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(config), "run"]
    schema = folder / "openapi.json"
    # Not as it is served: there, a `default` response allows any status.
    schema.write_text(json.dumps(openapi_document()))
    options = ["--url", target.url, "--phases", phases, "--max-examples", str(examples), "--seed", str(seed)]
    reports = ["--report", "ndjson", "--report-ndjson-path", str(events), "--no-color", "--no-shrink"]
    more = ["--generation-database", "none", "--continue-on-failure", "--warnings", "off"]
    # It has no serializer for the pieces of an upload; the tests of uploads send them.
    more += ["--exclude-path", "/v1/uploads/{upload_id}"]
    ended = subprocess.run(
        [*command, str(schema), *options, *reports, *more, *selection],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **_rules(secret)},
        capture_output=True,
        text=True,
        check=False,
    )
    return Run(_statuses(events), ended.returncode, ended.stdout + ended.stderr)


def _rules(secret: str | None) -> Mapping[str, str]:
    return {"SCHEMATHESIS_HOOKS": HOOKS, "RANKERY_FUZZ_WITHOUT_KEY": "" if secret else "1"}


def _config(target: Target, folder: Path, secret: str | None) -> str:
    lines = ["request-timeout = 30.0", f'cache.directory = "{folder / "cache"}"']
    if secret:
        lines.append(f'headers = {{ Authorization = "Bearer {secret}" }}')
    # What the payloads mean is judged by a check of our own, case by case.
    lines += ["[checks]", "positive_data_acceptance.enabled = false"]
    lines += ["negative_data_rejection.enabled = false"]
    # Its own list knows neither what is too long nor what the server refuses before it is read.
    lines += [f"negative_data_rejection.expected-statuses = {json.dumps(REFUSED)}"]
    lines += ["[parameters]"]
    lines += [
        f'"{name}" = {{ dictionary = "{name.replace(".", "_")}", probability = {_KNOWN_SHARE} }}'
        for name in _KNOWN
    ]
    for name, kinds in _KNOWN.items():
        values = json.dumps([target.ids[kind] for kind in kinds])
        lines += [f"[dictionaries.{name.replace('.', '_')}]", f"values = {values}"]
    # GET of these reaches the routes of /v1/datasets/{dataset_id} and /v1/jobs/{job_id}, as Allow says.
    for path in ("/v1/datasets/synthetic", "/v1/jobs/batch"):
        lines += [
            "[[operations]]",
            f'include-path = "{path}"',
            "checks.allow_header_conformance.enabled = false",
        ]
    # A service without workers says so here, and is asked for jobs now and then.
    lines += ["[[operations]]", 'include-path = "/readyz"', "checks.not_a_server_error.enabled = false"]
    return "\n".join([*lines, ""])


def _statuses(events: Path) -> Counter[int]:
    statuses: Counter[int] = Counter()
    for line in events.read_text().splitlines():
        scenario = json.loads(line).get("ScenarioFinished")
        for exchange in scenario["recorder"].get("interactions", {}).values() if scenario else ():
            if exchange["response"]:
                statuses[exchange["response"]["status_code"]] += 1
    return statuses


def main() -> int:
    """Send at least as many requests as asked for; return 0 where every check held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rankery-fuzz-") as name:
        folder = Path(name)
        with running_target(folder / "service", **UNBOUNDED) as (target, stack):
            stock(target)
            target.require_keys(["admin"])
            stop_worker(stack)
            return _rounds(target, folder, arguments.requests, arguments.seed)


def _rounds(target: Target, folder: Path, requests: int, seed: int) -> int:
    """Fuzz without a key, then with one until there are enough requests."""
    sent = failures = turn = 0
    while sent < requests or turn < 2:
        secret = target.secrets["admin"] if turn else None
        phases = "examples,coverage,fuzzing,stateful" if secret else "examples,coverage,fuzzing"
        examples = 40 if secret else 5
        run = fuzz(target, folder / str(turn), examples, phases=phases, secret=secret, seed=seed + turn)
        counts = ", ".join(f"{status}: {count}" for status, count in sorted(run.statuses.items()))
        sys.stdout.write(f"{'with' if secret else 'without'} a key: {run.requests} requests; {counts}\n")
        sys.stdout.flush()
        if run.failures or not run.requests:
            sys.stdout.write(run.report)
            failures += 1
            if not run.requests:
                break
        sent += run.requests
        turn += 1
    sys.stdout.write(f"{sent} requests, {failures} of {turn} runs with failures\n")
    return min(failures, 1)


if __name__ == "__main__":
    sys.exit(main())
