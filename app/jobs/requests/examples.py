"""Examples of job requests, for the OpenAPI document."""

from typing import Any

from app.jobs.requests.counterfactual import EXAMPLE as COUNTERFACTUAL

REQUEST_EXAMPLES: dict[str, Any] = {
    "train": {
        "summary": "Train with NDCG-Loss2++ and stop early",
        "value": {
            "kind": "train",
            "model_name": "web",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r1",
            "validation": {"dataset_id": "ds_01k9x2m4q7c8v5n3b6r2"},
            "test_dataset_id": "ds_01k9x2m4q7c8v5n3b6r3",
            "loss": {"name": "ndcg-loss2++", "mu": 5.0, "truncation_level": 8},
            "hyperparameters": {"learning_rate": 0.05, "num_leaves": 64, "num_iterations": 500},
            "metrics": ["ndcg@5", "ndcg@10", "map", "mrr"],
            "early_stopping": {"metric": "ndcg@5", "rounds": 30},
            "seed": 42,
        },
    },
    "train-labelled": {
        "summary": "Train in a project, with a name, notes and tags to find it by",
        "value": {
            "kind": "train",
            "model_name": "web",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r1",
            "validation": {"fraction": 0.2},
            "loss": {"name": "lambdarank"},
            "name": "clicks of the spring",
            "notes": "Without the week of the outage",
            "tags": {"team": "search"},
            "project": "web-search",
        },
    },
    "train-split": {
        "summary": "Train with a fifth of the queries held out",
        "value": {
            "kind": "train",
            "model_name": "web",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r1",
            "validation": {"fraction": 0.2},
            "loss": {"name": "lambdarank"},
        },
    },
    "train-fold": {
        "summary": "Train on a dataset with a column that marks test queries",
        "value": {
            "kind": "train",
            "model_name": "web",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r1",
            "validation": {"folds": 5, "fold": 1},
            "test": {"column": "split", "values": ["test"]},
            "label_map": {"-1": 0},
            "loss": {"name": "lambdarank"},
        },
    },
    "train-folds": {
        "summary": "Cross-validate by five folds, then train on all of them",
        "value": {
            "kind": "train",
            "model_name": "web",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r1",
            "validation": {"folds": 5},
            "loss": {"name": "lambdarank"},
            "early_stopping": {"metric": "ndcg@5", "rounds": 30},
        },
    },
    "train-distributed": {
        "summary": "Train on up to eight machines",
        "value": {
            "kind": "train",
            "model_name": "web",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r1",
            "validation": {"fraction": 0.2},
            "loss": {"name": "lambdarank"},
            "distribution": {"ranks": {"at_least": 2, "at_most": 8}, "threads_per_rank": 4},
        },
    },
    "train-constrained": {
        "summary": "Train without one feature, and with monotone constraints on others",
        "value": {
            "kind": "train",
            "model_name": "web",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r1",
            "features": {"leave_out": ["clicks"]},
            "loss": {"name": "lambdarank"},
            "hyperparameters": {
                "monotone_constraints": {"bm25": 1, "age_days": -1},
                "interaction_constraints": [["bm25", "age_days"], ["pagerank"]],
                "feature_contri": {"pagerank": 0.5},
            },
        },
    },
    "train-auto": {
        "summary": "Train with automatic hyperparameters, except for the learning rate",
        "value": {
            "kind": "train",
            "model_name": "web",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r1",
            "validation": {"fraction": 0.2},
            "loss": {"name": "lambdarank"},
            "hyperparameters": {"auto": True, "learning_rate": 0.02},
        },
    },
    "train-distilled": {
        "summary": "Train a small linear scorer on the scores of a large model",
        "value": {
            "kind": "train",
            "model_name": "first-stage",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r1",
            "validation": {"fraction": 0.2},
            "features": {"use": ["bm25", "pagerank"]},
            "labels_from": "model:web@champion",
            "loss": {"name": "listnet", "target": "softmax"},
            "scorer": {"kind": "linear", "epochs": 50},
        },
    },
    "train-sum": {
        "summary": "Add the scores of two models, with weights fitted on validation data",
        "value": {
            "kind": "train",
            "model_name": "both",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r1",
            "validation": {"fraction": 0.2},
            "scorer": {"kind": "sum", "models": ["web:3", "net@champion"]},
            "metrics": ["ndcg@10"],
        },
    },
    "train-network": {
        "summary": "Train a network of two hidden layers on the same loss",
        "value": {
            "kind": "train",
            "model_name": "net",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r1",
            "validation": {"fraction": 0.2},
            "loss": {"name": "ndcg-loss2++"},
            "scorer": {
                "kind": "mlp",
                "hidden": [128, 64],
                "dropout": 0.1,
                "learning_rate": 0.001,
                "epochs": 100,
                "inputs": "rank-gauss",
            },
            "early_stopping": {"metric": "ndcg@5", "rounds": 10},
        },
    },
    "auto-train": {
        "summary": "Find the best model within ten minutes, and test it once",
        "value": {
            "kind": "auto-train",
            "model_name": "web",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r1",
            "test_dataset_id": "ds_01k9x2m4q7c8v5n3b6r3",
            "metric": "ndcg@10",
            "budget_seconds": 600,
        },
    },
    "evaluate": {
        "summary": "Evaluate the latest version of a model",
        "value": {
            "kind": "evaluate",
            "model": "web",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r3",
            "metrics": ["ndcg@10"],
            "contract": "lightgbm",
        },
    },
    "evaluate-run": {
        "summary": "Evaluate an uploaded run as trec_eval would",
        "value": {
            "kind": "evaluate",
            "ranking_id": "rnk_01k9x3b1d5f8g2h4j6m2",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r3",
            "metrics": ["map", "mrr", "ndcg@10"],
            "contract": "trec_eval",
        },
    },
    "compare": {
        "summary": "Is the new version better?",
        "value": {
            "kind": "compare",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r3",
            "systems": [{"model": "web@champion"}, {"model": "web:4"}],
            "metrics": ["ndcg@10", "mrr"],
        },
    },
    "compare-folds": {
        "summary": "Compare losses with the first one by cross-validation",
        "value": {
            "kind": "compare",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r1",
            "systems": [{"model": "web:1"}, {"model": "web:2"}, {"model": "web:3"}],
            "reference": 0,
            "correction": "holm",
            "pool_folds": True,
        },
    },
    "inspect": {
        "summary": "Measure which features the model uses",
        "value": {
            "kind": "inspect",
            "model": "web@champion",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r3",
            "metric": "ndcg@10",
            "repeats": 5,
            "within": "query",
            "partial_dependence": {"features": ["bm25", "pagerank"], "grid": 32, "sample": 2000},
        },
    },
    "click-model": {
        "summary": "Compare click models of a log",
        "value": {
            "kind": "click-model",
            "click_log_id": "clk_01k9x2m4q7c8v5n3b6r1",
            "models": ["pbm", "dbn"],
        },
    },
    "propensity": {
        "summary": "Estimate the position bias and trust bias of each rank",
        "value": {
            "kind": "propensity",
            "click_log_id": "clk_01k9x2m4q7c8v5n3b6r1",
            "method": "trust-em",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r1",
        },
    },
    "train-clicks": {
        "summary": "Train on clicks, and estimate the propensities of the ranks at the same time",
        "value": {
            "kind": "train",
            "model_name": "clicked",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r1",
            "test_dataset_id": "ds_01k9x2m4q7c8v5n3b6r3",
            "loss": {"name": "listnet"},
            "clicks": {"log": "clk_01k9x2m4q7c8v5n3b6r1", "correction": "dual"},
        },
    },
    "judge": {
        "summary": "Create a dataset with the grades of a click model",
        "value": {
            "kind": "judge",
            "click_log_id": "clk_01k9x2m4q7c8v5n3b6r1",
            "features_dataset_id": "ds_01k9x2m4q7c8v5n3b6r1",
            "options": {"model": "dbn"},
            "judgments": {"min_impressions": 20},
        },
    },
    "drift": {
        "summary": "Have the requests of the last week drifted?",
        "value": {"kind": "drift", "model": "web@champion", "days": 7},
    },
    "counterfactual": COUNTERFACTUAL,
    "rank": {
        "summary": "Rank a dataset with an aliased model",
        "value": {"kind": "rank", "model": "web@champion", "dataset_id": "ds_01k9x2m4q7c8v5n3b6r3"},
    },
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
