"""Give training data the labels of a teacher."""

from core.doctor.report import Finding
from core.errors import InvalidInput
from core.jobs.boosting import BoostingJob
from core.training.distillation import labels_of_scores, teacher_reference
from worker.job.datasets import NamedDataset
from worker.job.run import JobRun
from worker.job.systems import fit_findings, load_model


def taught(
    run: JobRun, job: BoostingJob, known: NamedDataset, training: NamedDataset
) -> tuple[NamedDataset, tuple[Finding, ...]]:
    """Return training data with a teacher's labels, and the findings on the teacher for this data.

    Args:
        run: Job.
        job: Specification that names the teacher.
        known: Training queries with all features that the teacher may use.
        training: The same queries with the features of the model to train.

    Raises:
        NotFound: There is no such model.
        FeaturesAbsent: The data lacks most features of the teacher, and the job does not allow that.
        InvalidInput: The teacher gives all documents of each query equal scores.
    """
    reference = teacher_reference(str(job.labels_from))
    with run.store.read() as tx:
        row = tx.models.resolve(reference)
    teacher = load_model(run.store, row.id)
    findings = fit_findings(job, reference, teacher, known.dataset)
    scores = teacher.score(teacher.fit(known.dataset), run.threads)
    labels = labels_of_scores(scores, known.dataset.query_boundaries, known.dataset.labels, job.training.loss)
    if not labels.any():
        raise InvalidInput.at(
            "/labels_from",
            f"{reference} gives all documents of each query one score, so there is nothing to learn",
        )
    return training.judged(training.dataset.with_labels(labels)), findings
