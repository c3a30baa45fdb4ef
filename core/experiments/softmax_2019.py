"""Bruch, Wang, Bendersky and Najork 2019, An Analysis of the Softmax Cross Entropy Loss."""

from core.experiments.paper import SIZES, Claim, Entry, Method, Paper, Printed, Protocol, Significance, Table
from core.experiments.rules import Above, Narrower

_BINARY = {"2": 1.0, "3": 1.0, "4": 1.0}
_COLUMNS = ("NDCG@5", "NDCG@10")
_ROWS = ("ListNet", "LambdaMART", "ListNet, binary labels", "LambdaMART, binary labels")


def _hyperparameters(leaves: int, documents: int, hessian: float) -> dict[str, float]:
    return {
        "learning_rate": 0.1,
        "num_leaves": leaves,
        "min_data_in_leaf": documents,
        "min_sum_hessian_in_leaf": hessian,
    }


def _method(row: str) -> Method:
    name, _, binary = row.partition(", ")
    return Method(
        name=row,
        loss={"name": "listnet"}
        if name == "ListNet"
        else {"name": "lambdarank", "normalization": "lightgbm"},
        by_corpus={
            "MSLR-WEB30K": _hyperparameters(255, 50, 100.0),
            "Yahoo set 1": _hyperparameters(200, 100, 400.0 if binary else 10.0),
        },
        grid=tuple(
            {"learning_rate": 0.1, "num_leaves": leaves, "min_data_in_leaf": documents}
            for leaves in (15, 31, 63, 255)
            for documents in (50, 100)
        ),
        quick={"learning_rate": 0.1, "num_leaves": 15, "min_data_in_leaf": 50},
        deviations=(
            "ListNet is equation 7: all queries have equal weight instead of weights in proportion to Σ y.",
        )
        if name == "ListNet"
        else (
            "LambdaMART uses all pairs and the current normalisation of LightGBM; the paper"
            " specifies neither.",
        ),
    )


def _printed(numbers: dict[str, tuple[float, float, float, float]]) -> dict[str, dict[str, Printed]]:
    return {
        row: {
            "NDCG@5": Printed(at_5, half_width=half_5),
            "NDCG@10": Printed(at_10, half_width=half_10),
        }
        for row, (at_5, half_5, at_10, half_10) in numbers.items()
    }


_GRADED_PAIRS = tuple((("LambdaMART", column), ("ListNet", column)) for column in _COLUMNS)
_BINARY_PAIRS = tuple(((_ROWS[3], column), (_ROWS[2], column)) for column in _COLUMNS)

_TABLE_1 = Table(
    name="table-1",
    caption="Test NDCG of ListNet and LambdaMART on graded and binary labels",
    rows=_ROWS,
    columns=_COLUMNS,
    entries=tuple(
        Entry(
            row=row,
            column=column,
            method=_method(row),
            metric=column.lower(),
            label_map=_BINARY if row.endswith("binary labels") else {},
        )
        for row in _ROWS
        for column in _COLUMNS
    ),
    protocol=Protocol(
        trees=500,
        quick_trees=150,
        early_stopping=30,
        selection="ndcg@5",
        metrics=("ndcg@5", "ndcg@10"),
        contract="default",
        description="At most 500 trees, early stopping after 30 by validation NDCG@5; queries without a"
        " relevant document are left out.",
    ),
    printed={
        "MSLR-WEB30K": _printed(
            {
                _ROWS[0]: (46.72, 0.08, 48.98, 0.09),
                _ROWS[1]: (49.20, 0.07, 51.05, 0.02),
                _ROWS[2]: (75.83, 0.07, 73.89, 0.08),
                _ROWS[3]: (78.16, 0.08, 75.60, 0.09),
            }
        ),
        "Yahoo set 1": _printed(
            {
                _ROWS[0]: (72.90, 0.05, 77.49, 0.05),
                _ROWS[1]: (74.16, 0.14, 78.40, 0.10),
                _ROWS[2]: (89.95, 0.07, 90.80, 0.05),
                _ROWS[3]: (90.56, 0.07, 91.21, 0.07),
            }
        ),
    },
    significance=Significance(
        test="intervals",
        levels={"*": 0.05},
        reference={_ROWS[1]: _ROWS[0], _ROWS[3]: _ROWS[2]},
        description="The paper shows 95% intervals over five trials; marks are of Fisher's test at .05 over"
        " queries.",
    ),
    claims=(
        Claim(
            name="lambdamart-above-listnet",
            statement="LambdaMART is above ListNet, on graded and on binary labels.",
            source="section 4, table 1",
            rule=Above((*_GRADED_PAIRS, *_BINARY_PAIRS)),
        ),
        Claim(
            name="gap-narrower-on-binary-labels",
            statement="The relative gap at NDCG@5 is narrower on binary labels.",
            source="section 4, table 1",
            rule=Narrower(narrow=_BINARY_PAIRS[0], wide=_GRADED_PAIRS[0]),
        ),
        Claim(
            name="gap-narrower-on-binary-labels-at-10",
            statement="The relative gap at NDCG@10 is narrower on binary labels.",
            source="section 4, table 1",
            rule=Narrower(narrow=_BINARY_PAIRS[1], wide=_GRADED_PAIRS[1]),
        ),
    ),
    deviations=(
        "One training instead of five trials, since without sampling the seed has no effect. Intervals are"
        " over queries.",
    ),
)

PAPER = Paper(
    name="softmax-cross-entropy-2019",
    title="An Analysis of the Softmax Cross Entropy Loss for Learning-to-Rank with Binary Relevance",
    authors="Bruch, Wang, Bendersky and Najork",
    year=2019,
    tables=(_TABLE_1,),
    corpora=("MSLR-WEB30K", "Yahoo set 1"),
    printed_corpus_by_source={},
    data="synthetic",
    sizes=SIZES,
)
