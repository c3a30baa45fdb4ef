"""Write the reports of experiments."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from core.experiments import Plan, report
from core.experiments.paper import EpochTiming
from core.jobs.study import ReportJob
from core.store import Experiment
from core.store.artifacts.keys import data_folder, experiment_report_key
from core.store.repositories.experiments import ExperimentStatus, TrainingState
from core.store.tables.base import serialize_json
from worker.job.estimates import estimate_of
from worker.job.experiments import corpus_notes, failure_of, load_results, plan_of, recognitions
from worker.job.run import JobRun

_MAX_LISTED_FAILURES = 5
_VERDICTS = {"held": "held", "not-shown": "not shown", "contradicted": "contradicted"}


def run_report(run: JobRun, spec: ReportJob) -> None:
    """Write the report of an experiment, or the estimate of a dry run.

    The transaction that ends the last report's job also ends the experiment.

    Raises:
        NotFound: The experiment was deleted.
        ArtifactDamaged: The checksum of stored values does not match.
    """
    run.reporter.phase("loading")
    with run.store.read() as tx:
        experiment = tx.experiments.get(spec.experiment_id)
        states = tx.experiments.trainings(experiment.id)
        notes = corpus_notes(experiment, recognitions(tx, experiment))
    planned = plan_of(experiment)
    if experiment.dry_run:
        document, sentence = _estimate(run, planned, states, experiment)
    else:
        document, sentence = _report(run, planned, states, spec, notes)
    key = experiment_report_key(experiment.id, run.id, run.lease.token)
    with run.artifacts.writing(key) as file:
        file.write(serialize_json(document).encode())
    has_results = any(failure_of(state) is None for state in states if state.has_ended)
    has_results |= bool(planned.timings) and not states
    with run.succeeding({"sentence": sentence}) as tx:
        row = tx.experiments.locked(experiment.id)
        replaced_key = row.report_key
        row.report_key = key
        if replaced_key is not None:
            tx.artifacts.delete_checksums(data_folder(replaced_key))
        if spec.is_last and row.status == ExperimentStatus.REPORTING:
            problem = {"title": "All trainings failed", "detail": sentence}
            ending = ExperimentStatus.SUCCEEDED if has_results else ExperimentStatus.FAILED
            tx.experiments.finish(row, ending, sentence=sentence, problem=None if has_results else problem)
    if replaced_key is not None:
        run.artifacts.remove(data_folder(replaced_key))


def _estimate(
    run: JobRun, planned: Plan, states: Sequence[TrainingState], experiment: Experiment
) -> tuple[dict[str, Any], str]:
    estimate = estimate_of(run, planned, states, max(1, len(experiment.folds)))
    return {"report": None, "estimate": estimate}, estimate["sentence"]


def _report(
    run: JobRun, planned: Plan, states: Sequence[TrainingState], spec: ReportJob, notes: Sequence[str]
) -> tuple[dict[str, Any], str]:
    results = load_results(run, states)
    timings = _time_epochs(run, planned) if spec.is_last else {}
    run.reporter.phase("checking claims")
    document = report(planned, results, timings, threads=run.threads).to_dict()
    verdicts = Counter(claim["verdict"] for table in document["tables"] for claim in table["claims"])
    claims = ", ".join(
        f"{verdicts[verdict]} {label}" for verdict, label in _VERDICTS.items() if verdicts[verdict]
    )
    failures = _failures(states)
    shared = sum(state.row.is_shared for state in states)
    sentence = (
        f"Claims: {claims or 'none'}. {len(states):,} trainings, {shared:,} of them reused from earlier jobs."
    )
    if failures:
        sentence += f" {len(failures):,} without a result."
    document["notes"] += [*notes, *failures[:_MAX_LISTED_FAILURES]]
    if len(failures) > _MAX_LISTED_FAILURES:
        document["notes"].append(f"{len(failures) - _MAX_LISTED_FAILURES:,} more trainings have no result.")
    document["complete"] = spec.is_last
    document["claims"] = {verdict: verdicts[verdict] for verdict in _VERDICTS}
    return {"report": document, "estimate": None}, sentence


def _time_epochs(run: JobRun, planned: Plan) -> dict[EpochTiming, float]:
    """Measure the epoch times of a plan after its trainings, which would disturb the measurement."""
    from core.experiments.epoch_times import epoch_milliseconds

    milliseconds: dict[EpochTiming, float] = {}
    for timing in planned.timings:
        if not milliseconds:
            run.reporter.phase("measuring epochs")
        run.lease.check()
        milliseconds[timing] = epoch_milliseconds(timing)
    return milliseconds


def _failures(states: Sequence[TrainingState]) -> list[str]:
    """Return a sentence for each training that ended without a result."""
    sentences = []
    for state in states:
        failure = failure_of(state) if state.has_ended else None
        if failure is not None:
            method = state.row.spec["tags"].get("method")
            sentences.append(f"The training {state.row.job_id} of {method} has no result, {failure}.")
    return sentences
