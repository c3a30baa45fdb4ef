"""Wang, Li, Golbandi, Bendersky and Najork 2018, The LambdaLoss Framework."""

from collections.abc import Mapping
from typing import Any

from core.experiments.paper import (
    SIZES,
    Claim,
    Entry,
    Method,
    Paper,
    Part,
    Protocol,
    Significance,
    Table,
    printed_rows,
    transpose,
)
from core.experiments.rules import Above, Rises

CORPORA = ("Yahoo set 1", "MSLR-WEB10K", "MSLR-WEB30K")
_K = 5
_PARTS: tuple[Part, ...] = ("train", "validation", "test")
_MUS = (0.1, 0.5, 1.0, 5.0, 10.0)
_CUTOFFS = (1, 3, 5, 10)

_LOSSES: Mapping[str, Mapping[str, Any]] = {
    "LambdaMART": {"name": "lambdarank"},
    "ARP-Loss1": {"name": "arp-loss1"},
    "ARP-Loss2": {"name": "arp-loss2"},
    "NDCG-Loss1": {"name": "ndcg-loss1"},
    "NDCG-Loss2": {"name": "ndcg-loss2"},
    "NDCG-Loss2++": {"name": "ndcg-loss2++", "mu": 5.0},
}
_METRIC_DRIVEN = ("LambdaMART", "NDCG-Loss2", "NDCG-Loss2++")

# LightGBM of 2018: weights divided by the gap of scores, σ = 2, hessian doubled.
_LIGHTGBM_2018 = {"normalization": "score-gap", "sigma": 2.0, "hessian_factor": 2.0}
_MAX_POSITION = 20  # truncation of maxDCG, LightGBM's default in 2018
_TABLE_2 = {  # leaves, min hessian, min data
    "Yahoo set 1": {"LambdaMART": (200, 10, 100), "NDCG-Loss2": (100, 50, 5), "NDCG-Loss2++": (255, 10, 5)},
    "MSLR-WEB10K": {"LambdaMART": (255, 50, 50), "NDCG-Loss2": (20, 100, 20), "NDCG-Loss2++": (100, 1, 5)},
    "MSLR-WEB30K": {"LambdaMART": (200, 50, 50), "NDCG-Loss2": (50, 100, 50), "NDCG-Loss2++": (255, 50, 20)},
}
# For data other than the three corpora, as the paper does not print its grid.
_GRID = tuple(
    {"num_leaves": leaves, "min_data_in_leaf": documents, "min_sum_hessian_in_leaf": hessian}
    for leaves in (20, 50, 100, 255)
    for documents in (5, 50)
    for hessian in (0.0, 10.0)
)
_QUICK_GRID = (
    {"num_leaves": 7, "min_data_in_leaf": 50, "min_sum_hessian_in_leaf": 0.0},
    {"num_leaves": 31, "min_data_in_leaf": 20, "min_sum_hessian_in_leaf": 0.0},
)
_RANKLIB_DEVIATION = (
    "RankLib's trees are imitated: 10 leaves, rate 0.1, one document per leaf, 256 thresholds; splits and"
    " leaf values are LightGBM's."
)
_LIGHTGBM_DEVIATION = (
    "LightGBM of 2018 is imitated: weights divided by the gap of scores, σ = 2, doubled hessian; LightGBM's"
    " own hessian was p(2 − p)."
)
_RATE = "Learning rate and number of trees are not printed: 0.1 and at most 1,000."


def _ranklib(row: str, k: int = _K, **changes: Any) -> Method:
    return Method(
        name=row,
        loss={**_LOSSES[row], "truncation_level": k, **changes},
        hyperparameters={
            "learning_rate": 0.1,
            "num_leaves": 10,
            "min_data_in_leaf": 1,
            "min_sum_hessian_in_leaf": 1e-3,  # LightGBM estimates counts by hessians and fails at 0
        },
        deviations=(_RANKLIB_DEVIATION,),
    )


