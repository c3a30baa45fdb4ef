"""Ranking a dataset's documents by a model."""

from worker.datasets import fit_features, load_dataset
from worker.jobs import JobRun
from worker.models import load_model
from worker.results import store_ranking


def run_ranking(run: JobRun) -> None:
    """Score a dataset with a model and store the order of every query's documents."""
    model_id, dataset_id = run.spec["model_id"], run.spec["dataset_id"]
    run.phase("loading")
    model = load_model(run.store, model_id)
    dataset = fit_features(load_dataset(run.store, run.caches, dataset_id).dataset, model.feature_names)
    run.phase("scoring")
    scores = model.forest.score(dataset.features, run.threads)
    ranking = store_ranking(run, scores, dataset)
    with run.succeeding({"ranking_id": ranking.id}) as tx:
        ranking.add(tx, run, model_id, dataset_id)
