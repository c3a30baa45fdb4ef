"""Ranking a dataset's documents by a model."""

from worker.datasets import load_dataset
from worker.jobs import JobRun
from worker.results import store_ranking
from worker.systems import rank_by, system_of


def run_ranking(run: JobRun) -> None:
    """Score a dataset with a model and store the order of every query's documents.

    Raises:
        DatasetError: The dataset has no features.
        FeaturesAbsent: It lacks most of those that the model uses.
    """
    dataset_id, system = run.spec["dataset_id"], system_of(run.spec)
    run.phase("loading")
    dataset = load_dataset(run.store, run.caches, dataset_id).dataset
    run.phase("scoring")
    ranked = rank_by(run, system, dataset)
    ranking = store_ranking(run, ranked)
    run.report(findings=ranked.findings_json)
    with run.succeeding({"ranking_id": ranking.id}) as tx:
        ranking.add(tx, run, system, dataset_id)