def _lightgbm(
    row: str, hyperparameters_of: str | None = None, search: bool = False, **changes: Any
) -> Method:
    loss = {**_LOSSES[row], **_LIGHTGBM_2018, **changes}
    loss |= {"ideal_cutoff": _MAX_POSITION} if row == "LambdaMART" else {"truncation_level": _K}
    tuned = hyperparameters_of or row
    return Method(
        name=row,
        loss=loss,
        hyperparameters={"learning_rate": 0.1},
        by_corpus={corpus: _tuned(*chosen[tuned]) for corpus, chosen in _TABLE_2.items()},
        grid=_GRID if search else (),
        quick=_QUICK_GRID[0],
        quick_grid=_QUICK_GRID if search else (),
        deviations=(_LIGHTGBM_DEVIATION, _RATE),
    )


def _tuned(leaves: int, hessian: float, documents: int) -> dict[str, Any]:
    return {
        "num_leaves": leaves,
        "min_sum_hessian_in_leaf": float(hessian),
        "min_data_in_leaf": documents,
    }


def _protocol(early_stopping: int | None, contract: Any, description: str) -> Protocol:
    return Protocol(
        trees=1_000,
        quick_trees=100,
        early_stopping=early_stopping,
        selection="ndcg@5",
        metrics=tuple(f"ndcg@{k}" for k in _CUTOFFS),
        contract=contract,
        description=description,
    )


_RANKLIB_PROTOCOL = _protocol(
    None,
    {"queries_without_relevant": 0},
    "RankLib: 10 leaves; the number of trees by validation NDCG@5.",
)
_LIGHTGBM_PROTOCOL = _protocol(
    30,
    "lightgbm",
    "LightGBM: hyperparameters by validation NDCG@5, early stopping after 30 trees.",
)
_CONTRACT = (
    "The paper does not print the metric contract: queries without a relevant document count 0 in RankLib, 1"
    " in LightGBM."
)


def _t_test(rows: tuple[str, ...]) -> Significance:
    return Significance(
        test="t-test",
        levels={"*": 0.05},
        reference={row: "LambdaMART" for row in rows if row != "LambdaMART"},
        description="Paired t-test against LambdaMART at .05, two-sided here.",
    )


def _above(rows: tuple[str, ...], column: str = "test", other: str = "LambdaMART") -> Above:
    return Above(tuple(((row, column), (other, column)) for row in rows))


def _printed(rows: Mapping[str, str]) -> dict[str, Any]:
    """Parse rows of numbers for train, validation and test of each corpus, by corpus, row and part."""
    columns = [f"{corpus} {part}" for corpus in CORPORA for part in _PARTS]
    read = printed_rows(columns, rows)
    return {
        corpus: {row: {part: cells[f"{corpus} {part}"] for part in _PARTS} for row, cells in read.items()}
        for corpus in CORPORA
    }


