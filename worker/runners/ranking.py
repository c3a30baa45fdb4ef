"""Run ranking jobs."""

from core.jobs.rank import RankJob
from worker.job.datasets import load_dataset
from worker.job.results import store_ranking
from worker.job.run import JobRun
from worker.job.systems import score_system


def run_ranking(run: JobRun, spec: RankJob) -> None:
    """Score a dataset with a model and store the ranking of every query's documents.

    Raises:
        DatasetError: The dataset has no features.
        FeaturesAbsent: The dataset lacks most features that the model uses.
    """
    run.reporter.phase("loading")
    dataset = load_dataset(run.store, run.caches, spec.dataset_id).dataset
    run.reporter.phase("scoring")
    ranked = score_system(run, spec, spec.system, dataset)
    ranking = store_ranking(run, ranked)
    run.reporter.report(findings=ranked.findings_json)
    with run.succeeding({"ranking_id": ranking.id}) as tx:
        ranking.add(tx, run.id, spec.system, spec.dataset_id)
