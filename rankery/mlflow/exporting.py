"""Write a model as an MLflow model directory.

Import it after `import_mlflow`, which reports missing packages.
"""

import json
import re
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from rankery.errors import (
    AnswerNotUnderstood,
    FileUnusable,
    PackageMissing,
    RankeryApiError,
    UserError,
)
from rankery.mlflow import rankery_pyfunc
from rankery.mlflow.package import import_mlflow

if TYPE_CHECKING:
    from rankery.client import Client, Model

LOADER = "rankery_pyfunc"
_SAFETENSORS = ("linear", "mlp", "sum")
_FORMATS = {"model.txt": "lightgbm", "model.safetensors": "safetensors"}
_EXAMPLES = 5
_ROUNDING = 1e-9  # relative tolerance for networks and sums, which are added up in another order
_CATEGORIES = re.compile(r"^pandas_categorical:(.*)$", re.MULTILINE)
_CATEGORICAL = re.compile(r"^\[categorical_feature: (\d+(?:,\d+)*)\]$", re.MULTILINE)
_REFUSED_STATUSES = (409, 422, 501)
_TABLE = re.compile(r"^(?P<name>NODES|ROOTS) = \(\n(?P<rows>.*?)^\)$", re.MULTILINE | re.DOTALL)
_NODE = re.compile(r"    \((-?\d+), (-?[\d.e+-]+|-?inf), (\d), (\d+)\),")
_ROOT = re.compile(r"    (\d+),")


def nodes_of(module: str) -> dict[str, Any]:
    """Return the arrays of tree nodes in a Python module, which is parsed, not run.

    Args:
        module: The text of the export.

    Returns:
        `features`, `values`, `missing` and `right` of each node, and `roots`, as `rankery_pyfunc` takes them.

    Raises:
        AnswerNotUnderstood: The text is not such a module.
    """
    tables = {match["name"]: match["rows"].splitlines() for match in _TABLE.finditer(module)}
    nodes = [_NODE.fullmatch(line) for line in tables.get("NODES", [])]
    roots = [_ROOT.fullmatch(line) for line in tables.get("ROOTS", [])]
    if not nodes or not roots or None in nodes or None in roots:
        raise AnswerNotUnderstood(
            "the service's Python export does not have the format that this version of rankery expects;"
            " install the version of rankery that the service has"
        )
    features, values, missing, right = zip(*(match.groups() for match in nodes if match), strict=True)
    return {
        "features": np.array(features, np.int64),
        "values": np.array(values, np.float64),
        "missing": np.array(missing, np.int64),
        "right": np.array(right, np.int64),
        "roots": np.array([match[1] for match in roots if match], np.int64),
    }


class NotReproduced(UserError):
    """The exported model and the service return different scores."""


@dataclass(frozen=True)
class MlflowExport:
    """A written MLflow model directory.

    Attributes:
        path: The directory.
        model: The model's name and version.
        golden_vectors: Documents whose scores were compared with the service's.
        largest_difference: Largest difference of the scores, relative for scores above 1; 0 for trees.
        requirements: Packages that the loaded model needs in addition to MLflow.
    """

    path: str
    model: str
    golden_vectors: int
    largest_difference: float
    requirements: list[str]


def export_model(client: "Client", reference: str, folder: Path) -> MlflowExport:
    """Write a model as an MLflow model directory, after a check that its scores equal those of the service.

    Args:
        client: Client of the service.
        reference: Id, name, `name:version` or `name@alias`.
        folder: Directory to create; it must not exist.

    Raises:
        PackageMissing: MLflow is not installed, or LightGBM, which this model needs.
        FileUnusable: The directory exists, or cannot be written.
        RankeryApiError: There is no such model, or it cannot be exported.
        NotReproduced: The scores of the golden vectors differ.
    """
    mlflow = import_mlflow()
    if folder.exists():
        raise FileUnusable(f"{folder} exists; choose another directory with --output, or remove it")
    model = client.model(reference)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".rankery-mlflow-") as scratch:
            data = Path(scratch) / "model"
            data.mkdir()
            categories = _write_data(client, model, data)
            golden = [json.loads(line) for line in (data / "golden.jsonl").read_text("utf-8").splitlines()]
            difference = _largest_difference(model, data, golden)
            requirements = _requirements(data)
            target = Path(scratch) / "mlflow"
            mlflow.pyfunc.save_model(
                path=str(target),
                loader_module=LOADER,
                data_path=str(data),
                code_paths=[rankery_pyfunc.__file__],
                signature=_signature(mlflow, model, categories),
                input_example=_frame(golden[:_EXAMPLES], model.feature_names, categories),
                pip_requirements=requirements,
                metadata={"rankery": model_metadata(model)},
            )
            target.rename(folder)
    except OSError as error:
        raise FileUnusable(f"{folder} cannot be written: {error.strerror or error}") from error
    return MlflowExport(str(folder), model.reference, len(golden), difference, requirements)


def model_metadata(model: "Model") -> dict[str, Any]:
    """Return the metadata of a model: metrics, parameters, tags and lineage."""
    document = model.model_dump(mode="json")
    fields = (
        *("id", "name", "version", "kind", "description", "tags", "metrics", "loss", "scorer"),
        *("hyperparameters", "best_iteration", "source", "job_id", "dataset_id", "sha256", "created_at"),
    )
    metadata = {name: document[name] for name in fields if document.get(name) not in (None, {}, [])}
    if model.lineage is not None:
        metadata["rankery"], metadata["libraries"] = model.lineage.rankery, dict(model.lineage.libraries)
    return metadata


