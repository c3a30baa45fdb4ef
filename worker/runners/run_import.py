"""Run jobs that import TREC runs."""

from dataclasses import asdict

from core.data.trec import join_run, read_run
from core.doctor.agreement import run_findings
from core.errors import DatasetError, RunError
from core.evaluation import rank_documents
from core.jobs import System
from core.jobs.folders import run_folder
from core.jobs.import_run import ImportRunJob
from core.store.artifacts.keys import run_key
from worker.job.datasets import load_dataset
from worker.job.results import write_ranking
from worker.job.run import JobRun


def run_import(run: JobRun, spec: ImportRunJob) -> None:
    """Read a TREC run, store it as a ranking and remove the upload.

    Queries that the dataset does not have are ignored.

    Raises:
        RunError: The run cannot be read; the error has the line.
        InvalidInput: The run shares no query with the dataset, or cannot be joined with it.
    """
    run.artifacts.delete_on_end(run_folder(spec.upload_id))
    run.reporter.phase("reading")
    with run.store.artifacts.local(run_key(spec.upload_id)) as path:
        try:
            trec_run = read_run(path, spec.filename, run.settings.reading_limits)
        except DatasetError as error:
            raise RunError(*error.problems, more=error.more) from error
    run.reporter.phase("ranking")
    dataset = load_dataset(run.store, run.caches, spec.dataset_id).dataset
    joined = join_run(dataset, trec_run)
    run.reporter.report(findings=[asdict(finding) for finding in run_findings(joined)] or None)
    ranking = write_ranking(
        run, rank_documents(joined.scores, joined), dataset.n_queries - joined.queries_without_results
    )
    with run.succeeding({"ranking_id": ranking.id}) as tx:
        ranking.add(tx, run.id, System(spec.name), spec.dataset_id)
