"""The specification of a training."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from core.clicks.correction import ClickCorrection
from core.data import RankingDataset
from core.errors import InputProblem, InvalidInput
from core.losses import Loss, make_loss, seeded, stored_loss
from core.metrics import DEFAULT, Conventions, conventions, parse_metric
from core.names import first_names
from core.parameters import build, values_of
from core.scorers import NetworkScorer, Scorer, Trees, WeightedSum, make_scorer, scorer_values
from core.training.hyperparameters import Hyperparameters
from core.training.options import OPTION_NAMES, TrainingOptions

_SEEDS = 2**31
_NO_LOSS = "mse"  # placeholder for a sum of models, which is not trained by a loss


@dataclass(frozen=True)
class EarlyStopping:
    """Rule to stop when a validation metric has not improved for a number of iterations.

    Attributes:
        metric: Spelling of the metric, `ndcg@10`.
        rounds: Iterations without improvement that end the training.
    """

    metric: str
    rounds: int


@dataclass(frozen=True)
class DiagnosticsPlan:
    """Diagnostics of the loss during a training; see `core.diagnostics`.

    Attributes:
        interval: Iterations between two diagnoses; the first and the last requested one are always diagnosed.
        cutoff: k of the examined top k.
    """

    interval: int
    cutoff: int = 10

    def is_due_after(self, done: int, total: int) -> bool:
        """Return whether to diagnose the next iteration after `done` of `total` iterations."""
        return done % self.interval == 0 or done + 1 == total


@dataclass(frozen=True)
class TrainingSpec(TrainingOptions):
    """Loss, hyperparameters and everything else that determines a model, without the data.

    Attributes:
        metrics: Spellings of the followed metrics. The first one selects the best iteration if there is
            validation data, no early stopping, and no dropping of trees; see `selects_by`.
        seed: Seed of every random choice, from 0 to 2^31 - 1; also of the loss, unless the loss has a seed.
        categorical_feature: Integer features that are categorical, in addition to text features.
        scorer: Scorer to train; for a network, an iteration is an epoch.
    """

    loss: Loss
    hyperparameters: Hyperparameters = field(default_factory=Hyperparameters)
    metrics: tuple[str, ...] = ("ndcg@10",)
    early_stopping: EarlyStopping | None = None
    seed: int = 42
    conventions: Conventions = DEFAULT
    diagnostics: DiagnosticsPlan | None = None
    categorical_feature: tuple[str, ...] = ()
    scorer: Scorer = field(default_factory=Trees)
    clicks: ClickCorrection | None = None

    def __post_init__(self) -> None:
        if self.early_stopping is not None and self.hyperparameters.boosting == "dart":
            raise InvalidInput.at(
                "/early_stopping",
                "is not possible with boosting dart: later iterations rescale earlier trees, so that an"
                " earlier model cannot be restored",
            )

    @property
    def is_random(self) -> bool:
        """Return whether the model depends on random choices, apart from the choice of the data."""
        return self.loss.is_random or self.hyperparameters.is_random or self.scorer.is_network

    @property
    def corrects_clicks(self) -> bool:
        """Return whether the training corrects the bias of clicks."""
        return self.clicks is not None and self.clicks.correction != "none"

    def are_corrected_clicks(self, dataset: RankingDataset) -> bool:
        """Return whether the labels of a dataset are clicks whose bias the training corrects."""
        clicks = self.clicks
        return clicks is not None and self.corrects_clicks and clicks.column in dataset.document_columns

    @property
    def trains_scorer(self) -> bool:
        """Return whether the training minimises the loss, which a weighted sum of models does not."""
        return not isinstance(self.scorer, WeightedSum)

    @property
    def iterations(self) -> int:
        """Return the trees to grow at most, or the epochs of a network; 1 for a sum of models."""
        scorer = self.scorer
        if isinstance(scorer, NetworkScorer):
            return scorer.epochs
        return self.hyperparameters.num_iterations if self.trains_scorer else 1

    def with_iterations(self, iterations: int) -> "TrainingSpec":
        """Return the specification with another maximum of iterations."""
        if isinstance(self.scorer, NetworkScorer):
            return replace(self, scorer=replace(self.scorer, epochs=iterations))
        return replace(self, hyperparameters=replace(self.hyperparameters, num_iterations=iterations))

    @property
    def is_resumable(self) -> bool:
        """Return whether the training can continue from a checkpoint."""
        return self.scorer.is_network or self.hyperparameters.is_resumable

    @property
    def selection_metric(self) -> str:
        """Return the validation metric that selects the best iteration."""
        return self.early_stopping.metric if self.early_stopping else self.metrics[0]

    def selects_by(self, validation: RankingDataset | None) -> bool:
        """Return whether validation data select the best iteration.

        Held-out clicks do not, except for early stopping: they prefer a model that learns the position bias.
        """
        if validation is None or self.early_stopping is not None:
            return validation is not None
        return not self.are_corrected_clicks(validation)

    @property
    def all_metrics(self) -> tuple[str, ...]:
        """Return the metrics computed while training: the requested ones and that of early stopping."""
        return tuple(dict.fromkeys((*self.metrics, self.selection_metric)))


def training_spec(values: Mapping[str, Any], *, stored: bool = False) -> TrainingSpec:
    """Build a specification from the JSON of a training job; other entries are ignored.

    Args:
        stored: Whether the JSON is from a stored job, perhaps of an earlier release. A missing hyperparameter
            of the loss or scorer then has the value from before it existed, not its default.

    Raises:
        InvalidInput: With a pointer for each problem.
    """
    problems: list[InputProblem] = []
    is_sum = (values.get("scorer") or {}).get("kind") == WeightedSum.kind
    requested = {"name": _NO_LOSS} if is_sum and values.get("loss") is None else values.get("loss")
    loss = _parse(problems, "/loss", lambda: _loss(requested, stored))
    hyperparameters = _parse(
        problems,
        "/hyperparameters",
        lambda: build(Hyperparameters, values.get("hyperparameters") or {}),
    )
    metrics = tuple(values.get("metrics") or ("ndcg@10",))
    for i, metric in enumerate(metrics):
        _parse(problems, f"/metrics/{i}", lambda metric=metric: parse_metric(metric))
    early_stopping = _parse(
        problems, "/early_stopping", lambda: _early_stopping(values.get("early_stopping"))
    )
    seed = values.get("seed", 42)
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < _SEEDS:
        problems.append(InputProblem("/seed", f"must be a whole number from 0 to {_SEEDS - 1}"))
    option_values = {name: values[name] for name in OPTION_NAMES if values.get(name) is not None}
    options = _parse(problems, "", lambda: build(TrainingOptions, option_values))
    contract = _parse(problems, "/contract", lambda: conventions(values.get("contract")))
    diagnostics = _parse(problems, "/diagnostics", lambda: _diagnostics(values.get("diagnostics")))
    categorical = _parse(problems, "/categorical_feature", lambda: _names(values.get("categorical_feature")))
    scorer = _parse(problems, "/scorer", lambda: make_scorer(values.get("scorer"), stored=stored))
    if scorer is not None and not isinstance(scorer, Trees):
        problems += _tree_option_problems(values, scorer)
    clicks = _parse(problems, "/clicks", lambda: _clicks(values.get("clicks"), loss))
    if problems or loss is None or hyperparameters is None or scorer is None or options is None:
        raise InvalidInput(*problems)
    loss = seeded(loss, seed)
    return TrainingSpec(
        loss,
        hyperparameters,
        metrics,
        early_stopping,
        seed,
        contract,
        diagnostics,
        categorical,
        scorer,
        clicks,
        **values_of(options),
    )


def check_numeric(categorical: Iterable[str]) -> None:
    """Refuse categorical features, which a linear scorer or a network cannot use.

    Args:
        categorical: Names of the categorical features that the training would use.

    Raises:
        InvalidInput: At `/scorer`.
    """
    if names := sorted(categorical):
        raise InvalidInput.at(
            "/scorer",
            f"accepts numeric features only; these features are categorical: {first_names(names)};"
            ' list them in "features": {"leave_out": […]}',
        )


def scorer_json(spec: TrainingSpec) -> dict[str, Any]:
    """Return the entries of a stored job: `hyperparameters`, and `scorer` unless it is trees."""
    if not isinstance(spec.scorer, Trees):
        return {"hyperparameters": {}, "scorer": scorer_values(spec.scorer)}
    return {"hyperparameters": values_of(spec.hyperparameters)}


def _parse(problems: list[InputProblem], pointer: str, make: Any) -> Any:
    """Return the result of `make`; instead of raising, append its problems to `problems` below `pointer`."""
    try:
        return make()
    except InvalidInput as invalid:
        problems += invalid.below(pointer).problems
        return None


def _tree_option_problems(values: Mapping[str, Any], scorer: Scorer) -> list[InputProblem]:
    """Return a problem for each option of trees that is given for another scorer."""
    advice = f"applies to trees only; the options of a {scorer.kind} are in /scorer"
    problems = [
        InputProblem(f"/hyperparameters/{name}", advice) for name in values.get("hyperparameters") or ()
    ]
    if values.get("categorical_feature"):
        problems.append(
            InputProblem(
                "/categorical_feature",
                f"applies to trees only; a {scorer.kind} accepts numeric features only",
            )
        )
    return problems


def _loss(values: Any, stored: bool) -> Loss:
    if not isinstance(values, Mapping) or not isinstance(values.get("name"), str):
        raise InvalidInput.at("", 'must be an object with a "name", such as {"name": "lambdarank"}')
    return stored_loss(**values) if stored else make_loss(**values)


def _clicks(values: Any, loss: Loss | None) -> ClickCorrection | None:
    if values is None:
        return None
    if not isinstance(values, Mapping):
        raise InvalidInput.at("", 'must be an object, such as {"correction": "additive"}')
    correction = build(ClickCorrection, values)
    if loss is not None:
        correction.check_loss(loss)
    return correction


def _names(values: Any) -> tuple[str, ...]:
    names = [] if values is None else values
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise InvalidInput.at("", "must be a list of names of features")
    seen_names: set[str] = set()
    for index, name in enumerate(names):
        if name in seen_names:
            raise InvalidInput.at(f"/{index}", f"{name!r} is listed twice")
        seen_names.add(name)
    return tuple(names)


def _positive_problems(pointer: str, value: Any) -> list[InputProblem]:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return []
    return [InputProblem(pointer, "must be a whole number, at least 1")]


def _diagnostics(values: Any) -> DiagnosticsPlan | None:
    if values is None:
        return None
    interval, cutoff = values.get("interval"), values.get("cutoff", 10)
    if problems := _positive_problems("/interval", interval) + _positive_problems("/cutoff", cutoff):
        raise InvalidInput(*problems)
    return DiagnosticsPlan(interval, cutoff)


def _early_stopping(values: Any) -> EarlyStopping | None:
    if values is None:
        return None
    metric, rounds = values.get("metric"), values.get("rounds")
    if problems := _positive_problems("/rounds", rounds):
        raise InvalidInput(*problems)
    try:
        parse_metric(metric)
    except InvalidInput as invalid:
        raise InvalidInput.at("/metric", invalid.problems[0].detail) from invalid
    return EarlyStopping(metric, rounds)
