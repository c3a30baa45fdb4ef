"""Label training data with a teacher's scores, and compare the student with its teacher."""

import numpy as np

from core.data import RankingDataset
from core.data.feature_alignment import AbsentFeatures
from core.doctor.report import Finding
from core.errors import InvalidInput
from core.evaluation import measure
from core.evaluation.paired import paired_differences
from core.jobs.base_training import BaseTrainingJob
from core.jobs.train import TrainJob
from core.metrics import check_differences, largest_difference, parse_metric
from core.training.distillation import labels_of_scores, student_finding, teacher_reference
from core.types import Float64Array
from worker.job.datasets import KeyedDataset
from worker.job.run import JobRun
from worker.job.seen_queries import has_seen, test_queries
from worker.job.systems import alignment_findings, load_model

_PERMUTATIONS = 1_000  # few suffice, since the p-value is not reported


def label_by_teacher(
    run: JobRun, job: BaseTrainingJob, all_features: KeyedDataset, training: KeyedDataset
) -> tuple[KeyedDataset, tuple[Finding, ...]]:
    """Return training data labelled by a teacher, and the findings on the teacher for this data.

    Args:
        job: Specification with the reference of the teacher.
        all_features: Training queries with all features that the teacher may use.
        training: The same queries with the features of the model to train.

    Raises:
        NotFound: The teacher does not exist.
        FeaturesAbsent: The data lacks most features of the teacher, and the job does not allow that.
        InvalidInput: The teacher gives all documents of each query equal scores.
    """
    reference = teacher_reference(str(job.labels_from))
    with run.store.read() as tx:
        row = tx.models.resolve(reference)
    teacher = load_model(run.store, row.id)
    findings = alignment_findings(job, reference, teacher, all_features.dataset)
    scores = teacher.score(teacher.align(all_features.dataset), run.threads)
    dataset = all_features.dataset
    labels = labels_of_scores(scores, dataset.query_boundaries, dataset.labels, job.training.loss)
    if not labels.any():
        raise InvalidInput.at(
            "/labels_from",
            f"{reference} has equal scores for all documents of each query, so that nothing can be learnt",
        )
    return training.relabelled(training.dataset.with_labels(labels)), findings


def compare_with_teacher(
    run: JobRun, job: TrainJob, test: RankingDataset, scores: Float64Array
) -> tuple[Finding, ...]:
    """Compare a student with its teacher on test queries, by the first metric of the job.

    Args:
        test: Test queries with all their features.
        scores: (n_documents,) of the student.

    Returns:
        One finding; none without a teacher, if the test data lack most of the teacher's features, or for a
        metric without differences.
    """
    if job.labels_from is None or (queries := test_queries(job)) is None:
        return ()
    reference = teacher_reference(job.labels_from)
    with run.store.read() as tx:
        row = tx.models.resolve(reference)
        is_seen = has_seen(tx, row, queries) is not False
    teacher, (metric, *_) = load_model(run.store, row.id), job.measures.metrics
    if AbsentFeatures.of(test, teacher.used_features).are_majority or not _has_differences(metric):
        return ()
    contract, teacher_scores = job.measures.contract, teacher.score(teacher.align(test), run.threads)
    values = [
        measure(each, test, [metric], contract)[metric][:, np.newaxis] for each in (teacher_scores, scores)
    ]
    (difference,) = paired_differences(
        *values,
        largest=[largest_difference(metric)],
        permutations=_PERMUTATIONS,
        seed=job.measures.seed,
        threads=run.threads,
    )
    if difference is None:
        return ()
    higher_is_better = parse_metric(metric, contract).higher_is_better
    is_worse = (difference.upper or 0.0) < 0.0 if higher_is_better else (difference.lower or 0.0) > 0.0
    return (
        student_finding(job.model_name, reference, metric, difference, is_worse=is_worse, is_seen=is_seen),
    )


def _has_differences(metric: str) -> bool:
    try:
        check_differences(metric)
    except InvalidInput:
        return False
    return True
