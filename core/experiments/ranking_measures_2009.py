"""Chen, Liu, Lan, Ma and Li 2009, Ranking Measures and Loss Functions in Learning to Rank."""

from core.experiments.paper import Claim, Entry, Method, Paper, Protocol, Significance, Table
from core.experiments.printed import printed_rows
from core.experiments.rules import Above
from core.experiments.sizes import DRAWN

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
_OWN_DEVIATIONS = {
    "RankBoost": ("RankBoost's exponential loss on gradient-boosted trees, not its own weak rankers.",),
    "Ranking SVM": ("The hinge loss on trees, without the norm of a linear scorer as a regulariser.",),
    "FRank": ("Printed only: there is no fidelity loss here.",),
    "SVMMAP": ("Printed only: there is no structured loss of average precision here.",),
}


def _method(row: str) -> Method:
    name = _LOSSES.get(row)
    return Method(
        name=row,
        loss=None if name is None else {"name": name, **_TARGETS.get(row, {})},
        hyperparameters={"num_leaves": 7, "min_data_in_leaf": 50, "min_sum_hessian_in_leaf": 0.0},
        grid=tuple(
            {"learning_rate": rate, "num_leaves": leaves}
            for rate in (0.02, 0.05, 0.1)
            for leaves in (4, 7, 15)
        ),
        quick_grid=({"learning_rate": 0.05}, {"learning_rate": 0.2}),
        deviations=_OWN_DEVIATIONS.get(row, ()),
    )


def _above(row: str, others: tuple[str, ...]) -> Above:
    return Above(tuple(((row, column), (other, column)) for other in others for column in _COLUMNS))


_BASELINES = ("Regression", "Ranking SVM", "RankBoost", "ListNet")

_TABLE_1 = Table(
    name="table-1",
    caption="Test NDCG on OHSUMED",
    rows=tuple(_PRINTED),
    columns=_COLUMNS,
    entries=tuple(
        Entry(row=row, column=column, method=_method(row), metric=column.lower())
        for row in _PRINTED
        for column in _COLUMNS
    ),
    protocol=Protocol(
        trees=500,
        quick_trees=100,
        early_stopping=30,
        selection="ndcg@5",
        metrics=("ndcg@5", "ndcg@10"),
        contract="letor",
        description="LETOR 3.0, five folds; tuned here by validation NDCG@5, as nothing is printed.",
    ),
    unit="fraction",
    printed={"OHSUMED": printed_rows(_COLUMNS, _PRINTED)},
    significance=Significance(
        test="randomisation",
        levels={"*": 0.05},
        reference={"W-RankNet": "RankNet", "W-ListMLE": "ListMLE"},
        description="The paper speaks of significance without a test: Fisher's, two-sided, at .05.",
    ),
    claims=(
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
    ),
    deviations=("Trees instead of linear scorers, so that all numbers differ from the printed ones.",),
)

PAPER = Paper(
    name="ranking-measures-2009",
    title="Ranking Measures and Loss Functions in Learning to Rank",
    authors="Chen, Liu, Lan, Ma and Li",
    year=2009,
    tables=(_TABLE_1,),
    corpora=("OHSUMED",),
    orientation={},
    data="synthetic",
    sizes=DRAWN,
)
