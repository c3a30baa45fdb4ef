"""Estimate the time of an experiment's trainings from five measured trees or epochs of each kind."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from core.experiments import Plan, Run
from core.experiments.plan import sizes_in_words
from core.scorers import Trees
from core.store import JobAttempt, JobIteration
from core.store.repositories.experiments import TrainingState
from core.training.history import DIAGNOSTICS
from worker.job.experiments import MEASURED_ITERATIONS, failure_of, leaves_of, measured_runs
from worker.job.run import JobRun

# The phase whose time grows with the trees or epochs.
_TRAINING_PHASE = "training"


@dataclass(frozen=True)
class MeasuredTraining:
    """A training of five trees or epochs, and the runs that it represents.

    Attributes:
        method: Row of the paper's table that the training is for.
        job_id: Job of the training, None if no job was queued.
        leaves: Most leaves of a tree, None for a network.
        runs: Number of runs that the training represents.
        seconds_per_tree: Mean time of a tree or an epoch after the first one, without diagnostics.
        seconds_per_look: Time of the diagnostics at one tree or epoch, None without diagnostics.
        other_seconds: Time of everything else: reading, binning, storing and evaluating.
        failure: Reason why nothing was measured, or None.
    """

    method: str
    loss: str
    job_id: str | None
    scorer: str
    leaves: int | None
    runs: int
    seconds_per_tree: float | None = None
    seconds_per_look: float | None = None
    other_seconds: float | None = None
    failure: str | None = None

    def seconds(self, run: Run) -> float:
        """Return an upper bound of the time of a run, 0 if the measurement failed."""
        if self.seconds_per_tree is None or self.other_seconds is None:
            return 0.0
        iterations = run.iterations
        looks = iterations // int((run.spec.get("diagnostics") or {}).get("interval") or iterations + 1)
        return (
            self.other_seconds + iterations * self.seconds_per_tree + looks * (self.seconds_per_look or 0.0)
        )


def estimate_of(run: JobRun, planned: Plan, states: Sequence[TrainingState], folds: int) -> dict[str, Any]:
    """Estimate the time of a plan from the trainings of a dry run.

    Args:
        folds: Folds of the experiment, 1 without folds.

    Returns:
        `{"runs", "trees", "epochs", "hours", "sentence", "measured"}`; hours of a single worker.
    """
    by_digest = {state.row.digest: state for state in states}
    measured, seconds = [], 0.0
    for digest, (_, runs) in measured_runs(planned).items():
        training = _measure_training(run, runs, by_digest[digest])
        measured.append(asdict(training))
        seconds += sum(training.seconds(each) for each in runs)
    hours = folds * seconds / 3600
    total_runs, trees, epochs = (
        folds * count for count in (len(planned.runs), planned.trees, planned.epochs)
    )
    failures = sum(each["failure"] is not None for each in measured)
    sizes = sizes_in_words(total_runs, trees, epochs)
    shorter = "Early stopping or fewer leaves reduce the time."
    sentence = (
        f"{sizes}: about {_duration(hours)} on one worker with {run.threads} threads, measured from"
        f" {MEASURED_ITERATIONS} trees or epochs of {len(measured)} of them. {shorter if trees else ''}"
    ).rstrip()
    if planned.timings:
        sentence += f" The {len(planned.timings):,} epochs that the report measures are not included."
    if failures:
        sentence += f" {failures} of the measured trainings failed and are not included."
    return {
        "runs": total_runs,
        "trees": trees,
        "epochs": epochs,
        "hours": round(hours, 3),
        "sentence": sentence,
        "measured": measured,
    }


def _measure_training(run: JobRun, runs: Sequence[Run], state: TrainingState) -> MeasuredTraining:
    costliest = max(runs, key=leaves_of)
    training = MeasuredTraining(
        method=state.row.spec["tags"]["method"],
        loss=costliest.spec["loss"]["name"],
        job_id=state.row.job_id,
        scorer=costliest.spec.get("scorer", {}).get("kind", Trees.kind),
        leaves=leaves_of(costliest) or None,
        runs=len(runs),
    )
    failure = failure_of(state)
    if failure is not None or state.row.job_id is None:
        return replace(training, failure=failure or "not trained")
    with run.store.read() as tx:
        iterations = tx.jobs.iterations(state.row.job_id)
        attempts = tx.jobs.attempts(state.row.job_id)
    per_tree, per_look = _seconds(iterations)
    return replace(
        training,
        seconds_per_tree=per_tree,
        seconds_per_look=per_look,
        other_seconds=_other_seconds(attempts),
    )


def _seconds(iterations: Sequence[JobIteration]) -> tuple[float, float | None]:
    """Return the mean time of a tree or epoch after the first, and the mean time of diagnostics or None."""
    # The first iteration also prepares the data.
    later = [dict(row.milliseconds or {}) for row in iterations[1:]] or [
        dict(iterations[0].milliseconds or {})
    ]
    looks = [row.pop(DIAGNOSTICS) for row in later if DIAGNOSTICS in row]
    per_tree = sum(sum(row.values()) for row in later) / len(later) / 1e3
    return round(per_tree, 6), round(sum(looks) / len(looks) / 1e3, 6) if looks else None


def _other_seconds(attempts: Sequence[JobAttempt]) -> float:
    phases = (attempts[-1].phases or []) if attempts else []
    seconds: list[float] = [phase["seconds"] for phase in phases if phase["phase"] != _TRAINING_PHASE]
    return round(sum(seconds), 3)


def _duration(hours: float) -> str:
    return f"{hours:.1f} hours" if hours >= 1 else f"{60 * hours:.1f} minutes"
