"""Examples of job requests, for the OpenAPI document."""

from typing import Any

from app.jobs.requests.clicks import EXAMPLE as COUNTERFACTUAL

_TRAINING_DATA = "ds_01k9x2m4q7c8v5n3b6r1"
_TEST_DATA = "ds_01k9x2m4q7c8v5n3b6r3"
_LOG = "clk_01k9x2m4q7c8v5n3b6r1"
_FIFTH = {"fraction": 0.2}


def _example(summary: str, kind: str, /, **fields: Any) -> dict[str, Any]:
    return {"summary": summary, "value": {"kind": kind, **fields}}


def _training(summary: str, model_name: str = "web", /, **fields: Any) -> dict[str, Any]:
    return _example(summary, "train", model_name=model_name, dataset_id=_TRAINING_DATA, **fields)


REQUEST_EXAMPLES: dict[str, Any] = {
    "train": _training(
        "Train with NDCG-Loss2++ and stop early",
        validation={"dataset_id": "ds_01k9x2m4q7c8v5n3b6r2"},
        test_dataset_id=_TEST_DATA,
        loss={"name": "ndcg-loss2++", "mu": 5.0, "truncation_level": 8},
        hyperparameters={"learning_rate": 0.05, "num_leaves": 64, "num_iterations": 500},
        metrics=["ndcg@5", "ndcg@10", "map", "mrr"],
        early_stopping={"metric": "ndcg@5", "rounds": 30},
        seed=42,
    ),
    "train-labelled": _training(
        "Train in a project, with a name, notes and tags to find it by",
        validation=_FIFTH,
        loss={"name": "lambdarank"},
        name="clicks of the spring",
        notes="Without the week of the outage",
        tags={"team": "search"},
        project="web-search",
    ),
    "train-split": _training(
        "Train with a fifth of the queries held out", validation=_FIFTH, loss={"name": "lambdarank"}
    ),
    "train-fold": _training(
        "Train on a dataset with a column that marks test queries",
        validation={"folds": 5, "fold": 1},
        test={"column": "split", "values": ["test"]},
        label_map={"-1": 0},
        loss={"name": "lambdarank"},
    ),
    "train-folds": _training(
        "Cross-validate by five folds, then train on all of them",
        validation={"folds": 5},
        loss={"name": "lambdarank"},
        early_stopping={"metric": "ndcg@5", "rounds": 30},
    ),
    "train-distributed": _training(
        "Train on up to eight machines",
        validation=_FIFTH,
        loss={"name": "lambdarank"},
        distribution={"ranks": {"at_least": 2, "at_most": 8}, "threads_per_rank": 4},
    ),
    "train-constrained": _training(
        "Train without one feature, and with monotone constraints on others",
        features={"leave_out": ["clicks"]},
        loss={"name": "lambdarank"},
        hyperparameters={
            "monotone_constraints": {"bm25": 1, "age_days": -1},
            "interaction_constraints": [["bm25", "age_days"], ["pagerank"]],
            "feature_contri": {"pagerank": 0.5},
        },
    ),
    "train-auto": _training(
        "Train with automatic hyperparameters, except for the learning rate",
        validation=_FIFTH,
        loss={"name": "lambdarank"},
        hyperparameters={"auto": True, "learning_rate": 0.02},
    ),
    "train-distilled": _training(
        "Train a small linear scorer on the scores of a large model",
        "first-stage",
        validation=_FIFTH,
        features={"use": ["bm25", "pagerank"]},
        labels_from="model:web@champion",
        loss={"name": "listnet", "target": "softmax"},
        scorer={"kind": "linear", "epochs": 50},
    ),
    "train-sum": _training(
        "Add the scores of two models, with weights fitted on validation data",
        "both",
        validation=_FIFTH,
        scorer={"kind": "sum", "models": ["web:3", "net@champion"]},
        metrics=["ndcg@10"],
    ),
    "train-network": _training(
        "Train a network of two hidden layers on the same loss",
        "net",
        validation=_FIFTH,
        loss={"name": "ndcg-loss2++"},
        scorer={
            "kind": "mlp",
            "hidden": [128, 64],
            "dropout": 0.1,
            "learning_rate": 0.001,
            "epochs": 100,
            "inputs": "rank-gauss",
        },
        early_stopping={"metric": "ndcg@5", "rounds": 10},
    ),
    "auto-train": _example(
        "Find the best model within ten minutes, and test it once",
        "auto-train",
        model_name="web",
        dataset_id=_TRAINING_DATA,
        test_dataset_id=_TEST_DATA,
        metric="ndcg@10",
        budget_seconds=600,
    ),
    "evaluate": _example(
        "Evaluate the latest version of a model",
        "evaluate",
        model="web",
        dataset_id=_TEST_DATA,
        metrics=["ndcg@10"],
        contract="lightgbm",
    ),
    "evaluate-run": _example(
        "Evaluate an uploaded run as trec_eval would",
        "evaluate",
        ranking_id="rnk_01k9x3b1d5f8g2h4j6m2",
        dataset_id=_TEST_DATA,
        metrics=["map", "mrr", "ndcg@10"],
        contract="trec_eval",
    ),
    "compare": _example(
        "Is the new version better?",
        "compare",
        dataset_id=_TEST_DATA,
        systems=[{"model": "web@champion"}, {"model": "web:4"}],
        metrics=["ndcg@10", "mrr"],
    ),
    "compare-folds": _example(
        "Compare losses with the first one by cross-validation",
        "compare",
        dataset_id=_TRAINING_DATA,
        systems=[{"model": "web:1"}, {"model": "web:2"}, {"model": "web:3"}],
        reference=0,
        correction="holm",
        pool_folds=True,
    ),
    "inspect": _example(
        "Measure which features the model uses",
        "inspect",
        model="web@champion",
        dataset_id=_TEST_DATA,
        metric="ndcg@10",
        repeats=5,
        within="query",
        partial_dependence={"features": ["bm25", "pagerank"], "grid": 32, "sample": 2000},
    ),
    "click-model": _example(
        "Compare click models of a log", "click-model", click_log_id=_LOG, models=["pbm", "dbn"]
    ),
    "propensity": _example(
        "Estimate the position bias and trust bias of each rank",
        "propensity",
        click_log_id=_LOG,
        method="trust-em",
        dataset_id=_TRAINING_DATA,
    ),
    "train-clicks": _training(
        "Train on clicks, and estimate the propensities of the ranks at the same time",
        "clicked",
        test_dataset_id=_TEST_DATA,
        loss={"name": "listnet"},
        clicks={"log": _LOG, "correction": "dual"},
    ),
    "judge": _example(
        "Create a dataset with the grades of a click model",
        "judge",
        click_log_id=_LOG,
        features_dataset_id=_TRAINING_DATA,
        options={"model": "dbn"},
        judgments={"min_impressions": 20},
    ),
    "drift": _example("Have the requests of the last week drifted?", "drift", model="web@champion", days=7),
    "counterfactual": COUNTERFACTUAL,
    "rank": _example(
        "Rank a dataset with an aliased model", "rank", model="web@champion", dataset_id=_TEST_DATA
    ),
}

BATCH_EXAMPLES: dict[str, Any] = {
    "grid": {
        "summary": "Train with two seeds",
        "value": {"jobs": [{**REQUEST_EXAMPLES["train-split"]["value"], "seed": seed} for seed in (1, 2)]},
    },
    "repeats": {
        "summary": "Train five times on bootstrap samples of the queries",
        "value": {"jobs": [REQUEST_EXAMPLES["train-split"]["value"]], "repeats": {"count": 5}},
    },
}
