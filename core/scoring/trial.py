"""Trial of an imported model, which must load and have the same scores as in LightGBM.

LightGBM does not validate a text, and may crash or hang on an invalid one. The trial therefore runs in a
separate process with limits, see `core.scorers.trial`.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from core.errors import ModelError
from core.scoring.categories import listed_categories
from core.scoring.contributions import Explainability, TreeExplainer
from core.scoring.forest import Forest
from core.scoring.limits import MAX_STEPS
from core.scoring.model_text import ModelText
from core.types import Float64Array

MAX_NAME_CHARACTERS = 1_000
MAX_ROWS = 1_000
MIN_ROWS = 32
MAX_CELLS = 2**22
# The finite values fit in an int32, to which LightGBM converts categories.
EXTREME_VALUES = (0.0, -0.0, 1e-36, -1e-36, 1.0, -1.0, 1e9, -1e9, np.nan, np.inf, -np.inf)
EXTREME_SHARE = 0.3
_CATEGORIES = 32
_MAX_MESSAGE_LENGTH = 300
_MAX_EXPLAINED = 16  # documents


@dataclass(frozen=True)
class Trial:
    """Properties of an imported model that passed the trial.

    Attributes:
        n_rows: Number of random documents that Rankery and LightGBM scored equally.
        explainability: Whether the model's scores can be explained; the trial explains some scores unless
            that takes too long.
        has_unassigned_categories: Whether the text has lists of categories of unknown columns.
    """

    feature_names: tuple[str, ...]
    n_trees: int
    n_rows: int
    explainability: Explainability
    has_unassigned_categories: bool


def try_out(text: str, max_features: int) -> Trial:
    """Compare the scores of a model text with LightGBM's on random documents, bit for bit; explain some.

    Raises:
        ModelError: The model cannot be used.
    """
    import lightgbm  # on first use: the import takes a second and 100 MB

    model = ModelText.read(text)
    check_names(model.feature_names, max_features)
    rows = trial_rows(model)
    ours = Forest(model).score(rows)
    try:
        booster = lightgbm.Booster(model_str=text)
        theirs = np.asarray(booster.predict(rows, raw_score=True, num_threads=1), np.float64)
    except lightgbm.basic.LightGBMError as error:
        raise ModelError(f"LightGBM refuses the model: {str(error)[:_MAX_MESSAGE_LENGTH]}") from error
    if not np.array_equal(ours, theirs, equal_nan=True):
        raise ModelError(
            f"the scores of Rankery and LightGBM differ on {_differing(ours, theirs)} of {len(rows)} random"
            " documents: Rankery does not support a part of the model"
        )
    explainability = Explainability.of(model)
    explain_some(explainability, rows, lambda chosen: TreeExplainer(model).explain(chosen))
    is_unassigned = not model.categories and bool(listed_categories(text))
    return Trial(model.feature_names, len(model.trees), len(rows), explainability, is_unassigned)


def trial_rows(model: ModelText) -> Float64Array:
    """Draw documents that reach many branches of a model; equal models get equal documents.

    Returns:
        (n_rows, n_features) values around the thresholds of the trees, small whole numbers for
        categories, zeros, infinities and NaN; fewer rows the more features there are.
    """
    generator = np.random.default_rng(0)
    n_features = len(model.feature_names)
    n_rows = int(np.clip(MAX_CELLS // n_features, MIN_ROWS, MAX_ROWS))
    rows = generator.normal(size=(n_rows, n_features))
    whole = generator.random(rows.shape) < 0.5
    rows[whole] = generator.integers(_CATEGORIES, size=np.count_nonzero(whole))
    for tree in model.trees:
        near = np.stack([tree.thresholds, np.nextafter(tree.thresholds, np.inf)])
        side = generator.integers(2, size=len(tree.features))
        rows[generator.integers(n_rows, size=len(tree.features)), tree.features] = near[
            side, np.arange(len(tree.features))
        ]
    extreme = generator.random(rows.shape) < EXTREME_SHARE
    rows[extreme] = generator.choice(EXTREME_VALUES, size=np.count_nonzero(extreme))
    return rows


def explain_some(
    explainability: Explainability, rows: Float64Array, explain: Callable[[Float64Array], object]
) -> None:
    """Call `explain` with up to 16 of the documents, as many as `MAX_STEPS` allows."""
    affordable = min(MAX_STEPS // explainability.steps, _MAX_EXPLAINED)
    if explainability.problem is None and affordable:
        explain(rows[:affordable])


def check_names(names: tuple[str, ...], max_features: int) -> None:
    """Refuse invalid feature names.

    Raises:
        ModelError: Too many names, duplicate names, or a name that is not printable or too long.
    """
    if len(names) > max_features:
        raise ModelError(f"the model has {len(names):,} features; the maximum is {max_features:,}")
    if len(set(names)) < len(names):
        raise ModelError("two of the model's features have the same name")
    if any(not 1 <= len(name) <= MAX_NAME_CHARACTERS or not name.isprintable() for name in names):
        raise ModelError(f"a feature's name must have 1 to {MAX_NAME_CHARACTERS:,} printable characters")


def _differing(ours: Float64Array, theirs: Float64Array) -> str:
    if ours.shape != theirs.shape:
        return "all"
    return str(np.count_nonzero((ours != theirs) & ~(np.isnan(ours) & np.isnan(theirs))))
