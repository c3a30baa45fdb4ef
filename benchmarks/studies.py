"""Overhead of a trial at 1,000 trials, verdicts of studies on noise, and recovery of a killed worker.

Usage: python -m benchmarks.studies [overhead | noise | kills …]
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from app.studies.requests import StudyRequest
from app.studies.submission import budget_of, study_spec
from benchmarks.worker import add_dataset
from core.data import synthetic_dataset
from core.jobs import parse
from core.jobs.study import TrialJob
from core.store import Store, Study, Trial
from core.store.repositories.studies import TrialResult
from core.warm_up import warm_up
from worker import WorkerSettings
from worker.job.run import JobRun
from worker.process.shutdown import StopFlag
from worker.process.tasks import RUNNERS, run_jobs
from worker.runners.trial import sample_trial

TRIALS = 1_000
STUDIES = 20
KILLS = 10
_ATTEMPTS = 1_000
_CONSOLE = Console()


@contextmanager
def open_store(folder: Path) -> Iterator[tuple[Store, WorkerSettings]]:
    """Open a store in a folder, with the settings of a worker on one thread."""
    settings = WorkerSettings(data_dir=folder, broker_url="redis://127.0.0.1:1/0", threads=1)
    store = Store.open(settings)
    store.migrate()
    try:
        yield store, settings
    finally:
        store.close()


def add_study(store: Store, dataset_id: str, trials: int, seed: int, **changed: Any) -> str:
    """Submit a study of five parameters, and return its id."""
    body = {
        "name": "benchmark",
        "model_name": "benchmark",
        "dataset_id": dataset_id,
        "test": {"fraction": 0.3},
        "base": {"loss": {"name": "lambdarank"}, "hyperparameters": {"num_iterations": 10}},
        "search_space": {
            "/hyperparameters/num_leaves": {"type": "int", "low": 2, "high": 31, "log": True},
            "/hyperparameters/learning_rate": {"type": "float", "low": 0.02, "high": 0.5, "log": True},
            "/hyperparameters/min_data_in_leaf": {"type": "int", "low": 2, "high": 100, "log": True},
            "/hyperparameters/feature_fraction": {"type": "float", "low": 0.5, "high": 1.0},
            "/hyperparameters/lambda_l2": {"type": "float", "low": 1e-3, "high": 100.0, "log": True},
        },
        "objective": {"metric": "ndcg@10", "validation": {"folds": 3}},
        "budget": {"trials": trials},
        "seed": seed,
        **changed,
    }
    request = StudyRequest.model_validate(body)
    with store.begin() as tx:
        spec = study_spec(tx, request)
        return tx.studies.add(spec, budget_of(request), request.parallel_trials, None).id


def study_and_trials(store: Store, study_id: str) -> tuple[Study, list[Trial]]:
    """Return a study with its trials."""
    with store.read() as tx:
        return tx.studies.get(study_id), tx.studies.trials(study_id)


def measure_overhead(trials: int = TRIALS) -> None:
    """Claim, propose, finish and queue trials without trainings, and print seconds per trial."""
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder)) as (store, settings):
        dataset_id = add_dataset(store, "small", synthetic_dataset(20, 0))
        study_id = add_study(store, dataset_id, trials, seed=1)
        seconds = []
        generator = np.random.default_rng(0)
        for number in range(trials):
            start = time.perf_counter()
            run = JobRun.claim_next(store, settings, RUNNERS, "w1")
            if run is None:
                raise RuntimeError("no trial waits")
            job = parse(run.kind, run.spec)
            if not isinstance(job, TrialJob):
                raise TypeError(run.kind)
            sample_trial(run, job)
            value = float(generator.uniform())
            folds = [{"fold": fold, "value": value, "best_iteration": 10} for fold in range(1, 4)]
            result = TrialResult("succeeded", value, folds, [value, value], [], 10)
            with run.succeeding({"number": number}) as tx:
                tx.studies.end_trial(study_id, number, result)
            seconds.append(time.perf_counter() - start)
        _, recorded = study_and_trials(store, study_id)
    last = seconds[-min(100, trials) :]
    _CONSOLE.print(
        f"{len(recorded):,} trials in {sum(seconds):.1f} s; overhead of the last {len(last)}:"
        f" mean {np.mean(last):.3f} s, greatest {max(last):.3f} s"
    )


def judge_noise(studies: int = STUDIES) -> None:
    """Tune on shuffled labels, and count the verdicts."""
    verdicts: Counter[str] = Counter()
    pruned = ended = 0
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder)) as (store, settings):
        for seed in range(studies):
            dataset = synthetic_dataset(120, seed)
            labels = np.random.default_rng(seed).permutation(dataset.labels)
            noise = replace(dataset, labels=labels)
            study_id = add_study(store, add_dataset(store, f"noise-{seed}", noise), 8, seed)
            run_jobs(store, settings, StopFlag(), "w1", RUNNERS)
            study, trials = study_and_trials(store, study_id)
            verdicts[(study.conclusion or {}).get("verdict", study.status)] += 1
            pruned += sum(trial.status == "pruned" for trial in trials)
            ended += len(trials)
    _CONSOLE.print(f"{studies} studies of noise: {dict(verdicts)}; {pruned} of {ended} trials pruned")


def kill_workers(kills: int = KILLS) -> None:
    """Kill the only worker repeatedly during a study, and compare with an undisturbed study."""
    outcomes = []
    for is_disturbed in (False, True):
        with tempfile.TemporaryDirectory() as folder, open_store(Path(folder)) as (store, _):
            dataset_id = add_dataset(store, "kills", synthetic_dataset(200, 3))
            base = {"loss": {"name": "lambdarank"}, "hyperparameters": {"num_iterations": 60}}
            study_id = add_study(store, dataset_id, 15, seed=5, base=base)
            killed = _work(store, Path(folder), study_id, kills if is_disturbed else 0)
            study, trials = study_and_trials(store, study_id)
        outcome = [(each.number, each.status, each.parameters, each.value) for each in trials]
        outcomes.append(outcome)
        numbers = "each once" if _has_each_number_once(trials) else "DOUBLED"
        _CONSOLE.print(
            f"{killed} kills: {len(trials)} trials, numbers {numbers},"
            f" {study.status}, best {study.best_number} with {study.best_value}"
        )
    _CONSOLE.print("the same trials and values" if outcomes[0] == outcomes[1] else "OTHER trials or values")


def _work(store: Store, folder: Path, study_id: str, kills: int) -> int:
    """Run workers one after another until the study has ended; return the number of killed workers."""
    chance, killed = random.Random(0), 0
    while study_and_trials(store, study_id)[0].status not in ("succeeded", "failed", "cancelled"):
        command = [sys.executable, "-m", "benchmarks.studies", "worker", str(folder)]
        process = subprocess.Popen(command)
        if killed < kills:
            _wait_until_running(store, process)
            time.sleep(chance.uniform(0.0, 0.6))
            if process.poll() is None:
                os.kill(process.pid, signal.SIGKILL)
                killed += 1
        process.wait()
        with store.begin() as tx:  # as the sweeper does for the jobs of a dead process
            for lost in tx.jobs.running_on("w1"):
                tx.jobs.recover(lost, _ATTEMPTS)
    return killed


def _wait_until_running(store: Store, process: "subprocess.Popen[bytes]") -> None:
    while process.poll() is None:
        with store.read() as tx:
            if tx.jobs.running_on("w1"):
                return
        time.sleep(0.02)


def _has_each_number_once(trials: list[Trial]) -> bool:
    """Return whether the trials have the numbers from 0, each exactly once and in order."""
    return [trial.number for trial in trials] == list(range(len(trials)))


def main() -> None:
    """Run the named parts, by default all three."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="*", help="overhead, noise, kills, or worker FOLDER")
    parser.add_argument("--trials", type=int, default=TRIALS)
    parser.add_argument("--studies", type=int, default=STUDIES)
    parser.add_argument("--kills", type=int, default=KILLS)
    options = parser.parse_args()
    if options.what[:1] == ["worker"]:
        with open_store(Path(options.what[1])) as (store, settings):
            run_jobs(store, settings, StopFlag(), "w1", RUNNERS)
        return
    warm_up()
    parts = options.what or ["overhead", "noise", "kills"]
    if "overhead" in parts:
        measure_overhead(options.trials)
    if "noise" in parts:
        judge_noise(options.studies)
    if "kills" in parts:
        kill_workers(options.kills)


if __name__ == "__main__":
    main()
