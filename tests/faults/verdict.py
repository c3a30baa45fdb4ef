"""Outcome of a batch of jobs: one row of the table."""

import statistics
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.faults.client import Document
from tests.faults.faults import Fault
from tests.faults.job_batch import ENDED, JobBatch
from tests.faults.outcomes import Outcome, outcome_of
from tests.faults.records import Records


@dataclass
class Row:
    """The figures of one fault.

    Attributes:
        fault: Fault that was injected.
        accepted: Number of accepted jobs.
        finished: Number of jobs that succeeded.
        failed: Number of jobs that failed for an expected reason.
        lost: Number of jobs that did not end or ended for a wrong reason.
        twice: Number of effects that exist twice, and of jobs without a request.
        models: Number of models.
        models_differ: Number of models whose text is not that of the undisturbed training.
        results_differ: Number of jobs with another difference.
        attempts: Number of claims beyond the first.
        recoveries: Recovery times in seconds.
        seconds: Duration of the batch.
        problems: Problems that were found.
    """

    fault: str
    accepted: int = 0
    finished: int = 0
    failed: int = 0
    lost: int = 0
    twice: int = 0
    models: int = 0
    models_differ: int = 0
    results_differ: int = 0
    attempts: int = 0
    recoveries: list[float] = field(default_factory=list)
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)

    @property
    def is_good(self) -> bool:
        """Whether every number that must be 0 is 0, without problems."""
        wrong = self.lost + self.twice + self.models_differ + self.results_differ
        return wrong == 0 and not self.problems

    @property
    def recovery(self) -> str:
        """Median and longest recovery."""
        if not self.recoveries:
            return "–"
        return f"{statistics.median(self.recoveries):.1f} / {max(self.recoveries):.1f}"


def judge(
    batch: JobBatch,
    fault: Fault,
    records: Records,
    reference: Mapping[str, Outcome],
    known_before: set[str],
    recoveries: list[float],
) -> tuple[Row, dict[str, Outcome]]:
    """Check all jobs of a batch after the last one has ended.

    Args:
        batch: The batch.
        fault: Fault that was injected.
        records: Records of the database.
        reference: Outcomes of undisturbed jobs by the name of the request.
        known_before: Jobs that existed before the batch.
        recoveries: Recovery times that the fault measured.

    Returns:
        The row, and the outcomes of this batch.
    """
    row = Row(fault.name, recoveries=recoveries, problems=[*batch.problems, *batch.refusals])
    row.accepted = len(batch.sent)
    outcomes: dict[str, Outcome] = {}
    for job in batch.jobs():
        row.attempts += max(0, len(job["attempts"]) - 1)
        if job["status"] == "succeeded":
            row.finished += 1
            name = batch.sent[job["id"]].name
            outcomes[name] = outcome = outcome_of(batch.client, job)
            _compare(row, outcome, reference.get(name), f"{name} ({job['id']})")
        elif job["status"] in ENDED and job["problem"]["title"] in fault.reasons:
            row.failed += 1
        else:
            row.lost += 1
            row.problems.append(_description(job))
    unknown = records.job_ids() - known_before - set(batch.sent)
    twice = [*records.faults(batch.sent), *(f"no request for {job_id}" for job_id in unknown)]
    row.twice = len(twice)
    row.problems += twice
    return row, outcomes


def _compare(row: Row, outcome: Outcome, undisturbed: Outcome | None, name: str) -> None:
    row.problems += [f"{name}: {problem}" for problem in outcome.problems]
    row.models += outcome.model_file is not None
    if undisturbed is None:
        return
    if outcome.model_file != undisturbed.model_file:
        row.models_differ += 1
        row.problems.append(f"{name}: the model differs from that of the undisturbed job")
    elif outcome.results != undisturbed.results:
        differing = [key for key, value in outcome.results.items() if value != undisturbed.results.get(key)]
        row.results_differ += 1
        row.problems.append(f"{name}: {', '.join(differing)} differ from the undisturbed job")


def _description(job: Document) -> str:
    endings = Counter(str(attempt["ending"]) for attempt in job["attempts"])
    return f"{job['id']} ({job['kind']}) is {job['status']}: {job['problem']}, attempts {dict(endings)}"
