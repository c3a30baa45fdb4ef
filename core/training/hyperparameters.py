"""LightGBM's hyperparameters under their own names, each with its bounds."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

from core.errors import InputProblem, InvalidInput
from core.parameters import GroupsOfNames, NumberByName, WholeByName, check, parameter, values_of

# Hyperparameters that the boosting loop implements itself or passes to LightGBM in another form.
_NOT_FOR_LIGHTGBM = frozenset(
    {
        "num_iterations",
        "query_fraction",
        "data_sample_strategy",
        "top_rate",
        "other_rate",
        "use_quantized_grad",
        "num_grad_quant_bins",
        "quant_train_renew_leaf",
        "stochastic_rounding",
        "monotone_constraints",
        "interaction_constraints",
        "feature_contri",
    }
)


# LightGBM parameters that a job sets in another field, by that field.
_ELSEWHERE = {
    "loss of the job": ("objective", "objective_type", "app", "application"),
    "truncation_level of the loss": ("lambdarank_truncation_level",),
    "normalization of the loss": ("lambdarank_norm",),
    "gain of the loss": ("label_gain",),
    "sigma of the loss": ("sigmoid",),
    "metrics of the job": ("metric", "metrics", "metric_types", "eval_metric", "eval_at", "ndcg_at"),
    "metric_interval of the job": ("metric_freq", "output_freq"),
    "early_stopping of the job": ("early_stopping_round", "early_stopping_rounds", "n_iter_no_change"),
    "categorical_feature of the job": (
        "categorical_feature",
        "cat_feature",
        "categorical_column",
        "cat_column",
        "categorical_features",
    ),
    "seed of the job": ("seed", "random_seed", "random_state", "bagging_seed", "feature_fraction_seed"),
}


@dataclass(frozen=True)
class Hyperparameters:
    """Hyperparameters of trees. Names and meanings are LightGBM's, except for `query_fraction`."""

    ELSEWHERE: ClassVar[Mapping[str, str]] = MappingProxyType(
        {name: field for field, names in _ELSEWHERE.items() for name in names}
    )

    num_iterations: int = parameter(
        100,
        "Maximum number of trees.",
        minimum=1,
        maximum=100_000,
        aliases="num_iteration n_iter num_tree num_trees num_round num_rounds nrounds num_boost_round"
        " n_estimators max_iter",
    )
    learning_rate: float = parameter(
        0.1,
        "Shrinkage factor of each tree.",
        minimum=0.0,
        above=True,
        maximum=10.0,
        aliases="shrinkage_rate eta",
    )
    num_leaves: int = parameter(
        31,
        "Maximum number of leaves of a tree.",
        minimum=2,
        maximum=131_072,
        aliases="num_leaf max_leaves max_leaf max_leaf_nodes",
    )
    max_depth: int = parameter(-1, "Maximum depth of a tree; -1 for no limit.", minimum=-1, maximum=1_000)
    min_data_in_leaf: int = parameter(
        20,
        "Minimum number of documents in a leaf. LightGBM estimates the number from hessians, so that some"
        " leaves have fewer.",
        minimum=0,
        maximum=10_000_000,
        aliases="min_data_per_leaf min_data min_child_samples min_samples_leaf",
    )
    min_sum_hessian_in_leaf: float = parameter(
        1e-3,
        "Minimum sum of hessians in a leaf.",
        minimum=0.0,
        maximum=1e9,
        aliases="min_sum_hessian_per_leaf min_sum_hessian min_hessian min_child_weight",
    )
    bagging_fraction: float = parameter(
        1.0,
        "Share of documents sampled for a tree, if bagging_freq > 0.",
        minimum=0.0,
        above=True,
        maximum=1.0,
        aliases="sub_row subsample bagging",
    )
    bagging_freq: int = parameter(
        0,
        "Number of iterations between two samplings of documents; 0 for no sampling.",
        minimum=0,
        maximum=100_000,
        aliases="subsample_freq",
    )
    query_fraction: float = parameter(
        1.0,
        "Share of queries sampled for each tree. Documents of the other queries have no gradient, but count"
        " in a leaf.",
        minimum=0.0,
        above=True,
        maximum=1.0,
    )
    feature_fraction: float = parameter(
        1.0,
        "Share of features sampled for a tree.",
        minimum=0.0,
        above=True,
        maximum=1.0,
        aliases="sub_feature colsample_bytree",
    )
    feature_fraction_bynode: float = parameter(
        1.0,
        "Share of features sampled for a split.",
        minimum=0.0,
        above=True,
        maximum=1.0,
        aliases="sub_feature_bynode colsample_bynode",
    )
    extra_trees: bool = parameter(
        False, "Try one random threshold per feature instead of all thresholds.", aliases="extra_tree"
    )
    lambda_l1: float = parameter(
        0.0, "L1 penalty on leaf values.", minimum=0.0, maximum=1e9, aliases="reg_alpha l1_regularization"
    )
    lambda_l2: float = parameter(
        0.0,
        "L2 penalty on leaf values.",
        minimum=0.0,
        maximum=1e9,
        aliases="reg_lambda lambda l2_regularization",
    )
    min_gain_to_split: float = parameter(
        0.0, "Minimum gain of a split.", minimum=0.0, maximum=1e9, aliases="min_split_gain"
    )
    max_delta_step: float = parameter(
        0.0,
        "Maximum leaf value before shrinkage; 0 for no limit.",
        minimum=0.0,
        maximum=1e9,
        aliases="max_tree_output max_leaf_output",
    )
    path_smooth: float = parameter(
        0.0, "Smoothing of a leaf towards its parent; needs min_data_in_leaf >= 2.", minimum=0.0, maximum=1e9
    )
    data_sample_strategy: str = parameter(
        "bagging",
        "Sampling of documents: bagging by bagging_fraction, or goss by gradients.",
        choices=("bagging", "goss"),
    )
    top_rate: float = parameter(
        0.2,
        "goss: share of documents with the largest gradients to keep.",
        minimum=0.0,
        above=True,
        maximum=1.0,
    )
    other_rate: float = parameter(
        0.1, "goss: share of documents sampled from the rest.", minimum=0.0, above=True, maximum=1.0
    )
    boosting: str = parameter(
        "gbdt",
        "Boosting algorithm: gbdt, or dart, which drops random earlier trees in each iteration.",
        choices=("gbdt", "dart"),
        aliases="boosting_type boost",
    )
    drop_rate: float = parameter(
        0.1, "dart: share of earlier trees to drop.", minimum=0.0, maximum=1.0, aliases="rate_drop"
    )
    max_drop: int = parameter(
        50,
        "dart: maximum number of trees to drop per iteration; 0 or less for no limit.",
        minimum=-1,
        maximum=100_000,
    )
    skip_drop: float = parameter(
        0.5, "dart: probability of an iteration without dropped trees.", minimum=0.0, maximum=1.0
    )
    uniform_drop: bool = parameter(False, "dart: drop trees with equal probability instead of by weight.")
    xgboost_dart_mode: bool = parameter(False, "dart: rescale trees as XGBoost does.")
    linear_tree: bool = parameter(
        False,
        "Fit a linear model in each leaf, with a single thread; this doubles the memory of features.",
        aliases="linear_trees",
    )
    linear_lambda: float = parameter(
        0.0, "linear_tree: L2 penalty on the coefficients.", minimum=0.0, maximum=1e9
    )
    use_quantized_grad: bool = parameter(
        False, "Grow trees on gradients of a few bits: faster, with slightly other splits."
    )
    num_grad_quant_bins: int = parameter(
        4, "use_quantized_grad: number of levels of a gradient.", minimum=2, maximum=127
    )
    quant_train_renew_leaf: bool = parameter(
        False,
        "use_quantized_grad: compute leaf values from exact gradients; needs stochastic_rounding off. Leaf"
        " values ignore monotone_constraints, path_smooth and cat_l2.",
    )
    stochastic_rounding: bool = parameter(
        True, "use_quantized_grad: round gradients up or down at random, so that sums are unbiased."
    )
    monotone_constraints: WholeByName | None = parameter(
        None,
        "Constraint by feature name: 1 for scores that do not decrease with the feature, -1 for scores that"
        " do not increase, 0 for none.",
        minimum=-1,
        maximum=1,
        aliases="mc monotone_constraint monotonic_cst",
    )
    monotone_constraints_method: str = parameter(
        "basic",
        "Method for monotone_constraints: basic satisfies all constraints; the others fit better, but"
        " violate some.",
        choices=("basic", "intermediate", "advanced"),
        aliases="monotone_constraining_method mc_method",
    )
    monotone_penalty: float = parameter(
        0.0,
        "Penalty on splits of constrained features near the root; a penalty of x forbids them in the top x"
        " levels.",
        minimum=0.0,
        maximum=1_000.0,
        aliases="monotone_splits_penalty ms_penalty mc_penalty",
    )
    interaction_constraints: GroupsOfNames | None = parameter(
        None,
        "Groups of feature names: a branch uses features of one group only; features outside all groups"
        " are not used.",
    )
    feature_contri: NumberByName | None = parameter(
        None,
        "Factors of split gains by feature name; 1 for other features.",
        minimum=0.0,
        maximum=1e9,
        aliases="feature_contrib fc fp feature_penalty",
    )
    max_bin: int = parameter(
        255, "Maximum number of bins of a feature.", minimum=2, maximum=65_535, aliases="max_bins"
    )
    min_data_in_bin: int = parameter(3, "Minimum number of documents in a bin.", minimum=1, maximum=1_000_000)
    cat_smooth: float = parameter(
        10.0,
        "Smoothing of categories: added to the hessian when categories are ordered by gradient / hessian.",
        minimum=0.0,
        maximum=1e9,
    )
    cat_l2: float = parameter(
        10.0,
        "L2 penalty of splits by sets of categories, in addition to lambda_l2.",
        minimum=0.0,
        maximum=1e9,
    )
    max_cat_threshold: int = parameter(
        32, "Maximum number of categories on the smaller side of a split.", minimum=1, maximum=65_535
    )
    max_cat_to_onehot: int = parameter(
        4, "Maximum number of categories of a feature for one-versus-rest splits.", minimum=1, maximum=65_535
    )
    min_data_per_group: int = parameter(
        100,
        "Minimum number of documents of a category, or of a group of categories.",
        minimum=1,
        maximum=10_000_000,
    )

    def __post_init__(self) -> None:
        check(self)
        if problems := [InputProblem(*problem) for problem in self._impossible_combinations()]:
            raise InvalidInput(*problems)

    def _impossible_combinations(self) -> Iterator[tuple[str, str]]:
        """Yield pointers to incompatible values, some of which LightGBM would ignore, with the reasons."""
        if self.monotone_constraints_method != "basic" and self.feature_fraction_bynode < 1.0:
            yield "/monotone_constraints_method", "must be basic if feature_fraction_bynode is below 1"
        if self.data_sample_strategy == "goss":
            if self.bagging_freq > 0 and self.bagging_fraction < 1.0:
                yield (
                    "/data_sample_strategy",
                    "goss replaces bagging; leave out bagging_freq or bagging_fraction",
                )
            if self.top_rate + self.other_rate > 1.0:
                yield "/other_rate", "must be at most 1 in sum with top_rate"
        if self.use_quantized_grad and self.quant_train_renew_leaf and self.stochastic_rounding:
            yield (
                "/quant_train_renew_leaf",
                (
                    "needs stochastic_rounding false: Rankery rounds gradients before LightGBM, so that exact"
                    " gradients are not available for leaf values"
                ),
            )
        if self.linear_tree and self.use_quantized_grad:
            yield "/linear_tree", "fits exact gradients; leave out use_quantized_grad"
        if self.linear_tree and self.monotone_constraints:
            yield (
                "/linear_tree",
                "does not satisfy monotone_constraints within leaves; leave out one of the two",
            )

    @property
    def is_resumable(self) -> bool:
        """Return whether an interrupted training can resume to the same bytes.

        `dart` cannot: LightGBM never drops a tree of an earlier booster and does not expose tree weights.
        """
        return self.boosting != "dart"

    @property
    def is_random(self) -> bool:
        """Return whether anything about the trees is drawn at random."""
        draws_documents = self.bagging_freq > 0 and self.bagging_fraction < 1.0
        draws_documents |= self.query_fraction < 1.0 or self.data_sample_strategy == "goss"
        draws_features = self.feature_fraction < 1.0 or self.feature_fraction_bynode < 1.0
        drops_trees = self.boosting == "dart" and self.drop_rate > 0.0 and self.skip_drop < 1.0
        rounds = self.use_quantized_grad and self.stochastic_rounding
        return draws_documents or draws_features or self.extra_trees or drops_trees or rounds

    def binning(self) -> dict[str, Any]:
        """Return all parameters that determine the bins of features.

        LightGBM's sample of documents does not depend on the training's seed, so that trainings can share
        bins.
        """
        return {
            "max_bin": self.max_bin,
            "min_data_in_bin": self.min_data_in_bin,
            "bin_construct_sample_cnt": 200_000,
            "data_random_seed": 1,
            "feature_pre_filter": False,
            "linear_tree": self.linear_tree,
        }

    def lightgbm(self, seed: int, threads: int) -> dict[str, Any]:
        """Return the parameters for LightGBM that make training repeatable on any number of threads.

        Parameters by feature name are left out; `core.training.by_feature` returns them by column. Several
        threads would split the sums of row-wise histograms, which are therefore turned off, and those of
        linear leaves, which therefore get one thread. Each column-wise histogram is summed by one thread.
        """
        return {
            **{name: value for name, value in values_of(self).items() if name not in _NOT_FOR_LIGHTGBM},
            "objective": "none",
            "metric": "none",
            "boost_from_average": False,
            "seed": seed,
            "num_threads": 1 if self.linear_tree else threads,
            "deterministic": True,
            "force_col_wise": True,
            "verbosity": -1,
            **self._quantisation(),
            **self.binning(),
        }

    def _quantisation(self) -> dict[str, Any]:
        if not self.use_quantized_grad:
            return {}
        # LightGBM's stochastic rounding draws per thread and once for all trees; `TreeDerivatives` rounds
        # instead.
        return {
            "use_quantized_grad": True,
            "num_grad_quant_bins": self.num_grad_quant_bins,
            "quant_train_renew_leaf": self.quant_train_renew_leaf,
            "stochastic_rounding": False,
        }
