"""Burges, Ragno and Le 2006, Learning to Rank with Nonsmooth Cost Functions."""

from collections.abc import Mapping
from typing import Any

from core.data.synthetic import GAINS_2006
from core.experiments.paper import (
    MAIN,
    Claim,
    Entry,
    Method,
    Paper,
    Printed,
    Protocol,
    Significance,
    Sizes,
    Table,
)
from core.experiments.rules import Above, Unmeasured
from core.experiments.sizes import PAPER_POLYNOMIAL, PAPER_SPARSE, QUICK_SPARSE

CUTOFFS = tuple(range(1, 11))
_GAIN = list(GAINS_2006)
_TREES = "Trees instead of nets, which are not implemented."
_RATES = tuple({"learning_rate": rate} for rate in (0.05, 0.1, 0.2, 0.5))
_ADDITIVE = (
    "Trees of two leaves have no interactions of features: an additive scorer, as a net of one layer is."
)


def _methods(name: str, loss: Mapping[str, Any]) -> tuple[Method, Method]:
    """Return a loss with an additive scorer and with trees of more leaves."""
    limits = {"min_data_in_leaf": 20, "min_sum_hessian_in_leaf": 0.0}
    additive = Method(
        name=f"{name}, additive",
        loss=loss,
        hyperparameters={**limits, "num_leaves": 2},
        grid=_RATES,
        quick_grid=({"learning_rate": 0.2}, {"learning_rate": 0.4}),
        scorer="trees of two leaves",
        deviations=(_ADDITIVE,),
    )
    trees = Method(
        name=f"{name}, trees",
        loss=loss,
        hyperparameters=limits,
        grid=tuple({**rate, "num_leaves": leaves} for rate in _RATES for leaves in (7, 31)),
        quick_grid=({"learning_rate": 0.1, "num_leaves": 15}, {"learning_rate": 0.3, "num_leaves": 15}),
    )
    return additive, trees


_RANKNETS = _methods("RankNet", {"name": "ranknet"})
_LAMBDARANKS = _methods("LambdaRank", {"name": "lambdarank", "gain": _GAIN})
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
        description="Learning rate and number of trees by validation NDCG@10, for each method; patience 50.",
    ),
    significance=Significance(
        test="intervals",
        levels={"*": 0.05},
        reference={better.name: worse.name for better, worse in zip(_LAMBDARANKS, _RANKNETS, strict=True)},
        description="The paper shows 95% intervals and no test; marks are of Fisher's at .05.",
    ),
    claims=(
        Claim(
            name="lambdarank-above-ranknet-additive",
            statement="LambdaRank is above RankNet at every cutoff from 1 to 10, with additive scorers.",
            source="section 6.3.1, figure 2",
            rule=_at_every_cutoff("additive"),
        ),
        Claim(
            name="lambdarank-above-ranknet-trees",
            statement="LambdaRank is above RankNet at every cutoff from 1 to 10, with trees of more leaves.",
            source="section 6.3.1, figure 2",
            rule=_at_every_cutoff("trees"),
        ),
    ),
    deviations=(
        _TREES,
        "The terms of the polynomial and the shares of the labels are not printed.",
    ),
)

_DOCUMENTS = {"quick": (500, 1_000, 2_000, 4_000), "paper": (4_000, 8_000, 16_000, 32_000, 64_000)}
_SLOPE = "slope of log time over log documents"
_FIGURE_1 = Table(
    name="figure-1",
    caption="Training time with the factorised gradient (V2) and pair by pair (V1)",
    rows=("V1", "V2"),
    columns=(_SLOPE, "V1 over V2, one layer", "V1 over V2, two layers"),
    entries=(
        Entry(row="V1", column=_SLOPE, method=None, metric="ndcg@10"),
        Entry(
            row="V2",
            column=_SLOPE,
            method=Method(
                name="RankNet",
                loss={"name": "ranknet"},
                hyperparameters={"num_leaves": 15, "learning_rate": 0.1},
            ),
            metric="ndcg@10",
            measure="slope",
            data=tuple(f"documents-{n}" for n in sorted({*_DOCUMENTS["quick"], *_DOCUMENTS["paper"]})),
        ),
        Entry(row="V2", column="V1 over V2, one layer", method=None, metric="ndcg@10"),
        Entry(row="V2", column="V1 over V2, two layers", method=None, metric="ndcg@10"),
    ),
    protocol=Protocol(
        trees=15,
        quick_trees=15,
        early_stopping=None,
        selection="ndcg@10",
        metrics=("ndcg@10",),
        contract={"gain": _GAIN},
        description="One query of 4,000 to 512,000 documents; time of the gradient of each tree.",
    ),
    unit="number",
    printed={
        "the paper's polynomials": {
            "V1": {_SLOPE: Printed(1.943)},
            "V2": {
                _SLOPE: Printed(1.185),
                "V1 over V2, one layer": Printed(5.1),
                "V1 over V2, two layers": Printed(8.0),
            },
        }
    },
    claims=(
        Claim(
            name="factorisation-is-faster",
            statement="The factorised gradient trains 5.1 (one layer) and 8.0 (two layers) times as fast.",
            source="section 6.1, figure 1",
            rule=Unmeasured(
                "Trees need one gradient for each document; there is no backpropagation pair by pair to save."
            ),
        ),
    ),
    deviations=(
        _TREES,
        "Ours is the time of the pairs alone, which V2 adds to one backpropagation for each document.",
        "One query of at most 64,000 documents; the paper goes on to 512,000.",
    ),
)

PAPER = Paper(
    name="lambdarank-2006",
    title="Learning to Rank with Nonsmooth Cost Functions",
    authors="Burges, Ragno and Le",
    year=2006,
    tables=(_FIGURE_1, _FIGURE_2),
    corpora=("the paper's polynomials",),
    orientation={},
    data="synthetic",
    sizes={
        "quick": {
            "synthetic": {
                # The test queries that show 0.5 points of NDCG@1.
                MAIN: Sizes(queries=(1_500, 750, 8_000), parameters={"generator": "polynomial"}),
                **{
                    f"documents-{n}": Sizes(queries=(1, 0, 0), parameters={"documents_per_query": n})
                    for n in _DOCUMENTS["quick"]
                },
            },
            "sparse": {MAIN: QUICK_SPARSE},
        },
        "paper": {
            "synthetic": {
                MAIN: PAPER_POLYNOMIAL,
                **{
                    f"documents-{n}": Sizes(queries=(1, 0, 0), parameters={"documents_per_query": n})
                    for n in _DOCUMENTS["paper"]
                },
            },
            "sparse": {MAIN: PAPER_SPARSE},
        },
    },
)
