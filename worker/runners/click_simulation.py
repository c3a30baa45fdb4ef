"""Run simulations of clicks."""

from dataclasses import asdict
from typing import Any

import numpy as np

from core.clicks.doctor import examine_log
from core.clicks.files import write_click_log
from core.clicks.simulation import Truth, simulate
from core.clicks.statistics import log_statistics
from core.data import RankingDataset
from core.errors import InvalidInput
from core.jobs.simulate_clicks import Ranker, SimulateClicksJob
from core.types import Float64Array
from worker.job.click_logs import log_folder, store_click_log
from worker.job.datasets import load_dataset
from worker.job.progress import counting_percent
from worker.job.run import JobRun
from worker.job.systems import load_model

TRUTH = "truth.npz"
_MISSING = -1e300  # documents without the feature come last


def run_click_simulation(run: JobRun, spec: SimulateClicksJob) -> None:
    """Simulate a click log, and store it with the ground truth of the simulation.

    The job's result has the ground truth by rank; the file `truth.npz` in the log's folder has it by
    query-document pair.

    Raises:
        InvalidInput: A ranker is not a feature of the dataset.
        DatasetError: The dataset has no features for a model.
    """
    run.reporter.phase("ranking")
    dataset = load_dataset(run.store, run.caches, spec.dataset_id).dataset
    rankers = [_scores(run, dataset, spec, ranker) for ranker in spec.rankers]
    run.reporter.phase("drawing clicks")
    on_chunk = counting_percent(run.reporter, "drawing clicks")
    log, truth = simulate(dataset, rankers, spec.user_model, spec.plan, on_chunk)
    run.reporter.phase("storing", reset_count=True)
    with log_folder(run) as folder:
        write_click_log(log, folder)
        by_pair = {"attraction": truth.attraction}
        if truth.satisfaction is not None:
            by_pair["satisfaction"] = truth.satisfaction
        np.savez(folder / TRUTH, allow_pickle=False, **by_pair)
        stored = store_click_log(run, spec.click_log_id, folder)
    with run.succeeding({"click_log_id": spec.click_log_id, "truth": truth_json(truth)}) as tx:
        tx.click_logs.mark_ready(
            spec.click_log_id,
            folder=stored,
            statistics=log_statistics(log),
            findings=[asdict(finding) for finding in examine_log(log)],
        )


def truth_json(truth: Truth) -> dict[str, Any]:
    """Return the ground truth by rank as JSON."""
    return {
        "propensities": truth.propensities.tolist(),
        "examination": truth.examination.tolist(),
        "slopes": None if truth.slopes is None else truth.slopes.tolist(),
        "intercepts": None if truth.intercepts is None else truth.intercepts.tolist(),
    }


def _scores(run: JobRun, dataset: RankingDataset, spec: SimulateClicksJob, ranker: Ranker) -> Float64Array:
    if ranker.model_id is not None:
        model = load_model(run.store, ranker.model_id)
        return model.score(model.align(dataset), run.threads)
    if ranker.system not in dataset.feature_names:
        names = [each.system for each in spec.rankers if each.model_id is None]
        pointer = f"/features/{names.index(ranker.system)}"
        raise InvalidInput.at(pointer, f"{ranker.system!r} is not a feature of the dataset")
    column = dataset.feature_names.index(ranker.system)
    values = np.asarray(dataset.features[slice(0, dataset.n_documents)][:, column], np.float64)
    return np.nan_to_num(values, nan=_MISSING, posinf=-_MISSING, neginf=_MISSING)
