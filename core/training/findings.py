"""Findings on trainings, apart from those on their data."""

from collections.abc import Iterator
from dataclasses import dataclass

from core.doctor.report import Finding
from core.names import query_count
from core.training.automatic import AutomaticChoice
from core.training.spec import TrainingSpec
from core.training.weights import FittedWeights

MIN_IMPROVEMENTS = 5  # an early end after fewer iterations of improvement is suspicious


@dataclass(frozen=True)
class Growth:
    """The number of trees of a training, and the reason of its end.

    Attributes:
        trees: Number of kept trees.
        single_leaf_trees: Number of kept trees with one leaf, which score all documents equally.
        end_reason: The reason why no more trees were kept, or why the first one has a single leaf, as a
            sentence without a full stop.
        mean_hessian_sum: Mean over queries of the sum of the hessians of a query's documents, before the
            first tree.
        is_exhausted: Whether no further tree could be grown, so that not the validation data chose the end.
    """

    trees: int
    single_leaf_trees: int
    iterations: int
    end_reason: str
    mean_hessian_sum: float
    queries: int
    is_exhausted: bool


def growth_finding(growth: Growth) -> Finding:
    """Report single-leaf trees, or a training that ended after very few iterations of improvement."""
    advice = (
        f"The initial sum of hessians is {growth.mean_hessian_sum:.3g} per query and"
        f" {growth.mean_hessian_sum * growth.queries:.3g} in total; min_sum_hessian_in_leaf is the minimum"
        " of this sum in each leaf."
    )
    if growth.single_leaf_trees:
        count, code = growth.single_leaf_trees, "single-leaf-trees"
        title = "A tree has one leaf" if count == 1 else f"{count:,} trees have one leaf"
    else:
        count, code = growth.trees, "early-end"
        title = f"Only {count:,} of {growth.iterations:,} iterations improved the model"
        if not growth.is_exhausted:
            advice = (
                "Later trees fit the training queries only: take a smaller learning_rate or fewer leaves."
                " With few validation queries the choice is also partly chance."
            )
    return Finding(
        code=code,
        severity="warning",
        title=f"{title}: {growth.end_reason}",
        advice=advice,
        count=count,
        total=growth.trees if growth.single_leaf_trees else growth.iterations,
        unit="trees" if growth.single_leaf_trees else "iterations",
    )


def weights_finding(fitted: FittedWeights) -> Finding:
    """Report how far the fitted weights of a sum of models were shrunk towards equal weights.

    Example:
        >>> weights_finding(FittedWeights((0.5, 0.5), 1.0, 30)).title
        'The weights are equal: fitted weights are not significantly better on 30 validation queries'
    """
    queries = query_count(fitted.queries, "validation")
    share = f"{1.0 - fitted.equal_share:.0%} fitted and {fitted.equal_share:.0%} equal ones"
    title = f"The weights are {share}: the best mixture by cross-validation on {queries}"
    if fitted.equal_share == 1.0:
        title = f"The weights are equal: fitted weights are not significantly better on {queries}"
    return Finding(
        code="shrunk-weights",
        severity="info",
        title=title,
        advice="Equal weights apply to scores divided by their standard deviation within queries. With few"
        " queries, fitted weights overfit; use more validation queries to detect smaller differences.",
        count=fitted.queries,
        total=fitted.queries,
        unit="queries",
    )


def automatic_findings(automatic: AutomaticChoice | None) -> Iterator[Finding]:
    """Report the hyperparameters chosen by the size of the dataset.

    Example:
        >>> from core.training.automatic import DatasetSize
        >>> choice = AutomaticChoice(DatasetSize(201, 3_005, 300), {"num_leaves": 7, "learning_rate": 0.05})
        >>> [finding.title for finding in automatic_findings(choice)]
        ['Chosen for 201 queries, 3,005 documents and 300 features: num_leaves 7, learning_rate 0.05']
    """
    if automatic is None or not automatic.chosen:
        return
    size = automatic.size
    values = ", ".join(f"{name} {value:g}" for name, value in automatic.chosen.items())
    yield Finding(
        code="automatic-hyperparameters",
        severity="info",
        title=f"Chosen for {size.queries:,} queries, {size.documents:,} documents and {size.features:,}"
        f" features: {values}",
        advice="These values are a rule of thumb for datasets of this size. A grid or a study may find better"
        " values.",
        count=len(automatic.chosen),
        total=len(automatic.chosen),
        unit="hyperparameters",
    )


def resumption_findings(spec: TrainingSpec) -> Iterator[Finding]:
    """Report a training that cannot resume after an interruption.

    Example:
        >>> from core.training import training_spec
        >>> requested = {"loss": {"name": "mse"}, "hyperparameters": {"boosting": "dart"}}
        >>> [finding.code for finding in resumption_findings(training_spec(requested))]
        ['no-checkpoints']
    """
    if spec.is_resumable:
        return
    yield Finding(
        code="no-checkpoints",
        severity="info",
        title="boosting dart cannot resume: an interrupted attempt starts again from the first tree",
        advice="LightGBM cannot drop trees of an earlier process. The resulting model is identical. boosting"
        " gbdt resumes from the last checkpoint.",
        count=0,
        total=0,
        unit="checkpoints",
    )


def seed_findings(spec: TrainingSpec, *, parts_are_random: bool) -> Iterator[Finding]:
    """Report a seed without effect.

    Args:
        parts_are_random: Whether queries are drawn for validation or test.

    Example:
        >>> from core.training import training_spec
        >>> [finding] = seed_findings(training_spec({"loss": {"name": "mse"}}), parts_are_random=False)
        >>> finding.code
        'seed-without-effect'
    """
    if spec.is_random or parts_are_random or not spec.trains_scorer:
        return
    yield Finding(
        code="seed-without-effect",
        severity="info",
        title=f"The seed, {spec.seed}, has no effect: every seed results in the same trees",
        advice="The training has no random choices: the loss is deterministic, each tree uses all queries and"
        " features, and no queries are held out at random. To measure the variance of a metric, repeat"
        " the training on bootstrap samples of the queries: rankery train --repeats, or bootstrap with"
        " several seeds.",
        count=0,
        total=0,
        unit="random choices",
    )
