"""Checkpoints of trainings of networks; a resumed training yields the same network, byte for byte."""

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.training.checkpoint import ARCHIVE_ERRORS, CheckpointError, without_times
from core.training.models import IterationReport

_FORMAT = 1
_BIAS = "bias/"
_LIBRARIES = ("jax", "jaxlib", "optax")  # other versions may compute other values
Weights = list[dict[str, NDArray[Any]]]


@dataclass(frozen=True)
class NetworkCheckpoint:
    """The state of a training after an epoch.

    Attributes:
        optimizer: Arrays of the optimiser's state.
        best_weights: Weights of the best epoch on the validation data; empty if no epoch was selected, so
            that the last one is kept.
        best_iteration: Best epoch so far, 0 before there is one.
        best_value: Value of the selection metric in the best epoch; greater is better.
        costs: Training cost of each epoch since the weights were last drawn.
        restarts: Number of times that the weights were drawn again.
        bias: Position bias that is learnt with the network, by name; empty without one.
    """

    weights: Weights
    optimizer: Sequence[NDArray[Any]]
    best_weights: Weights
    best_iteration: int
    best_value: float
    learning_rate: float
    costs: tuple[float, ...]
    restarts: int
    history: list[IterationReport]
    bias: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    @property
    def iteration(self) -> int:
        """Return the number of epochs done."""
        return len(self.history)

    def to_bytes(self) -> bytes:
        """Return the checkpoint as the content of a file: a NumPy archive without pickled objects."""
        state = {
            "format": _FORMAT,
            "libraries": _versions(),
            "best_iteration": self.best_iteration,
            "best_value": self.best_value if self.best_iteration else None,
            "learning_rate": self.learning_rate,
            "costs": list(self.costs),
            "restarts": self.restarts,
            "layers": len(self.weights),
            "has_best": bool(self.best_weights),
            "optimizer": len(self.optimizer),
            "history": [without_times(report) for report in self.history],
        }
        arrays = {f"optimizer/{number}": array for number, array in enumerate(self.optimizer)}
        for name, weights in (("weights", self.weights), ("best", self.best_weights)):
            for number, layer in enumerate(weights):
                arrays |= {f"{name}/{number}/{key}": array for key, array in layer.items()}
        arrays |= {f"{_BIAS}{name}": array for name, array in self.bias.items()}
        file = io.BytesIO()
        text = np.frombuffer(json.dumps(state).encode(), np.uint8)
        np.savez(file, allow_pickle=False, state=text, **arrays)
        return file.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> "NetworkCheckpoint":
        """Read a checkpoint from the content that `to_bytes` returned.

        Raises:
            CheckpointError: The content cannot be parsed, or was written by another version of Rankery or
                JAX.
        """
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
            state: dict[str, Any] = json.loads(arrays["state"].tobytes())
            if (state["format"], state["libraries"]) != (_FORMAT, _versions()):
                raise CheckpointError("the checkpoint was written by another version")
            return cls(
                _layers(arrays, "weights", state["layers"]),
                [arrays[f"optimizer/{number}"] for number in range(state["optimizer"])],
                _layers(arrays, "best", state["layers"]) if state["has_best"] else [],
                state["best_iteration"],
                state["best_value"] if state["best_iteration"] else -np.inf,
                state["learning_rate"],
                tuple(state["costs"]),
                state["restarts"],
                [IterationReport(**report) for report in state["history"]],
                {name.removeprefix(_BIAS): array for name, array in arrays.items() if name.startswith(_BIAS)},
            )
        except ARCHIVE_ERRORS as error:
            raise CheckpointError("the checkpoint is damaged") from error


def _versions() -> dict[str, str | None]:
    return {name: _version(name) for name in _LIBRARIES}


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:  # linear scorers need none of these libraries
        return None


def _layers(arrays: dict[str, NDArray[Any]], name: str, count: int) -> Weights:
    layers: Weights = []
    for number in range(count):
        prefix = f"{name}/{number}/"
        layers.append(
            {key.removeprefix(prefix): array for key, array in arrays.items() if key.startswith(prefix)}
        )
    if not all("weights" in layer for layer in layers):
        raise KeyError(name)
    return layers
