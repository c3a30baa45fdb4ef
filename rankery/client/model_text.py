"""Models of LightGBM as text."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rankery.client.references import described
from rankery.client.uploads import opened
from rankery.errors import InvalidArgument, WrongType
from rankery.local_files import is_file

_MODEL_TEXT = b"tree\n"
_NAMES = "feature_names="
_ACCEPTED_TYPES = "a path, a lightgbm.Booster, an LGBMRanker or the text of a model"


def is_booster(model: Any) -> bool:
    """Return whether an object is a model of LightGBM, or of its scikit-learn interface."""
    return hasattr(type(model), "model_to_string") or hasattr(type(model), "booster_")


def is_model_file(path: Any) -> bool:
    """Return whether a path is a model that LightGBM saved."""
    if not isinstance(path, str | Path) or not is_file(path):
        return False
    with opened(Path(path)) as file:
        return file.read(len(_MODEL_TEXT)) == _MODEL_TEXT


def text_of(model: Any) -> str | None:
    """Return a model as text; None for a path.

    Args:
        model: A `Booster`, an `LGBMRanker` or another model of its interface, a `RankeryRanker`, a text, or a
            path.

    Raises:
        InvalidArgument: The model is not fitted.
        WrongType: The model is of another type.
    """
    if isinstance(model, str):
        return model if "\n" in model else None
    if hasattr(model, "__fspath__"):
        return None
    if hasattr(model, "model_text_"):
        return str(model.model_text_)
    if hasattr(type(model), "booster_"):
        try:
            model = model.booster_
        except (AttributeError, ValueError) as error:
            raise InvalidArgument(f"the {type(model).__name__} is not fitted: call fit first") from error
    if hasattr(model, "model_to_string"):
        return str(model.model_to_string())
    raise WrongType(f"{_ACCEPTED_TYPES} is expected here, not {described(model)}")


def with_feature_names(text: str, feature_names: Sequence[str]) -> str:
    """Return the text of a model with other names of its features.

    Args:
        feature_names: New names, in the order of the features.

    Raises:
        InvalidArgument: The number of names differs from that of features, or a name has blanks.
        WrongType: The names are one text.
    """
    if isinstance(feature_names, str):
        raise WrongType(f"feature_names must be a list of texts, not {described(feature_names)}")
    lines = text.split("\n")
    row = next((row for row, line in enumerate(lines) if line.startswith(_NAMES)), None)
    if row is None:
        raise InvalidArgument("the text has no line feature_names=…; it is not a LightGBM model")
    old = lines[row].removeprefix(_NAMES).split()
    if len(old) != len(feature_names) or any(len(name.split()) != 1 for name in feature_names):
        raise InvalidArgument(
            f"feature_names must be {len(old)} names without blanks, one per feature of the model, not"
            f" {len(feature_names)}"
        )
    lines[row] = _NAMES + " ".join(feature_names)
    return "\n".join(lines)
