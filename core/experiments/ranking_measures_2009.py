"""Chen, Liu, Lan, Ma and Li 2009, Ranking Measures and Loss Functions in Learning to Rank."""

from collections.abc import Mapping
from typing import Any, Literal

from core.experiments.paper import (
    SIZES,
    Claim,
    Entry,
    Epochs,
    Method,
    Paper,
    Protocol,
    Significance,
    Table,
    printed_rows,
)
from core.experiments.rules import Above

_COLUMNS = ("NDCG@5", "NDCG@10")
_PRINTED = {
    "RankNet": "0.4568 0.4414",
    "W-RankNet": "0.4868 0.4604",
    "ListMLE": "0.4471 0.4347",
    "W-ListMLE": "0.4588 0.4453",
    "Regression": "0.4278 0.4110",
    "Ranking SVM": "0.4164 0.4140",
    "RankBoost": "0.4494 0.4302",
    "FRank": "0.4588 0.4433",
    "ListNet": "0.4432 0.4410",
    "SVMMAP": "0.4516 0.4319",
}
_LOSSES = {
    "RankNet": "ranknet",
    "W-RankNet": "w-ranknet",
    "ListMLE": "listmle",
    "W-ListMLE": "w-listmle",
    "Regression": "mse",
    "Ranking SVM": "ranksvm",
    "RankBoost": "rankboost",
    "ListNet": "listnet",
}
_TARGETS = {"ListNet": {"target": "softmax"}}  # Cao et al. 2007, the ListNet of LETOR
_Scorer = Literal["linear", "trees"]
_OWN_DEVIATIONS: Mapping[_Scorer, Mapping[str, tuple[str, ...]]] = {
    "linear": {
        "RankBoost": (
            "RankBoost's exponential loss on a linear scorer instead of RankBoost's weak rankers.",
        ),
        "Ranking SVM": ("The hinge loss without the norm of the weights as a regulariser.",),
    },
    "trees": {
        "RankBoost": (
            "RankBoost's exponential loss on gradient-boosted trees instead of RankBoost's weak rankers.",
        ),
        "Ranking SVM": ("The hinge loss on trees, without the norm of a linear scorer as a regulariser.",),
    },
}
_PRINTED_ONLY = {
    "FRank": ("Printed only: Rankery has no fidelity loss.",),
    "SVMMAP": ("Printed only: Rankery has no structured loss of average precision.",),
}
_LINEAR_RATES = tuple({"learning_rate": rate} for rate in (0.0003, 0.001, 0.003, 0.01, 0.03))
_QUICK_LINEAR_RATES = ({"learning_rate": 0.001}, {"learning_rate": 0.01})


def _method(row: str, scorer: _Scorer) -> Method:
    name = _LOSSES.get(row)
    loss: Mapping[str, Any] | None = None if name is None else {"name": name, **_TARGETS.get(row, {})}
    deviations = _PRINTED_ONLY.get(row) or _OWN_DEVIATIONS[scorer].get(row, ())
    if scorer == "linear":
        return Method(
            name=row,
            loss=loss,
            scorer={"kind": "linear", "batch_documents": 1_000},
            grid=_LINEAR_RATES,
            quick_grid=_QUICK_LINEAR_RATES,
            deviations=deviations,
        )
    return Method(
        name=row,
        loss=loss,
        hyperparameters={"num_leaves": 7, "min_data_in_leaf": 50, "min_sum_hessian_in_leaf": 0.0},
        grid=tuple(
            {"learning_rate": rate, "num_leaves": leaves}
            for rate in (0.02, 0.05, 0.1)
            for leaves in (4, 7, 15)
        ),
        quick_grid=({"learning_rate": 0.05}, {"learning_rate": 0.2}),
        deviations=deviations,
    )


def _above(row: str, others: tuple[str, ...]) -> Above:
    return Above(tuple(((row, column), (other, column)) for other in others for column in _COLUMNS))


_BASELINES = ("Regression", "Ranking SVM", "RankBoost", "ListNet")

_CLAIMS = (
    Claim(
        name="w-ranknet-above-ranknet",
        statement="The weighted loss W-RankNet is above RankNet.",
        source="section 4, table 1",
        rule=_above("W-RankNet", ("RankNet",)),
    ),
    Claim(
        name="w-listmle-above-listmle",
        statement="The weighted loss W-ListMLE is above ListMLE.",
        source="section 4, table 1",
        rule=_above("W-ListMLE", ("ListMLE",)),
    ),
    Claim(
        name="w-ranknet-above-baselines",
        statement="W-RankNet is above regression, Ranking SVM, RankBoost and ListNet.",
        source="section 4, table 1",
        rule=_above("W-RankNet", _BASELINES),
    ),
    Claim(
        name="w-listmle-above-baselines",
        statement="W-ListMLE is above regression, Ranking SVM, RankBoost and ListNet.",
        source="section 4, table 1",
        rule=_above("W-ListMLE", _BASELINES),
    ),
)
_DEVIATIONS: Mapping[_Scorer, tuple[str, ...]] = {
    "linear": (
        "The paper does not describe the optimisation and tuning of its linear scorers: here Adam, on batches"
        " of whole queries, with standardised features; learning rate and epoch by validation NDCG@5.",
    ),
    "trees": ("Trees instead of linear scorers, so all numbers differ from the printed numbers.",),
}


def _table(name: str, scorer: _Scorer) -> Table:
    rows = tuple(_PRINTED if scorer == "linear" else _LOSSES)
    return Table(
        name=name,
        caption=f"Test NDCG on OHSUMED, {'linear scorers' if scorer == 'linear' else 'trees'}",
        rows=rows,
        columns=_COLUMNS,
        entries=tuple(
            Entry(row=row, column=column, method=_method(row, scorer), metric=column.lower())
            for row in rows
            for column in _COLUMNS
        ),
        protocol=Protocol(
            trees=500,
            quick_trees=100,
            early_stopping=30,
            networks=Epochs(epochs=500, quick_epochs=60, early_stopping=30),
            selection="ndcg@5",
            metrics=("ndcg@5", "ndcg@10"),
            contract="letor",
            description="LETOR 3.0, five folds; tuned here by validation NDCG@5, since the paper does not"
            " describe tuning.",
        ),
        unit="fraction",
        printed={"OHSUMED": printed_rows(_COLUMNS, _PRINTED)} if scorer == "linear" else {},
        significance=Significance(
            test="randomisation",
            levels={"*": 0.05},
            reference={"W-RankNet": "RankNet", "W-ListMLE": "ListMLE"},
            description="The paper names no significance test: marks are of Fisher's randomisation test,"
            " two-sided, at .05.",
        ),
        claims=_CLAIMS,
        deviations=_DEVIATIONS[scorer],
    )


PAPER = Paper(
    name="ranking-measures-2009",
    title="Ranking Measures and Loss Functions in Learning to Rank",
    authors="Chen, Liu, Lan, Ma and Li",
    year=2009,
    tables=(_table("table-1", "linear"), _table("table-1-trees", "trees")),
    corpora=("OHSUMED",),
    printed_corpus_by_source={},
    data="synthetic",
    sizes=SIZES,
)
