"""Convert hyperparameters by feature name to LightGBM's parameters by column."""

from collections.abc import Container, Sequence
from typing import Any

from core.data.feature_choice import unknown_features
from core.errors import InputProblem, InvalidInput
from core.training.hyperparameters import Hyperparameters


def by_column(
    hyperparameters: Hyperparameters, feature_names: Sequence[str], categorical: Container[str] = ()
) -> dict[str, Any]:
    """Return LightGBM's parameters for the hyperparameters by feature name.

    Args:
        feature_names: Names of the columns of the dataset.
        categorical: Names of the categorical features, whose values have no order.

    Raises:
        InvalidInput: At `/hyperparameters/…`, for unknown features and monotone constraints on categories.

    Example:
        >>> by_column(Hyperparameters(monotone_constraints={"bm25": 1}), ["pagerank", "bm25"])
        {'monotone_constraints': [0, 1]}
    """
    monotone, groups, factors = (
        hyperparameters.monotone_constraints,
        hyperparameters.interaction_constraints,
        hyperparameters.feature_contri,
    )
    features = {
        "monotone_constraints": monotone or (),
        "interaction_constraints": [name for group in groups or () for name in group],
        "feature_contri": factors or (),
    }
    problems = [
        InputProblem(f"/hyperparameters/{parameter}", problem)
        for parameter, names in features.items()
        for problem in unknown_features(names, feature_names).values()
    ]
    problems += [
        InputProblem(
            "/hyperparameters/monotone_constraints", f"{name!r} is a categorical feature, which has no order"
        )
        for name, direction in (monotone or {}).items()
        if direction and name in categorical
    ]
    if problems:
        raise InvalidInput(*problems)
    parameters: dict[str, Any] = {}
    if monotone and any(monotone.values()):
        parameters["monotone_constraints"] = [monotone.get(name, 0) for name in feature_names]
    if groups:
        column_of = {name: column for column, name in enumerate(feature_names)}
        parameters["interaction_constraints"] = [[column_of[name] for name in group] for group in groups]
    if factors:
        parameters["feature_contri"] = [factors.get(name, 1.0) for name in feature_names]
    return parameters
