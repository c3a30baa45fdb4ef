"""Findings on trees that break monotone constraints or have leaves of too few documents."""

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from core.doctor.report import MAX_EXAMPLES, Finding
from core.names import counted
from core.scorers import ScoringModel, Sum, TreeModel
from core.training.hyperparameters import Hyperparameters
from core.training.monotonicity import Fall, falls

_Parts = list[tuple[ScoringModel, tuple[str, ...]]]


def tree_findings(
    hyperparameters: Hyperparameters, model: ScoringModel, feature_names: tuple[str, ...], base_trees: int = 0
) -> Iterator[Finding]:
    """Report trees that break `monotone_constraints`, and leaves below `min_data_in_leaf`.

    Args:
        model: The trained model: trees, or the sum of a model and of trees on its residuals.
        base_trees: Number of the model's first trees that belong to the initial model.
    """
    parts = _parts(model, feature_names)
    yield from _constraint_findings(hyperparameters, parts, base_trees)
    yield from _leaf_findings(hyperparameters, parts, base_trees)


def _parts(model: ScoringModel, feature_names: tuple[str, ...]) -> _Parts:
    if isinstance(model, Sum):
        return [(member.model, member.feature_names) for member in model.members]
    return [(model, feature_names)]


def _constraint_findings(
    hyperparameters: Hyperparameters, parts: _Parts, base_trees: int
) -> Iterator[Finding]:
    broken: list[tuple[str, Fall]] = []
    n_trees, unchecked = 0, 0
    directions = {name: sign for name, sign in (hyperparameters.monotone_constraints or {}).items() if sign}
    if not directions:
        return
    for model, names in parts:
        if not isinstance(model, TreeModel) or any(tree.linear is not None for tree in model.text.trees):
            unchecked += 1
            continue
        n_trees += len(model.text.trees)
        by_column = {names.index(name): sign for name, sign in directions.items() if name in names}
        broken += [(names[fall.feature], fall) for fall in falls(model.text.trees, by_column)]
    if broken:
        yield _broken_constraints(hyperparameters, broken, n_trees, base_trees)
    if unchecked:
        yield Finding(
            code="monotone-constraints-unchecked",
            severity="warning",
            title="The model in init_model is not checked for monotone_constraints",
            advice="Networks and linear leaves may violate constraints. Train without init_model to satisfy"
            " them.",
            count=unchecked,
            total=len(parts),
            unit="models",
        )


def _broken_constraints(
    hyperparameters: Hyperparameters, broken: list[tuple[str, Fall]], n_trees: int, base_trees: int
) -> Finding:
    name, largest = max(broken, key=lambda each: each[1].size)
    sums: defaultdict[str, float] = defaultdict(float)
    for feature, fall in broken:
        sums[feature] += fall.size
    trees = {fall.tree for _, fall in broken}
    initial_trees = sum(tree < base_trees for tree in trees)
    causes = []
    if initial_trees:
        causes.append(f"{initial_trees:,} of the trees belong to the model in init_model.")
    if hyperparameters.use_quantized_grad and hyperparameters.quant_train_renew_leaf:
        causes.append("Renewed leaf values ignore constraints: leave out quant_train_renew_leaf.")
    elif hyperparameters.monotone_constraints_method != "basic" and initial_trees < len(trees):
        causes.append(
            f"LightGBM's monotone_constraints_method {hyperparameters.monotone_constraints_method} does not"
            " satisfy all constraints; basic does."
        )
    moves = "falls" if (hyperparameters.monotone_constraints or {})[name] > 0 else "rises"
    return Finding(
        code="monotone-constraints-broken",
        severity="warning",
        title=f"{len(trees):,} of {n_trees:,} trees violate monotone_constraints: tree {largest.tree:,}"
        f" {moves} by {largest.size:.3g} where {name} rises past {largest.threshold:.6g}",
        advice=" ".join(
            [*causes, f"Scores change in the wrong direction by at most {max(sums.values()):.3g}."]
        ),
        count=len(trees),
        total=n_trees,
        unit="trees",
        examples=tuple(sorted(sums, key=lambda feature: -sums[feature])[:MAX_EXAMPLES]),
        example_kind="feature",
    )


def _leaf_findings(hyperparameters: Hyperparameters, parts: _Parts, base_trees: int) -> Iterator[Finding]:
    texts = [model.text for model, _ in parts if isinstance(model, TreeModel)]
    trees = [tree for text in texts for tree in text.trees[base_trees:] if len(tree.left)]
    if not trees:
        return
    documents = np.concatenate([tree.leaf_counts for tree in trees])
    small = int((documents < hyperparameters.min_data_in_leaf).sum())
    if small:
        yield Finding(
            code="small-leaves",
            severity="info",
            title=f"The smallest leaf has {counted(int(documents.min()), 'document')}, min_data_in_leaf is"
            f" {hyperparameters.min_data_in_leaf:,}: {small:,} of {len(documents):,} leaves are smaller",
            advice="LightGBM estimates document counts from hessians, so that the bound is approximate unless"
            " all hessians are equal. Increase min_data_in_leaf if leaves are too small.",
            count=small,
            total=len(documents),
            unit="leaves",
        )
