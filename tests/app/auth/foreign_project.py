"""One object of every kind in a project, and the path parameters that identify them."""

from typing import Any

from core.jobs import System
from core.metrics import conventions
from core.store import Store
from core.store.clock import utc_now
from core.store.visibility import limited_to
from core.studies import Budget

PROJECT = "other"
SECRET_NAME = "hidden"  # name of every object that has one; no response may contain it

# Ids and names of objects by the path parameters that take them, such as `job_id`.
Objects = dict[str, str]

_CONTRACT = conventions("default").to_json()
_SUMMARY = {
    "ndcg@10": {
        "mean": 0.4,
        "lower": 0.3,
        "upper": 0.5,
        "queries": 3,
        "skipped": 0,
        "contract": {},
    }
}


def fill(store: Store) -> Objects:
    """Record one object of every kind in `PROJECT`; return their ids and names by path parameter."""
    with limited_to((PROJECT,)), store.begin() as tx:
        dataset = tx.datasets.add(SECRET_NAME, {"kind": "upload", "format": "auto", "options": {}})
        statistics = {"queries": 3, "documents": 9, "features": 1, "labels": {"0": 5, "1": 4}}
        tx.datasets.mark_ready(dataset.id, statistics=statistics, feature_names=["bm25"])
        spec = {"kind": "train", "model_name": SECRET_NAME, "dataset_id": dataset.id}
        job = tx.jobs.add("train", spec, dataset_ids=[dataset.id])
        models = [
            tx.models.add(
                name=SECRET_NAME,
                job_id=job.id,
                sha256=f"{version:064}",
                dataset_id=dataset.id,
                loss={"name": "lambdarank"},
                hyperparameters={},
                feature_names=["bm25"],
                best_iteration=1,
                size_bytes=1,
            )
            for version in (1, 2)
        ]
        for version in (1, 2):
            tx.aliases.move(SECRET_NAME, "champion", version)
        tx.aliases.set_gate(SECRET_NAME, "champion", dataset_id=dataset.id, rule=_GATE_RULE)
        system = System(models[0].reference, models[0].id)
        common: dict[str, Any] = {"job_id": job.id, "dataset_id": dataset.id}
        evaluation = tx.evaluations.add(
            system=system, summaries=_SUMMARY, contract=_CONTRACT, baselines=[], slices=[], **common
        )
        ranking = tx.rankings.add(system=system, queries=3, documents=9, **common)
        compared = [
            {"name": f"{SECRET_NAME}:{version}", "model_id": model.id, "ranking_id": ranking.id}
            for version, model in enumerate(models, 1)
        ]
        comparison = tx.comparisons.add(
            sentence=f"{SECRET_NAME}:1 and {SECRET_NAME}:2 are equal.",
            systems=[{**each, "metrics": _SUMMARY, "findings": []} for each in compared],
            metrics=["ndcg@10"],
            contract=_CONTRACT,
            permutations=1000,
            seed=0,
            pairs=[],
            **common,
        )
        inspection = tx.inspections.add(
            model_id=models[0].id,
            metric="ndcg@10",
            contract=_CONTRACT,
            baseline=_SUMMARY["ndcg@10"],
            repeats=5,
            within="query",
            seed=0,
            importance=[],
            partial_dependence=[],
            sample=10,
            **common,
        )
        study = tx.studies.add(_study_spec(dataset.id), Budget(5, None, None), 1, None)
        experiment = tx.experiments.add(
            paper=SECRET_NAME,
            tables=None,
            scale="quick",
            data="datasets",
            source="datasets",
            folds=[],
            dry_run=False,
            datasets=[{"fold": 0, "name": "main", "part": "train", "dataset_id": dataset.id}],
        )
        schedule = tx.schedules.add(
            name=SECRET_NAME,
            cron="0 3 * * *",
            timezone="UTC",
            enabled=True,
            job={},
            spec={},
            alias=None,
            only_new_data=False,
            next_run_at=utc_now(),
            key_id=None,
            project=PROJECT,
        )
        log = tx.click_logs.add(SECRET_NAME, {"kind": "upload"}, project=PROJECT)
        interleaving = tx.interleavings.add(
            name=SECRET_NAME,
            rankers=["a", "b"],
            model_ids=None,
            method="team_draft",
            length=10,
            seed=0,
            unit="user",
            rule={"error": 0.05, "miss": 0.2, "difference": 0.05},
            click_window_seconds=0,
            key_id=None,
            project=PROJECT,
        )
        report = tx.drift.add(
            job_id=job.id,
            model_id=models[0].id,
            model=models[0].reference,
            name=SECRET_NAME,
            days=1.0,
            since=utc_now(),
            until=utc_now(),
            verdict="none",
            sentence=f"{SECRET_NAME}:1 has not drifted.",
            requests=1,
            queries=1,
            documents=1,
            drifted_features=[],
            thresholds={"p": 0.01, "psi": 0.2, "missing": 0.1},
            comparisons=[],
            project=PROJECT,
        )
    return {
        "dataset_id": dataset.id,
        "log_id": log.id,
        "job_id": job.id,
        "ref": models[0].id,
        "name": SECRET_NAME,
        "version": "1",
        "alias": "champion",
        "evaluation_id": evaluation.id,
        "ranking_id": ranking.id,
        "comparison_id": comparison.id,
        "inspection_id": inspection.id,
        "study_id": study.id,
        "interleaving_id": interleaving.id,
        "experiment_id": experiment.id,
        "schedule_id": schedule.id,
        "report_id": report.id,
        "query_id": "q1",
        "index": "0",
    }


_GATE_RULE: dict[str, Any] = {
    "metric": "ndcg@10",
    "require": "not_worse",
    "p": 0.05,
    "label_map": {},
    "contract": _CONTRACT,
    "permutations": 1000,
    "seed": 0,
    "max_slice_drop": None,
    "min_slice_queries": 30,
    "allow_absent_features": False,
}


def _study_spec(dataset_id: str) -> dict[str, Any]:
    return {
        "name": SECRET_NAME,
        "model_name": SECRET_NAME,
        "dataset_id": dataset_id,
        "test": {"fraction": 0.4},
        "asked_base": {"loss": {"name": "lambdarank"}},
        "base": {"loss": {"name": "lambdarank"}, "hyperparameters": {"num_leaves": 31}},
        "search_space": {"/hyperparameters/num_leaves": {"type": "int", "low": 4, "high": 64}},
        "objective": {"metric": "ndcg@10", "validation": {"fraction": 0.5}},
        "sampler": "tpe",
        "pruner": "none",
        "seed": 42,
        "alias": None,
        "priority": "normal",
        "higher_is_better": True,
    }