def _write_data(client: "Client", model: "Model", data: Path) -> dict[str, list[str]]:
    """Write the files of the model, and golden vectors; return the categories by feature."""
    stored = "model.safetensors" if model.kind in _SAFETENSORS else "model.txt"
    archive_path = data / "archive.zip"
    client.export(model, _FORMATS[stored], archive_path, archive=True, progress=False)
    with zipfile.ZipFile(archive_path) as archive:
        for name in ("golden.jsonl", stored):
            (data / name).write_bytes(archive.read(name))
    archive_path.unlink()
    categories: dict[str, list[str]] = {}
    if stored == "model.txt":
        text = (data / "model.txt").read_text("utf-8")
        categories = _categories(text, model.feature_names)
        _write_nodes(client, model, data)
    elif members := rankery_pyfunc.members_of((data / stored).read_bytes()):
        for member in members:
            categories |= _categories(member.text or "", member.feature_names)
    document = {
        "format": 1,
        "kind": model.kind,
        "model": model.reference,
        "feature_names": list(model.feature_names),
        "categories": categories,
        "precision": model.precision,
    }
    (data / "model.json").write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", "utf-8")
    return categories


def _write_nodes(client: "Client", model: "Model", data: Path) -> None:
    """Write the nodes of plain trees; other trees are scored by LightGBM."""
    module = data / "module.py"
    try:
        client.export(model, "python", module, progress=False)
    except RankeryApiError as refused:
        if refused.status not in _REFUSED_STATUSES:
            raise
        return
    np.savez_compressed(data / "nodes.npz", **nodes_of(module.read_text("utf-8")))
    module.unlink()


def _categories(text: str, feature_names: Sequence[str]) -> dict[str, list[str]]:
    """Return the values of each categorical feature from the last line of LightGBM's text."""
    lists, columns = _CATEGORIES.search(text), _CATEGORICAL.search(text)
    values = json.loads(lists[1]) if lists else None
    if not values or columns is None:
        return {}
    indices = sorted({int(column) for column in columns[1].split(",")})
    if len(indices) != len(values):
        return {}
    return {
        feature_names[index]: [rankery_pyfunc.category_text(value) for value in each]
        for index, each in zip(indices, values, strict=True)
    }


def _largest_difference(model: "Model", data: Path, golden: Sequence[Mapping[str, Any]]) -> float:
    """Score the golden vectors; return the largest difference, 0 for trees."""
    try:
        loaded = rankery_pyfunc._load_pyfunc(str(data))
    except ImportError as missing:
        raise PackageMissing(
            f"{model.reference} has categories, linear trees, averaged trees or trees in a sum, which need"
            f" {missing.name}: pip install 'rankery[mlflow]'"
        ) from missing
    rows = [[np.nan if value is None else value for value in one["features"].values()] for one in golden]
    service_scores = np.array([one.get("lightgbm", one.get("rankery")) for one in golden], np.float64)
    scores = loaded.score(np.array(rows, np.float64))
    difference = float(np.max(np.abs(scores - service_scores) / np.maximum(1.0, np.abs(service_scores))))
    if not difference <= (_ROUNDING if model.kind in _SAFETENSORS else 0.0):
        raise NotReproduced(
            f"the exported model differs from {model.reference} by {difference:g} on golden"
            " vectors; install the version of rankery that the service has"
        )
    return difference


def _requirements(data: Path) -> list[str]:
    needed = ["numpy", "pandas"]
    stored = data / "model.safetensors"
    if stored.exists():
        members = rankery_pyfunc.members_of(stored.read_bytes()) or ()
        needs_lightgbm = any(member.text is not None for member in members)
    else:
        needs_lightgbm = not (data / "nodes.npz").exists()
    if needs_lightgbm:
        needed.append("lightgbm")
    return [f"{name}=={version(name)}" for name in needed]


def _signature(mlflow: Any, model: "Model", categories: Mapping[str, Sequence[str]]) -> Any:
    schema = mlflow.types.schema
    # Category values may be texts, integers or pandas categoricals; MLflow has no type for all three.
    inputs = [
        schema.ColSpec(schema.AnyType() if name in categories else "double", name, required=True)
        for name in model.feature_names
    ]
    scores = schema.Schema([schema.TensorSpec(np.dtype(np.float64), (-1,))])
    return mlflow.models.ModelSignature(inputs=schema.Schema(inputs), outputs=scores)


def _frame(
    golden: Sequence[Mapping[str, Any]],
    feature_names: Sequence[str],
    categories: Mapping[str, Sequence[str]],
) -> Any:
    """Return golden vectors as a data frame for `predict`, with categories as texts."""
    columns = {}
    for index, name in enumerate(feature_names):
        cells = [list(one["features"].values())[index] for one in golden]
        if name in categories:
            values = categories[name]
            columns[name] = pd.Series(
                [
                    None if code is None or not 0 <= code < len(values) else values[int(code)]
                    for code in cells
                ],
                dtype=object,
            )
        else:
            columns[name] = pd.Series(cells, dtype="float64")
    return pd.DataFrame(columns)
