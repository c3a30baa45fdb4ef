"""Evaluating a model on a dataset."""

from worker.datasets import fit_features, load_dataset
from worker.jobs import JobRun
from worker.labels import judged_for
from worker.models import load_model
from worker.results import store_evaluation, store_ranking


def run_evaluation(run: JobRun) -> None:
    """Score a dataset with a model; store each query's metrics, their summaries and the ranking.

    Raises:
        InvalidInput: The metrics cannot use the labels.
        DatasetError: The dataset lacks features of the model.
    """
    model_id, dataset_id = run.spec["model_id"], run.spec["dataset_id"]
    run.phase("loading")
    model = load_model(run.store, model_id)
    loaded = load_dataset(run.store, run.caches, dataset_id).dataset
    dataset = fit_features(judged_for(run.spec, loaded, None, run.spec["metrics"]), model.feature_names)
    run.phase("scoring")
    scores = model.forest.score(dataset.features, run.threads)
    evaluation = store_evaluation(run, scores, dataset, run.spec["metrics"])
    ranking = store_ranking(run, scores, dataset)
    run.report(metrics={"test": evaluation.means})
    with run.succeeding({"evaluation_id": evaluation.id, "ranking_id": ranking.id}) as tx:
        evaluation.add(tx, run, model_id, dataset_id)
        ranking.add(tx, run, model_id, dataset_id)
