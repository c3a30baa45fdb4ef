"""Evaluating a model on a dataset."""

from worker.datasets import fit_features, load_dataset
from worker.jobs import JobRun
from worker.models import load_forest
from worker.results import store_evaluation, store_ranking


def run_evaluation(run: JobRun) -> None:
    """Score a dataset with a model; store each query's metrics, their summaries and the ranking."""
    model_id, dataset_id = run.spec["model_id"], run.spec["dataset_id"]
    run.phase("loading")
    forest = load_forest(run.store, model_id)
    dataset = fit_features(load_dataset(run.store, dataset_id), tuple(forest.feature_names))
    run.phase("scoring")
    scores = forest.score(dataset.features, run.threads)
    evaluation = store_evaluation(run, scores, dataset, run.spec["metrics"])
    ranking = store_ranking(run, scores, dataset)
    run.report(metrics={"test": evaluation.means})
    with run.succeeding({"evaluation_id": evaluation.id, "ranking_id": ranking.id}) as tx:
        evaluation.add(tx, run, model_id, dataset_id)
        ranking.add(tx, run, model_id, dataset_id)
