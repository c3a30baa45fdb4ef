"""Kinds of scorers with their hyperparameters and bounds."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Literal

from core.errors import InvalidInput
from core.names import did_you_mean
from core.parameters import Names, Numbers, WholeNumbers, build, check, parameter, stored_values, values_of

ACTIVATIONS = ("relu", "tanh", "sigmoid")
INPUTS = ("standard", "rank-gauss", "none")
_MAX_LAYERS = 16
_MAX_UNITS = 65_536
MAX_MEMBERS = 16
_STEPS_PER_EPOCH = 30
_BATCH_DOCUMENTS = (32, 4_096)


@dataclass(frozen=True)
class Trees:
    """Gradient-boosted trees, whose hyperparameters are in the `hyperparameters` of the job."""

    kind: ClassVar[str] = "trees"
    summary: ClassVar[str] = "Gradient-boosted trees (LightGBM)"

    is_network: ClassVar[bool] = False


@dataclass(frozen=True)
class NetworkScorer:
    """Shared hyperparameters of linear scorers and networks: inputs and optimisation."""

    kind: ClassVar[str]
    summary: ClassVar[str]
    is_network: ClassVar[bool] = True

    epochs: int = parameter(
        100,
        "Maximum number of passes over the training queries.",
        minimum=1,
        maximum=100_000,
        aliases="num_iterations",
    )
    batch_documents: int | None = parameter(
        None,
        "Maximum number of documents in a batch. A batch has whole queries, so that a larger query is a"
        " separate batch. When null, a thirtieth of the training documents, from 32 to 4,096.",
        minimum=1,
        maximum=2**24,
        aliases="batch_size",
        earlier=4_096,
    )
    optimizer: str = parameter(
        "adam",
        "Optimizer: Adam, or stochastic gradient descent.",
        choices=("adam", "sgd"),
        aliases="optimiser",
    )
    learning_rate: float = parameter(
        0.01, "Step size.", minimum=0.0, above=True, maximum=100.0, aliases="lr eta", earlier=0.001
    )
    momentum: float = parameter(
        0.0, "Momentum of `sgd`: share of the previous step to add to a step.", minimum=0.0, maximum=0.999
    )
    weight_decay: float = parameter(
        0.0,
        "Weight decay (AdamW): each step shrinks weights by this share of the step size.",
        minimum=0.0,
        maximum=1.0,
    )
    decay_on_rise: float = parameter(
        1.0,
        "Factor of the learning rate after an epoch with a higher training cost; the 2006 paper used 0.8.",
        minimum=0.0,
        above=True,
        maximum=1.0,
    )
    restart_epochs: int | None = parameter(
        None,
        "Number of epochs without a lower training cost after which weights are drawn again; the 2006 paper"
        " used 50.",
        minimum=1,
        maximum=100_000,
    )
    training_cost: str = parameter(
        "loss",
        "Training cost for `decay_on_rise` and `restart_epochs`: the mean training loss, or the selection"
        " metric on the training data.",
        choices=("loss", "metric"),
    )
    gradient_clip: float | None = parameter(
        None,
        "Maximum Euclidean norm of the gradient in a step; larger gradients are scaled down.",
        minimum=0.0,
        above=True,
    )
    inputs: str = parameter(
        "standard",
        "Scaling of features: to mean 0 and deviation 1, by rank to a normal distribution, or none.",
        choices=INPUTS,
    )
    log1p: bool = parameter(False, "Transform each feature to sign(x) ln(1 + |x|) before it is scaled.")
    missing_indicators: bool = parameter(
        False, "Add a 0/1 indicator input for each feature with missing values in the training data."
    )

    def __post_init__(self) -> None:
        check(self)

    @property
    def hidden_layers(self) -> tuple[int, ...]:
        """Return the units of each hidden layer."""
        return ()

    def batch_size(self, n_documents: int) -> int:
        """Return the maximum number of documents in a batch, given the number of training documents.

        A hundred epochs of about thirty steps bring a linear scorer near its best value, see `make
        bench-portfolio`.
        """
        if self.batch_documents is not None:
            return self.batch_documents
        low, high = _BATCH_DOCUMENTS
        return max(low, min(n_documents // _STEPS_PER_EPOCH, high))


@dataclass(frozen=True)
class Linear(NetworkScorer):
    """A weighted sum of the features, as in the papers of 2006 and 2009."""

    kind: ClassVar[str] = "linear"
    summary: ClassVar[str] = "Linear model: weighted sum of the features"

    arithmetic: str = parameter(
        "float64",
        "Arithmetic of the training steps: float64 without JAX, or float32 with JAX, as in earlier releases.",
        choices=("float64", "float32"),
        earlier="float32",
    )


@dataclass(frozen=True)
class Mlp(NetworkScorer):
    """A feed-forward network."""

    kind: ClassVar[str] = "mlp"
    summary: ClassVar[str] = "Feed-forward network"

    hidden: WholeNumbers = parameter(
        (64, 32),
        "Number of units of each hidden layer.",
        minimum=1,
        maximum=_MAX_UNITS,
        aliases="hidden_layers layers",
    )
    activation: str = parameter("relu", "Activation function of the hidden units.", choices=ACTIVATIONS)
    dropout: float = parameter(
        0.0, "Dropout: share of hidden units to leave out in each training step.", minimum=0.0, maximum=0.95
    )
    layer_norm: bool = parameter(
        False, "Layer normalisation: normalise the hidden units of a document before the activation."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.hidden) > _MAX_LAYERS:
            raise InvalidInput.at("/hidden", f"has {len(self.hidden)} layers; the maximum is {_MAX_LAYERS}")

    @property
    def hidden_layers(self) -> tuple[int, ...]:
        """Return the units of each hidden layer."""
        return self.hidden


@dataclass(frozen=True)
class WeightedSum:
    """A weighted sum of the scores of other models; only the weights are fitted."""

    kind: ClassVar[str] = "sum"
    summary: ClassVar[str] = "Weighted sum of models"
    is_network: ClassVar[bool] = False

    models: Names = parameter(
        (), "References of the models, such as `web:3`; a member must not be a sum itself."
    )
    weights: Numbers | None = parameter(
        None, "Weights of the models' scores; when null, fitted to the first metric on the validation data."
    )
    shrinkage: str = parameter(
        "cross-validated",
        "Shrinkage of fitted weights towards equal weights: selected by cross-validation over the"
        " validation queries, or none.",
        choices=("cross-validated", "none"),
        earlier="none",
    )

    def __post_init__(self) -> None:
        if not 1 <= len(self.models) <= MAX_MEMBERS:
            raise InvalidInput.at("/models", f"must list 1 to {MAX_MEMBERS} models")
        check(self)
        if self.weights is not None and len(self.weights) != len(self.models):
            raise InvalidInput.at("/weights", f"must be {len(self.models)} numbers, one per model")
        if self.weights is not None and not any(self.weights):
            raise InvalidInput.at("/weights", "must have at least one weight that is not 0")


Scorer = Trees | Linear | Mlp | WeightedSum
ScorerKind = Literal["trees", "linear", "mlp", "sum"]
SCORERS: Mapping[str, type[Scorer]] = MappingProxyType(
    {kind.kind: kind for kind in (Trees, Linear, Mlp, WeightedSum)}
)


def make_scorer(values: Mapping[str, Any] | None, *, stored: bool = False) -> Scorer:
    """Build a scorer from the JSON of a training job, `{"kind": "mlp", "hidden": [64]}`; trees for None.

    Args:
        stored: Whether a job stored it, perhaps before some of its hyperparameters existed.

    Raises:
        InvalidInput: With a pointer for each problem.

    Example:
        >>> make_scorer({"kind": "mlp", "hidden": [10]}).hidden_layers
        (10,)
    """
    if values is None:
        return Trees()
    kind = values.get("kind")
    if not isinstance(kind, str) or kind not in SCORERS:
        hint = did_you_mean(kind, tuple(SCORERS)) if isinstance(kind, str) else None
        raise InvalidInput.at("/kind", hint or f"must be one of {', '.join(SCORERS)}")
    others = {name: value for name, value in values.items() if name != "kind"}
    scorer: Scorer = build(SCORERS[kind], stored_values(SCORERS[kind], others) if stored else others)
    return scorer


def scorer_values(scorer: Scorer) -> dict[str, Any]:
    """Return the JSON values of a scorer, the argument of `make_scorer`."""
    values = {
        name: list(value) if isinstance(value, tuple) else value for name, value in values_of(scorer).items()
    }
    return {"kind": scorer.kind, **values}
