"""Specifications as this release and earlier ones stored them, by the kind of job."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from core.losses import loss_values, make_loss, seeded
from core.metrics import DEFAULT, PRESETS
from core.parameters import values_of
from core.training import Hyperparameters

QUEUEING = {"priority": "high", "limits": {"seconds": 60.0, "memory_bytes": None}}
MODEL = {"model": "web@champion", "model_id": "mdl_1", "system": "web:3"}
MEASURES = {
    "contract": PRESETS["trec_eval"].to_json(),
    "label_map": {"-1": 0.0, "nan": 0.0},
    "seed": 7,
}
TRAINING = {
    "dataset_id": "ds_1",
    "test": {"column": "split", "values": ["test"]},
    "loss": loss_values(seeded(make_loss("listmle"), 7)),
    "hyperparameters": values_of(Hyperparameters(num_leaves=7, monotone_constraints={"bm25": 1})),
    "features": {"leave_out": ["clicks"]},
    "init_model": "web:2",
    "metrics": ["ndcg@5", "map"],
    "early_stopping": {"metric": "map", "rounds": 3},
    "metric_interval": 2,
    "categorical_feature": ["shop_id"],
    "allow_absent_features": False,
    "automatic": {"queries": 20, "documents": 400, "features": 3, "chosen": {"learning_rate": 0.05}},
    **MEASURES,
}
STUDY = {
    "study_id": "std_1",
    "study_name": "leaves",
    "dataset_id": "ds_1",
    "test_dataset_id": "ds_2",
    "metrics": ["ndcg@10"],
    "priority": "low",
}

CLICK_MODEL: Mapping[str, Any] = MappingProxyType(
    {
        "model": "dbn",
        "iterations": 20,
        "max_rank": 10,
        "prior_clicks": 2.0,
        "prior_skips": None,
        "as_pyclick": True,
        "resamples": 30,
        "seed": 3,
    }
)
# By file: a kind, the stored JSON, and which of its entries are written with other values or dropped.
_GOLDEN_FILES = sorted((Path(__file__).parent / "golden").glob("*.json"))
GOLDEN: Mapping[str, list[dict[str, Any]]] = MappingProxyType(
    {path.stem: json.loads(path.read_text()) for path in _GOLDEN_FILES}
)
# Specifications with every entry, as stored for requests without omitted values; by default the golden ones.
CURRENT: Mapping[str, dict[str, Any]] = MappingProxyType(
    {entry["kind"]: entry["stored"] for entries in GOLDEN.values() for entry in entries}
    | {
        "train": {
            "kind": "train",
            **QUEUEING,
            **TRAINING,
            "model_name": "web",
            "tags": {"grid": "g1", "num_leaves": "7"},
            "validation": {"dataset_id": "ds_2"},
            "test_dataset_id": None,
            "diagnostics": {"interval": 10, "cutoff": 5},
        },
        "reproduce": {
            "kind": "reproduce",
            **TRAINING,
            "validation": {"folds": 5, "fold": 1},
            "bootstrap": True,
            "distribution": {"ranks": {"at_least": 2, "at_most": 4}, "threads_per_rank": 3},
            "model_id": "mdl_1",
            "system": "web:3",
        },
        "evaluate": {
            "kind": "evaluate",
            **QUEUEING,
            **MODEL,
            "ranking_id": None,
            "dataset_id": "ds_1",
            "metrics": ["ndcg@10", "mrr"],
            "diagnostics": {"loss": loss_values(seeded(make_loss("xe-ndcg"), 7)), "cutoff": 10},
            "allow_absent_features": True,
            **MEASURES,
        },
        "compare": {
            "kind": "compare",
            **QUEUEING,
            "dataset_id": "ds_1",
            "systems": [MODEL, {"ranking_id": "rnk_1", "system": "bm25"}],
            "metrics": ["ndcg@10"],
            "permutations": 10_000,
            "reference": 1,
            "correction": "none",
            "pool_folds": True,
            "allow_absent_features": False,
            **MEASURES,
        },
        "promote": {
            "kind": "promote",
            "model_name": "web",
            "alias": "champion",
            "systems": [{"model_id": "mdl_1", "system": "web:3"}, {"model_id": "mdl_2", "system": "web:4"}],
            "dataset_id": "ds_1",
            "metrics": ["ndcg@10"],
            "rule": {
                "metric": "ndcg@10",
                "require": "better",
                "p": 0.01,
                "max_slice_drop": 0.02,
                "min_slice_queries": 30,
                "better_than_baselines": True,
            },
            "permutations": 10_000,
            **MEASURES,
        },
        "inspect": {
            "kind": "inspect",
            **QUEUEING,
            **MODEL,
            "dataset_id": "ds_1",
            "metric": "ndcg@10",
            "repeats": 5,
            "within": "query",
            "partial_dependence": {"features": ["bm25"], "grid": 32, "sample": 2_000},
            "allow_absent_features": False,
            **MEASURES,
        },
        "drift": {
            "kind": "drift",
            **QUEUEING,
            **MODEL,
            "dataset_id": "ds_1",
            "scored_dataset_id": "ds_2",
            "days": 7.0,
            "compare_with_previous": True,
            "queries_by": "id",
            "thresholds": {"p": 0.01, "psi": 0.2, "missing": 0.1},
            "seed": 42,
            "allow_absent_features": False,
        },
        "rank": {
            "kind": "rank",
            **QUEUEING,
            **MODEL,
            "dataset_id": "ds_1",
            "allow_absent_features": False,
        },
        "trial": {"kind": "trial", **STUDY, "number": 3},
        "conclude": {"kind": "conclude", **STUDY},
        "report": {
            "kind": "report",
            "experiment_id": "exp_1",
            "paper": "lambdaloss-2018",
            "is_last": True,
            "complete_tables": 2,
        },
        "ingest": {"dataset_id": "ds_1", "name": "train.txt"},
        "propensity": {
            "kind": "propensity",
            **QUEUEING,
            "click_log_id": "clk_1",
            "dataset_id": "ds_1",
            "method": "regression-em",
            "positions": 5,
            "versions": ["web:3"],
            "classifier": "logistic",
            "iterations": 50,
            "irrelevant_share": 0.2,
            "resamples": 20,
            "seed": 7,
        },
        "simulate-clicks": {
            "kind": "simulate-clicks",
            **QUEUEING,
            "click_log_id": "clk_1",
            "log_name": "simulated",
            "dataset_id": "ds_1",
            "rankers": [{"system": "web:3", "model_id": "mdl_1"}, {"system": "bm25", "model_id": None}],
            "user_model": {
                "kind": "dbn",
                "attraction": [0.1, 0.9],
                "examination": [1.0, 0.5],
                "severity": 0.5,
                "satisfaction": [0.2, 0.4],
                "continuation": 0.8,
                "false_click": 0.3,
            },
            "lists": 500,
            "cutoff": 5,
            "swaps": "adjacent",
            "swap_share": 0.5,
            "users": 30,
            "seed": 7,
        },
        "ingest-clicks": {
            "kind": "ingest-clicks",
            **QUEUEING,
            "click_log_id": "clk_1",
            "name": "clicks.csv",
            "max_bytes": 2**30,
        },
        "click-model": {
            "kind": "click-model",
            **QUEUEING,
            "click_log_id": "clk_1",
            "log_name": "clicks.csv",
            "models": ["pbm", "dbn"],
            "options": dict(CLICK_MODEL),
            "held_out": 0.3,
        },
        "judge": {
            "kind": "judge",
            **QUEUEING,
            "click_log_id": "clk_1",
            "dataset_id": "ds_1",
            "name": "judged by clicks",
            "features_dataset_id": "ds_2",
            "judged_dataset_id": "ds_3",
            "options": dict(CLICK_MODEL),
            "judgments": {"min_impressions": 20, "quantiles": [0.5, 0.9], "cuts": None, "shrink": False},
            "unjudged": "zero",
        },
        "import": {"upload_id": "run_1", "dataset_id": "ds_1", "name": "bm25", "filename": "bm25.run"},
        "import-model": {
            "kind": "import-model",
            "upload_id": "mup_1",
            "model_name": "web",
            "description": "Trained by the nightly notebook",
            "tags": {"team": "search"},
            "filename": "model.txt",
            "sha256": "0" * 64,
            "size_bytes": 9,
        },
    }
)

# Specifications as the first release with the kind stored them, for kinds whose JSON has changed.
EARLIER: Mapping[str, dict[str, Any]] = MappingProxyType(
    {
        "train": {
            "kind": "train",
            "model_name": "web",
            "dataset_id": "ds_1",
            "validation": {"fraction": 0.2},
            "test_dataset_id": "ds_3",
            "loss": {"name": "listmle"},
            "hyperparameters": {"num_iterations": 5},
            "metrics": ["ndcg@5"],
            "early_stopping": None,
            "seed": 42,
        },
        "reproduce": {
            "kind": "reproduce",
            "dataset_id": "ds_1",
            "validation": None,
            "loss": {"name": "lambdarank"},
            "hyperparameters": {},
            "metrics": ["ndcg@5"],
            "early_stopping": None,
            "seed": 42,
            "model_id": "mdl_1",
            "system": "web:1",
        },
        "evaluate": {
            "kind": "evaluate",
            "model": "web",
            "model_id": "mdl_1",
            "dataset_id": "ds_1",
            "metrics": ["ndcg@5", "ndcg@10"],
        },
        "compare": {
            "kind": "compare",
            "dataset_id": "ds_1",
            "systems": [
                {"model": "web", "model_id": "mdl_1", "system": "web:1"},
                {"ranking_id": "rnk_1", "system": "bm25"},
            ],
            "metrics": ["ndcg@5"],
            "contract": DEFAULT.to_json(),
            "permutations": 100_000,
            "label_map": {},
            "seed": 42,
        },
        "rank": {"kind": "rank", "model": "web", "model_id": "mdl_1", "dataset_id": "ds_1"},
        "ingest": {"dataset_id": "ds_1"},
    }
)
