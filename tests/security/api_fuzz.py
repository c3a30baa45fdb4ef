"""schemathesis on the whole OpenAPI document, with every check, with and without a key.

`python -m tests.security.api_fuzz` starts a service with one object of each kind. It stops the worker, so
that submitted jobs stay queued, sends requests, and prints the number of answers by status.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.security.target import Target, running_target, stock, stop_worker
from tools.generate_client import openapi_document

HOOKS = "tests.security.api_fuzz_checks"
# A fuzzer sends more requests than the rate limit allows, and more wrong keys.
UNBOUNDED = {
    "RANKERY_READS_PER_SECOND": "0",
    "RANKERY_WRITES_PER_SECOND": "0",
    "RANKERY_SCORES_PER_SECOND": "0",
    "RANKERY_WRONG_KEYS_PER_MINUTE": "1000000",
    "RANKERY_MAX_ACTIVE_JOBS": "1000000",
}
# Names of stored objects whose ids are values of each parameter, so that few requests end with a 404.
_STORED_VALUES = {
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
_STORED_VALUE_SHARE = 0.7
REFUSED = ["400", "401", "403", "404", "405", "409", "413", "414", "415", "422", "429", "431"]


@dataclass(frozen=True)
class Run:
    """One run of schemathesis.

    Attributes:
        statuses: Number of answers by status.
        exit_code: Exit code of schemathesis, 0 if every check passed.
        report: Printed report.
    """

    statuses: Counter[int]
    exit_code: int
    report: str

    @property
    def requests(self) -> int:
        """The number of answered requests."""
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
        folder: Folder of its files.
        examples: Maximum numbers of random requests per operation, and of steps of stateful sequences.
        phases: Phases of schemathesis, separated by commas.
        secret: API key to send; with None, all requests except probes must be refused.
        seed: Seed of the random numbers.
        selection: Options of schemathesis that select operations; empty for all.
    """
    folder.mkdir(parents=True, exist_ok=True)
    events = folder / "events.ndjson"
    config = folder / "schemathesis.toml"
    document = openapi_document()
    config.write_text(_config(target, folder, secret, document["paths"]))
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(config), "run"]
    schema = folder / "openapi.json"
    # Use the document without the `default` responses of the served one, which allow any status.
    schema.write_text(json.dumps(document))
    options = ["--url", target.url, "--phases", phases, "--max-examples", str(examples), "--seed", str(seed)]
    reports = ["--report", "ndjson", "--report-ndjson-path", str(events), "--no-color", "--no-shrink"]
    more = ["--generation-database", "none", "--continue-on-failure", "--warnings", "off"]
    # Exclude pieces of uploads, for which schemathesis has no serializer; other tests send them.
    more += ["--exclude-path", "/v1/uploads/{upload_id}"]
    completed = subprocess.run(
        [*command, str(schema), *options, *reports, *more, *selection],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **_rules(secret)},
        capture_output=True,
        text=True,
        check=False,
    )
    return Run(_statuses(events), completed.returncode, completed.stdout + completed.stderr)


def _rules(secret: str | None) -> Mapping[str, str]:
    return {"SCHEMATHESIS_HOOKS": HOOKS, "RANKERY_FUZZ_WITHOUT_KEY": "" if secret else "1"}


def _with_other_routes(paths: Iterable[str]) -> Iterator[str]:
    """Yield paths that match the template of another path: /v1/jobs/delete also matches /v1/jobs/{job_id}."""
    templates = {path: re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path)) for path in paths}
    for path in templates:
        if any(re.fullmatch(pattern, path) for other, pattern in templates.items() if other != path):
            yield path


def _config(target: Target, folder: Path, secret: str | None, paths: Iterable[str]) -> str:
    lines = ["request-timeout = 30.0", f'cache.directory = "{folder / "cache"}"']
    if secret:
        lines.append(f'headers = {{ Authorization = "Bearer {secret}" }}')
    # A separate check tests the meaning of payloads, case by case.
    lines += ["[checks]", "positive_data_acceptance.enabled = false"]
    lines += ["negative_data_rejection.enabled = false"]
    # The default list has neither statuses for excessive lengths nor those of the HTTP server.
    lines += [f"negative_data_rejection.expected-statuses = {json.dumps(REFUSED)}"]
    lines += ["[parameters]"]
    lines += [
        f'"{name}" = {{ dictionary = "{name.replace(".", "_")}", probability = {_STORED_VALUE_SHARE} }}'
        for name in _STORED_VALUES
    ]
    for name, kinds in _STORED_VALUES.items():
        values = json.dumps([target.ids[kind] for kind in kinds])
        lines += [f"[dictionaries.{name.replace('.', '_')}]", f"values = {values}"]
    # GET of /v1/jobs/delete requests the job with the id "delete" and is answered by 404, not by 405. So the
    # Allow header has GET, too (RFC 9110, 10.2.1); schemathesis expects only the methods listed at the path.
    for path in _with_other_routes(paths):
        lines += [
            "[[operations]]",
            f'include-path = "{path}"',
            "checks.allow_header_conformance.enabled = false",
        ]
    # The tus protocol requires 412 for a missing or different Tus-Resumable; a wrong key is found before it.
    lines += [
        "[[operations]]",
        'include-path = "/v1/uploads"',
        'checks.missing_required_header.expected-statuses = ["401", "412"]',
        "checks.positive_data_acceptance.enabled = false",
        "checks.negative_data_rejection.enabled = false",
        f"checks.negative_data_rejection.expected-statuses = {json.dumps([*REFUSED, '412'])}",
    ]
    # /readyz answers with a server error if a request asks for jobs and there is no worker.
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
    """Send at least the requested number of requests; return 0 if every check passed."""
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
    """Fuzz without a key, then with a key until the number of requests is reached."""
    sent = failures = turn = 0
    while sent < requests or turn < 2:
        secret = target.secrets["admin"] if turn else None
        phases = "examples,coverage,fuzzing,stateful" if secret else "examples,coverage,fuzzing"
        examples = 40 if secret else 5
        run = fuzz(target, folder / str(turn), examples, phases=phases, secret=secret, seed=seed + turn)
        counts = ", ".join(f"{status}: {count}" for status, count in sorted(run.statuses.items()))
        sys.stdout.write(f"{'with' if secret else 'without'} a key: {run.requests} requests; {counts}\n")
        sys.stdout.flush()
        if run.exit_code or not run.requests:
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
