"""Read the model of an MLflow model directory, to register it with a service."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rankery.errors import FileUnusable
from rankery.mlflow.package import import_mlflow

_RANKERY_LOADER = "rankery_pyfunc"
_FILES = ("model.safetensors", "model.txt")
_SUFFIXES = (".lgb", ".txt", ".safetensors")
_MAX_DESCRIPTION = 4000


@dataclass(frozen=True)
class FoundModel:
    """A model that a service can import.

    Attributes:
        file: LightGBM's text, or a network's safetensors.
        name: Name of the model at its export, if known.
        description: Description of the model, with its metrics and parameters.
        tags: Tags of the model, and its MLflow run id and model id.
    """

    file: Path
    name: str | None
    description: str
    tags: dict[str, str] = field(default_factory=dict)


def find_model(folder: Path) -> FoundModel:
    """Find the model in an MLflow model directory; nothing in it is run or unpickled.

    Args:
        folder: The directory, which holds `MLmodel`.

    Raises:
        PackageMissing: MLflow is not installed.
        FileUnusable: The folder is not an MLflow model directory, or holds neither an export of Rankery nor a
            LightGBM booster.
    """
    mlflow = import_mlflow()
    if not (folder / "MLmodel").is_file():
        raise FileUnusable(f"{folder} is not an MLflow model directory: it has no file MLmodel")
    try:
        metadata = mlflow.models.Model.load(str(folder))
    except Exception as error:
        raise FileUnusable(f"{folder / 'MLmodel'} cannot be read: {error}") from error
    about = _mapping(_mapping(metadata.metadata).get("rankery"))
    name, tags = about.get("name"), _mapping(about.get("tags"))
    return FoundModel(
        file=_model_file(folder, _mapping(metadata.flavors)),
        name=name if isinstance(name, str) else None,
        description=_description(folder, about)[:_MAX_DESCRIPTION],
        tags={**{str(key): str(value) for key, value in tags.items()}, **_origin(metadata)},
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    """Return an untrusted value if it is a mapping, else an empty mapping."""
    return value if isinstance(value, dict) else {}


def _model_file(folder: Path, flavors: Mapping[str, Any]) -> Path:
    python_function = _mapping(flavors.get("python_function"))
    if python_function.get("loader_module") == _RANKERY_LOADER:
        candidates = [folder / str(python_function.get("data")) / name for name in _FILES]
    elif "lightgbm" in flavors:
        candidates = [folder / str(_mapping(flavors["lightgbm"]).get("data"))]
    else:
        names = ", ".join(sorted(flavors)) or "none"
        raise FileUnusable(
            f"{folder} has no model that can be imported: its flavors are {names}; a service imports"
            " LightGBM boosters and directories written by `rankery mlflow export`"
        )
    file = next((one for one in candidates if one.is_file()), candidates[0])
    if not file.resolve().is_relative_to(folder.resolve()):
        raise FileUnusable(f"the model file of {folder} is outside the directory, so it is not read: {file}")
    if not file.is_file():
        raise FileUnusable(f"{folder} has no model file {file.relative_to(folder)}")
    if file.suffix not in _SUFFIXES:
        raise FileUnusable(
            f"{file} is a pickled estimator, which could run code when loaded: save its booster instead,"
            " mlflow.lightgbm.save_model(ranker.booster_, path)"
        )
    return file


def _description(folder: Path, about: Mapping[str, Any]) -> str:
    lines = [str(about["description"])] if about.get("description") else []
    if about:
        lines.append(f"Exported to MLflow as {about.get('name')}:{about.get('version')}.")
    else:
        lines.append(f"Imported from the MLflow model {folder.resolve().name}.")
    for title, name in (
        ("Test metrics", "metrics"),
        ("Loss", "loss"),
        ("Hyperparameters", "hyperparameters"),
    ):
        values = _mapping(about.get(name))
        if values:
            shown = ", ".join(f"{key} {_text(value)}" for key, value in values.items() if value is not None)
            lines.append(f"{title}: {shown}.")
    return " ".join(lines)


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _origin(metadata: Any) -> dict[str, str]:
    """Return the MLflow run id and model id as tags."""
    origin = {"mlflow.run-id": metadata.run_id, "mlflow.model-uuid": metadata.model_uuid}
    return {name: str(value) for name, value in origin.items() if value}