_TABLE_3 = Table(
    name="table-3",
    caption="NDCG@5 in RankLib",
    rows=tuple(_LOSSES),
    columns=_PARTS,
    entries=tuple(
        Entry(row=row, column=part, method=_ranklib(row), metric="ndcg@5", part=part)
        for row in _LOSSES
        for part in _PARTS
    ),
    protocol=_RANKLIB_PROTOCOL,
    printed=_printed(
        {
            "LambdaMART": "72.21 69.07 70.36 44.99 43.40 42.19 45.28 43.81 44.12",
            "ARP-Loss1": "74.11* 69.70* 70.58 47.24* 44.01* 42.88* 47.02* 44.59* 44.69*",
            "ARP-Loss2": "71.74 69.24 70.38 46.06* 43.69 42.70 45.25 43.86 44.13",
            "NDCG-Loss1": "71.45 68.95 70.26 45.49* 43.80 42.56 45.03 43.60 44.04",
            "NDCG-Loss2": "73.07* 69.57* 70.63* 47.33* 43.98* 43.19* 47.35* 44.71* 44.94*",
            "NDCG-Loss2++": "73.65* 69.41* 70.72* 48.58* 44.03* 42.99* 46.89* 44.48* 44.82*",
        }
    ),
    significance=_t_test(tuple(_LOSSES)),
    claims=(
        Claim(
            name="ndcg-loss2-above-lambdamart",
            statement="NDCG-Loss2 and NDCG-Loss2++ are above LambdaMART on all three parts of the data.",
            source="section 7.1, table 3",
            rule=Above(
                tuple(
                    ((row, part), ("LambdaMART", part))
                    for row in ("NDCG-Loss2", "NDCG-Loss2++")
                    for part in _PARTS
                )
            ),
        ),
        Claim(
            name="ndcg-loss2-above-ndcg-loss1",
            statement="NDCG-Loss2 is above NDCG-Loss1, because its bound is tighter.",
            source="section 7.1, table 3",
            rule=_above(("NDCG-Loss2",), other="NDCG-Loss1"),
        ),
        Claim(
            name="ndcg-loss2-above-arp",
            statement="NDCG-Loss2 is above ARP-Loss1 and ARP-Loss2.",
            source="section 7.1, table 3",
            rule=Above(tuple((("NDCG-Loss2", "test"), (row, "test")) for row in ("ARP-Loss1", "ARP-Loss2"))),
        ),
    ),
    deviations=(_CONTRACT,),
)

_TABLE_4 = Table(
    name="table-4",
    caption="NDCG@5 in LightGBM",
    rows=_METRIC_DRIVEN,
    columns=_PARTS,
    entries=tuple(
        Entry(row=row, column=part, method=_lightgbm(row, search=True), metric="ndcg@5", part=part)
        for row in _METRIC_DRIVEN
        for part in _PARTS
    ),
    protocol=_LIGHTGBM_PROTOCOL,
    printed=_printed(
        {
            "LambdaMART": "91.84 74.93 75.40 70.24 49.05 49.00 64.23 50.23 50.74",
            "NDCG-Loss2": "77.96 73.77 74.78 54.75 49.40 49.22 52.60 49.82 50.08",
            "NDCG-Loss2++": "92.82* 75.00* 75.70* 62.75 49.03 49.25 66.78* 50.97* 51.21*",
        }
    ),
    significance=_t_test(_METRIC_DRIVEN),
    claims=(
        Claim(
            name="ndcg-loss2-plus-plus-above-lambdamart",
            statement="NDCG-Loss2++ is above LambdaMART on test data.",
            source="section 7.1, table 4",
            rule=_above(("NDCG-Loss2++",)),
        ),
    ),
    deviations=(_CONTRACT,),
)

_TABLE_5 = Table(
    name="table-5",
    caption="Training NDCG@5 in LightGBM, both with the hyperparameters of LambdaMART",
    rows=("LambdaMART", "NDCG-Loss2"),
    columns=("train",),
    entries=tuple(
        Entry(row=row, column="train", method=_lightgbm(row, "LambdaMART"), metric="ndcg@5", part="train")
        for row in ("LambdaMART", "NDCG-Loss2")
    ),
    protocol=_LIGHTGBM_PROTOCOL,
    printed={
        corpus: {row: {"train": number} for row, number in numbers.items()}
        for corpus, numbers in transpose(
            printed_rows(CORPORA, {"LambdaMART": "91.84 70.24 64.23", "NDCG-Loss2": "92.62 88.09 98.74"})
        ).items()
    },
    significance=_t_test(("LambdaMART", "NDCG-Loss2")),
    claims=(
        Claim(
            name="ndcg-loss2-overfits",
            statement="With the same hyperparameters, NDCG-Loss2 fits the training data better than"
            " LambdaMART.",
            source="section 7.1, table 5",
            rule=_above(("NDCG-Loss2",), "train"),
        ),
    ),
    deviations=(_CONTRACT,),
)

