"""Burges, Ragno and Le 2006, Learning to Rank with Nonsmooth Cost Functions."""

from collections.abc import Mapping
from typing import Any

from core.data.synthetic import GAINS_2006
from core.experiments.lambdarank_2006_times import FIGURE_1
from core.experiments.paper import (
    PAPER_POLYNOMIAL,
    PAPER_SPARSE,
    QUICK_SPARSE,
    Claim,
    Entry,
    Epochs,
    Method,
    Paper,
    Protocol,
    Significance,
    Sizes,
    Table,
)
from core.experiments.rules import Above

CUTOFFS = tuple(range(1, 11))
_GAIN = list(GAINS_2006)
_TREES = "The paper does not train trees."
_UNSPECIFIED_SETTINGS = (
    "A step uses the mean loss of its queries. The paper specifies neither activation functions nor the"
    " distribution of features and initial weights: here tanh, features of standard deviation 1 and Glorot's"
    " initialisation."
)
_QUICK = (
    "At the quick scale, a step uses ten queries instead of one, for 100 epochs instead of 300, with adapted"
    " learning rates."
)
_RESTARTS = (
    "Restart with new weights after 50 epochs without a reduction of the training cost, which is"
    " −NDCG@10 for LambdaRank."
)
_TREE_RATES = tuple({"learning_rate": rate} for rate in (0.05, 0.1, 0.2, 0.5))
# One step per query; at the quick scale, one step per ten queries (4 ms per step).
_DESCENT = {"optimizer": "sgd", "batch_documents": 1, "decay_on_rise": 0.8, "restart_epochs": 50}
_QUICK_BATCH = {"batch_documents": 500}
_NETS: Mapping[str, Mapping[str, Any]] = {
    "linear": {"kind": "linear"},
    "two layers": {"kind": "mlp", "hidden": [10], "activation": "tanh"},
}
_SCORERS = (*_NETS, "trees")


def _rate_grid(*rates: float) -> tuple[Mapping[str, Any], ...]:
    return tuple({"learning_rate": rate} for rate in rates)


def _nets(
    name: str,
    loss: Mapping[str, Any],
    cost: str,
    grid: tuple[Mapping[str, Any], ...],
    quick_grids: Mapping[str, tuple[Mapping[str, Any], ...]],
) -> tuple[Method, ...]:
    """Return the methods of a loss with both networks, trained by the paper's schedule."""
    return tuple(
        Method(
            name=f"{name}, {net}",
            loss=loss,
            scorer={**scorer, **_DESCENT, "training_cost": cost},
            grid=grid,
            quick=_QUICK_BATCH,
            quick_grid=quick_grids[net],
            deviations=(_UNSPECIFIED_SETTINGS, _RESTARTS, _QUICK),
        )
        for net, scorer in _NETS.items()
    )


def _trees(name: str, loss: Mapping[str, Any]) -> Method:
    """Return the method of a loss with trees."""
    return Method(
        name=f"{name}, trees",
        loss=loss,
        hyperparameters={"min_data_in_leaf": 20, "min_sum_hessian_in_leaf": 0.0},
        grid=tuple({**rate, "num_leaves": leaves} for rate in _TREE_RATES for leaves in (7, 31)),
        quick_grid=({"learning_rate": 0.1, "num_leaves": 15}, {"learning_rate": 0.3, "num_leaves": 15}),
        deviations=(_TREES,),
    )


_RANKNET: Mapping[str, Any] = {"name": "ranknet"}
_LAMBDARANK: Mapping[str, Any] = {"name": "lambdarank", "gain": _GAIN}
_RANKNETS = (
    *_nets(
        "RankNet",
        _RANKNET,
        "loss",
        _rate_grid(1e-6, 1e-5, 1e-4, 1e-3),
        {"linear": _rate_grid(1e-4, 1e-3), "two layers": _rate_grid(1e-3, 2e-3)},
    ),
    _trees("RankNet", _RANKNET),
)
# The gradient is divided by the ideal DCG and is smaller, so the learning rates are larger.
_LAMBDARANKS = (
    *_nets(
        "LambdaRank",
        _LAMBDARANK,
        "metric",
        _rate_grid(1e-4, 1e-3, 1e-2, 1e-1),
        {"linear": _rate_grid(1e-2, 1e-1), "two layers": _rate_grid(5e-2, 1e-1)},
    ),
    _trees("LambdaRank", _LAMBDARANK),
)
_ROWS = tuple(method for pair in zip(_RANKNETS, _LAMBDARANKS, strict=True) for method in pair)


def _at_every_cutoff(scorer: str) -> Above:
    return Above(
        tuple(((f"LambdaRank, {scorer}", f"NDCG@{k}"), (f"RankNet, {scorer}", f"NDCG@{k}")) for k in CUTOFFS)
    )


_FIGURE_2 = Table(
    name="figure-2",
    caption="Test NDCG by cutoff on random cubic polynomials",
    rows=tuple(method.name for method in _ROWS),
    columns=tuple(f"NDCG@{k}" for k in CUTOFFS),
    entries=tuple(
        Entry(row=method.name, column=f"NDCG@{k}", method=method, metric=f"ndcg@{k}")
        for method in _ROWS
        for k in CUTOFFS
    ),
    protocol=Protocol(
        trees=1_000,
        quick_trees=400,
        early_stopping=50,
        metric_interval=5,
        selection="ndcg@10",
        metrics=tuple(f"ndcg@{k}" for k in CUTOFFS),
        contract={"gain": _GAIN},
        networks=Epochs(epochs=300, quick_epochs=100),
        description="For each method, validation NDCG@10 selects the hyperparameters of its grid and the"
        " epoch (nets) or number of trees. Nets: rates x 0.8 after an epoch with a higher training cost, 300"
        " epochs; trees: patience 50.",
    ),
    significance=Significance(
        test="intervals",
        levels={"*": 0.05},
        reference={better.name: worse.name for better, worse in zip(_LAMBDARANKS, _RANKNETS, strict=True)},
        description="The paper shows 95% intervals but no test; marks are of Fisher's randomisation"
        " test at .05.",
    ),
    claims=tuple(
        Claim(
            name=f"lambdarank-above-ranknet-{scorer.replace(' ', '-')}",
            statement=f"LambdaRank is above RankNet at every cutoff from 1 to 10: {words}.",
            source="section 6.3.1, figure 2",
            rule=_at_every_cutoff(scorer),
        )
        for scorer, words in zip(
            _SCORERS, ("linear scorers", "nets of ten hidden units", "trees, not the paper's"), strict=True
        )
    ),
    deviations=("The paper specifies neither the terms of the polynomial nor the shares of the labels.",),
)

PAPER = Paper(
    name="lambdarank-2006",
    title="Learning to Rank with Nonsmooth Cost Functions",
    authors="Burges, Ragno and Le",
    year=2006,
    tables=(FIGURE_1, _FIGURE_2),
    corpora=("the paper's polynomials",),
    printed_corpus_by_source={},
    data="synthetic",
    sizes={
        "quick": {
            # Enough test queries to detect 0.5 points of NDCG@1.
            "synthetic": Sizes(queries=(1_500, 750, 8_000), parameters={"generator": "polynomial"}),
            "sparse": QUICK_SPARSE,
        },
        "paper": {"synthetic": PAPER_POLYNOMIAL, "sparse": PAPER_SPARSE},
    },
)