_FIGURE_3 = Table(
    name="figure-3",
    caption="Test NDCG@5 of NDCG-Loss2++ by μ",
    rows=("RankLib", "LightGBM"),
    columns=tuple(f"μ={mu:g}" for mu in _MUS),
    entries=tuple(
        Entry(row=row, column=f"μ={mu:g}", method=make("NDCG-Loss2++", mu=mu), metric="ndcg@5")
        for row, make in (("RankLib", _ranklib), ("LightGBM", _lightgbm))
        for mu in _MUS
    ),
    protocol=_LIGHTGBM_PROTOCOL,
    claims=(
        Claim(
            name="larger-mu-is-better",
            statement="NDCG-Loss2++ is better with μ = 10 than with μ = 0.1, in both implementations.",
            source="section 7.2.1, figure 3",
            rule=Above(tuple(((row, "μ=10"), (row, "μ=0.1")) for row in ("RankLib", "LightGBM"))),
        ),
    ),
    deviations=(_CONTRACT, "RankLib's rows also use early stopping and LightGBM's contract here."),
)

_FIGURE_4 = Table(
    name="figure-4",
    caption="Test NDCG@k by k in RankLib, losses truncated at k",
    rows=_METRIC_DRIVEN,
    columns=tuple(f"NDCG@{k}" for k in _CUTOFFS),
    entries=tuple(
        Entry(
            row=row,
            column=f"NDCG@{k}",
            method=_ranklib(row, k),
            metric=f"ndcg@{k}",
            selection=f"ndcg@{k}",
        )
        for row in _METRIC_DRIVEN
        for k in _CUTOFFS
    ),
    protocol=_RANKLIB_PROTOCOL,
    significance=_t_test(_METRIC_DRIVEN),
    claims=(
        Claim(
            name="above-lambdamart-at-every-k",
            statement="NDCG-Loss2 and NDCG-Loss2++ are above LambdaMART at k = 1, 3, 5 and 10.",
            source="section 7.2.2, figure 4",
            rule=Above(
                tuple(
                    ((row, f"NDCG@{k}"), ("LambdaMART", f"NDCG@{k}"))
                    for row in ("NDCG-Loss2", "NDCG-Loss2++")
                    for k in _CUTOFFS
                )
            ),
        ),
    ),
    deviations=(_CONTRACT,),
)

_FIGURE_5 = Table(
    name="figure-5",
    caption="Validation NDCG@5 by tree in RankLib",
    rows=_METRIC_DRIVEN,
    columns=("best NDCG@5",),
    entries=tuple(
        Entry(
            row=row,
            column="best NDCG@5",
            method=_ranklib(row),
            metric="validation/ndcg@5",
            measure="best",
        )
        for row in _METRIC_DRIVEN
    ),
    protocol=_RANKLIB_PROTOCOL,
    claims=(
        Claim(
            name="training-converges",
            statement="NDCG@5 of all three rises with the number of trees.",
            source="section 7.2.3, figure 5",
            rule=Rises(tuple((row, "best NDCG@5") for row in _METRIC_DRIVEN)),
        ),
    ),
    deviations=("The paper does not name the data of the curves.",),
)

PAPER = Paper(
    name="lambdaloss-2018",
    title="The LambdaLoss Framework for Ranking Metric Optimization",
    authors="Wang, Li, Golbandi, Bendersky and Najork",
    year=2018,
    tables=(_TABLE_3, _TABLE_4, _TABLE_5, _FIGURE_3, _FIGURE_4, _FIGURE_5),
    corpora=CORPORA,
    printed_corpus_by_source={"synthetic": "MSLR-WEB30K", "sparse": "MSLR-WEB30K", "folder": "MSLR-WEB30K"},
    data="synthetic",
    sizes=SIZES,
)
