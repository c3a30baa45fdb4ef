"""The boosting loop: LightGBM grows the trees, a prepared loss says where they should go."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import lightgbm
import numpy as np

from core.data import RankingDataset
from core.diagnostics import diagnose
from core.errors import InvalidInput
from core.jit import use_threads
from core.metrics import parse_metric
from core.scoring.categories import category_lists
from core.training.bin_edges import CATEGORICAL, OnProgress
from core.training.binning import Binning, Bins, KeptBins
from core.training.by_feature import by_column
from core.training.checkpoint import Checkpoint, prepend_trees
from core.training.derivatives import TreeDerivatives
from core.training.findings import ENOUGH, Growth
from core.training.measure import Measure, present_scores
from core.training.models import TrainingCheckpoint
from core.training.report import IterationReport
from core.training.sampling import Sampling, drop_seed, fixed_seeds
from core.training.spec import TrainingSpec
from core.training.stopwatch import DIAGNOSTICS, METRICS, OBJECTIVE, TREE, Stopwatch
from core.types import Float32Array, Float64Array

Snapshot = Callable[[], TrainingCheckpoint]
# The bounds that may keep LightGBM from every split, the likeliest first, and where they bound nothing.
_LOOSEST: Mapping[str, float] = MappingProxyType(
    {"min_sum_hessian_in_leaf": 0.0, "min_data_in_leaf": 1, "min_gain_to_split": 0.0, "lambda_l1": 0.0}
)


@dataclass(frozen=True)
class TrainedRanker:
    """A trained model.

    Attributes:
        model_text: LightGBM's text form, cut at the best iteration.
        best_iteration: Number of trees kept, apart from those of the model that the training went on from.
        feature_names: Names of the features in column order.
        history: One report an iteration.
        growth: How far the training came, where that is suspiciously near; else None.
        base_trees: Trees of the model that the training went on from, 0 where there is none.
    """

    model_text: str
    best_iteration: int
    feature_names: tuple[str, ...]
    history: list[IterationReport] = field(repr=False)
    growth: Growth | None = None
    base_trees: int = 0

    @property
    def kept_iterations(self) -> int:
        """Return how many trees the model has."""
        return self.base_trees + self.best_iteration

    @property
    def content(self) -> bytes:
        """Return the model as it is stored."""
        return self.model_text.encode()


def train(
    spec: TrainingSpec,
    train_dataset: RankingDataset,
    validation_dataset: RankingDataset | None = None,
    on_iteration: Callable[[IterationReport, Snapshot], None] | None = None,
    threads: int = 1,
    kept_bins: KeptBins | None = None,
    resume: Checkpoint | None = None,
    on_binning: OnProgress | None = None,
    bins: Bins | None = None,
) -> TrainedRanker:
    """Train a ranker.

    The same specification and data give the same model text, byte for byte, on any number of threads, and
    however often the training was interrupted and resumed.

    Args:
        spec: What to do.
        train_dataset: Data to learn from.
        validation_dataset: Data that picks the best iteration; all iterations are kept without it.
        on_iteration: Called after each iteration with what is known and with what takes a checkpoint;
            whatever it raises ends the training.
        threads: Threads for LightGBM and the loss.
        kept_bins: Binned features of earlier trainings, and the place for those of this one. The model is the
            same with and without.
        resume: Where to go on: from a checkpoint of the same specification and data, which must be resumable;
            or from a model, `Checkpoint.of_model`.
        on_binning: Told the documents put into bins and those in all, at last that all are; whatever it
            raises ends the training.
        bins: The same documents in bins, see `bin_features`; made from the datasets where left out.

    Raises:
        InvalidInput: When early stopping has no validation data, the datasets' features differ, or LightGBM
            refuses the data, as where no feature varies.
    """
    _check_fit(spec, train_dataset, validation_dataset)
    use_threads(threads)
    with _refused():
        bins = bins or _binning(spec, train_dataset, threads, kept_bins, on_binning)
        return _Training(spec, train_dataset, validation_dataset, threads, bins, resume).run(on_iteration)


def bin_features(
    spec: TrainingSpec,
    dataset: RankingDataset,
    threads: int = 1,
    kept_bins: KeptBins | None = None,
    on_binning: OnProgress | None = None,
) -> lightgbm.Dataset:
    """Bin a dataset's features once, for several trainings with `SharedBins`; arguments as those of `train`.

    Raises:
        InvalidInput: When LightGBM refuses the data, as where no feature varies.
    """
    with _refused():
        return _binning(spec, dataset, threads, kept_bins, on_binning).datasets(dataset)["train"]


@contextmanager
def _refused() -> Iterator[None]:
    try:
        yield
    except lightgbm.basic.LightGBMError as error:
        raise InvalidInput.at("/dataset_id", _refusal(str(error))) from error


def _binning(
    spec: TrainingSpec,
    dataset: RankingDataset,
    threads: int,
    kept_bins: KeptBins | None,
    on_binning: OnProgress | None,
) -> Binning:
    parameters = _lightgbm_parameters(spec, dataset, threads)
    return Binning(spec.hyperparameters, parameters, kept_bins, on_binning)


def _lightgbm_parameters(spec: TrainingSpec, dataset: RankingDataset, threads: int) -> dict[str, Any]:
    hyperparameters = spec.hyperparameters
    parameters = {
        **hyperparameters.lightgbm(spec.seed, threads),
        **fixed_seeds(spec.seed),
        **by_column(hyperparameters, dataset.feature_names, dataset.categories),
        **({"drop_seed": drop_seed(spec.seed)} if hyperparameters.boosting == "dart" else {}),
    }
    if dataset.categories:
        parameters[CATEGORICAL] = list(dataset.categorical_columns)
    return parameters


class _Training:
    """A booster on its way, with all that decides how it goes on."""

    def __init__(
        self,
        spec: TrainingSpec,
        train_dataset: RankingDataset,
        validation: RankingDataset | None,
        threads: int,
        bins: Bins,
        resume: Checkpoint | None,
    ) -> None:
        self._spec = spec
        self._threads = threads
        self._bins = bins
        self._dataset = train_dataset
        self._objective = spec.loss.prepare(
            train_dataset.labels,
            train_dataset.query_boundaries,
            train_dataset.query_weights,
            train_dataset.document_weights,
        )
        self._total = spec.hyperparameters.num_iterations
        self._drops_trees = spec.hyperparameters.boosting == "dart"
        self._sampling = Sampling(spec.hyperparameters, spec.seed)
        self._tree_derivatives = TreeDerivatives(
            spec.hyperparameters, train_dataset.query_boundaries, spec.seed
        )
        self._diagnosed: Mapping[str, float | None] | None = None
        self._prefers_higher = parse_metric(spec.selection_metric).higher_is_better
        self._history: list[IterationReport] = list(resume.history) if resume else []
        self._best_iteration = resume.best_iteration if resume else 0
        self._best_value = resume.best_value if resume else -np.inf
        self._resume = resume
        self._base_trees = resume.base_trees if resume else 0
        self._is_exhausted = False
        self._next_derivatives: tuple[Float32Array, Float32Array] | None = None
        self._stopwatch = Stopwatch()
        parameters = _lightgbm_parameters(spec, train_dataset, threads)
        binned = bins.datasets(train_dataset, validation)
        if resume is not None:
            for name, data in binned.items():
                data.set_init_score(resume.scores[name])
        self._booster = lightgbm.Booster(parameters, binned["train"])
        self._measures = {"train": Measure(spec, train_dataset)}
        if validation is not None:
            self._booster.add_valid(binned["validation"], "validation")
            self._measures["validation"] = Measure(spec, validation)
        if self._drops_trees:
            self._booster.add_valid(binned["train"], "train")  # see `present_scores`
            _start_drops(self._booster, drop_seed(spec.seed))
        if resume is not None:
            prepend_trees(self._booster, resume.model_text)

    def run(self, on_iteration: Callable[[IterationReport, Snapshot], None] | None) -> TrainedRanker:
        for iteration in range(len(self._history) + 1, self._total + 1):
            if self._is_stalled():
                break
            with self._stopwatch.timing(TREE):
                finished = self._booster.update(fobj=self._derivatives)
            self._is_exhausted = finished
            if finished and (iteration > 1 or self._base_trees):
                break  # no split gains anything any more: LightGBM has added no tree
            if not finished:
                self._sampling.grown()
            report = self._report(iteration)
            self._history.append(report)
            if on_iteration is not None:
                on_iteration(report, self._checkpoint)
        self._next_derivatives = None
        best_iteration = self._best_iteration or len(self._history)
        self._sampling.finish(self._booster)
        text = self._model_text(best_iteration)
        return TrainedRanker(
            _without_thread_count(text),
            best_iteration,
            self._dataset.feature_names,
            self._history,
            self._growth(text, best_iteration),
            self._base_trees,
        )

    def _model_text(self, best_iteration: int) -> str:
        if self._drops_trees and self._is_exhausted and len(self._history) < self._total:
            # LightGBM leaves trees negated that it has dropped for one without a split: grow them once more.
            asked = replace(self._spec.hyperparameters, num_iterations=len(self._history))
            spec = replace(self._spec, hyperparameters=asked, metric_interval=len(self._history))
            return (
                _Training(spec, self._dataset, None, self._threads, self._bins.silent(), self._resume)
                .run(None)
                .model_text
            )
        self._booster.pandas_categorical = category_lists(self._dataset) or None
        return self._booster.model_to_string(num_iteration=self._base_trees + best_iteration)

    def _growth(self, model_text: str, trees: int) -> Growth | None:
        single_leaf_trees = len(re.findall(r"^num_leaves=1$", model_text, re.MULTILINE))
        is_short = trees < min(ENOUGH, self._total) and (self._is_exhausted or self._total >= 2 * ENOUGH)
        if not single_leaf_trees and not is_short:
            return None
        _, hessian = self._objective(np.zeros(self._dataset.n_documents), 0)
        queries = self._dataset.n_queries
        mean_hessian_sum = float(hessian.sum(dtype=np.float64)) / queries
        ended = self._ending(trees)
        return Growth(trees, single_leaf_trees, self._total, ended, mean_hessian_sum, queries)

    def _ending(self, trees: int) -> str:
        """Say why no more trees were kept."""
        if not self._is_exhausted:
            return f"{self._spec.selection_metric} on the validation data was best after {trees:,}"
        if not np.any(self._objective(present_scores(self._booster, "train"), len(self._history))[0]):
            return "the loss has nothing left to change, its gradient is 0 for every document"
        if bound := self._decisive_bound():
            return f"{bound} = {getattr(self._spec.hyperparameters, bound):g} allows no split"
        return "no split gains anything"

    def _decisive_bound(self) -> str | None:
        """Return the bound without which another tree would have been grown.

        The booster may grow that tree, so nothing may be taken from it afterwards.
        """
        for name, loosest in _LOOSEST.items():
            value = getattr(self._spec.hyperparameters, name)
            if value > loosest:
                self._booster.reset_parameter({name: loosest})
                if not self._booster.update(fobj=self._derivatives):
                    return name
                self._booster.reset_parameter({name: value})
        return None

    def _derivatives(self, scores: Float64Array, _: lightgbm.Dataset) -> tuple[Float32Array, Float32Array]:
        """Return what the next tree follows, in the form in which LightGBM asks for it."""
        done = len(self._history)
        self._sampling.restart(self._booster, done)
        with self._stopwatch.timing(OBJECTIVE):
            gradient, hessian = self._next_derivatives or self._objective(scores, done)
            gradient, hessian = self._tree_derivatives(gradient, hessian, done)
        self._next_derivatives = None
        self._diagnosed = self._diagnose(scores, gradient)
        return gradient, hessian

    def _diagnose(self, scores: Float64Array, gradient: Float32Array) -> Mapping[str, float | None] | None:
        plan, done = self._spec.diagnostics, len(self._history)
        is_last = done + 1 == self._total
        if plan is None or not (done % plan.interval == 0 or is_last):
            return None
        with self._stopwatch.timing(DIAGNOSTICS):
            return diagnose(
                self._spec.loss,
                scores,
                self._dataset.labels,
                self._dataset.query_boundaries,
                cutoff=plan.cutoff,
                iteration=done,
                seed=self._spec.seed,
                gradient=gradient,
            )

    def _report(self, iteration: int) -> IterationReport:
        values: dict[str, Mapping[str, float | None]] = {}
        if iteration % self._spec.metric_interval == 0 or iteration == self._total:
            with self._stopwatch.timing(METRICS):
                for name, measure in self._measures.items():
                    scores = present_scores(self._booster, name)
                    loss = {"loss": self._loss(scores, iteration)} if name == "train" else {}
                    values[name] = loss | measure(scores)
        if self._diagnosed is not None:
            values["diagnostics"] = self._diagnosed
        self._select(iteration, values)
        best_iteration = max(self._best_iteration, 1)
        return IterationReport(iteration, self._total, values, best_iteration, self._stopwatch.lap())

    def _loss(self, scores: Float64Array, iteration: int) -> float:
        """Return the mean loss, and keep the derivatives at these scores for the next tree.

        Where trees are dropped before the next one, that one is grown at other scores.
        """
        with self._stopwatch.timing(OBJECTIVE):
            gradient, hessian, losses = self._objective.with_value(scores, iteration)
        if not self._drops_trees:
            self._next_derivatives = gradient, hessian
        return float(losses.mean())

    def _select(self, iteration: int, values: Mapping[str, Mapping[str, float | None]]) -> None:
        """Note whether the iteration is the best so far; the last one is where it rescales earlier trees."""
        if "validation" not in self._measures or self._drops_trees:
            self._best_iteration = iteration
            return
        selected = values.get("validation", {}).get(self._spec.selection_metric)
        if selected is None:
            return
        value = selected if self._prefers_higher else -selected
        if value > self._best_value:
            self._best_iteration, self._best_value = iteration, value

    def _is_stalled(self) -> bool:
        stopping = self._spec.early_stopping
        return stopping is not None and len(self._history) - self._best_iteration >= stopping.rounds

    def _checkpoint(self) -> Checkpoint:
        return Checkpoint(
            self._booster.model_to_string(num_iteration=-1),
            {name: present_scores(self._booster, name).copy() for name in self._measures},
            self._best_iteration,
            self._best_value,
            list(self._history),
        )


def _start_drops(booster: lightgbm.Booster, seed: int) -> None:
    """Make a booster draw the trees to drop from the first number of its generator on.

    LightGBM leaves a flag uninitialised, by which the first tree, with nothing to drop, may take a number. To
    ask for scores sets the flag, and a new parameter starts the generator again.
    """
    booster.eval_train(lambda *_: [])
    booster.reset_parameter({"drop_seed": seed})


def _check_fit(spec: TrainingSpec, train_dataset: RankingDataset, validation: RankingDataset | None) -> None:
    if validation is None:
        if spec.early_stopping is not None:
            raise InvalidInput.at("/early_stopping", "needs validation data")
    elif validation.n_features != train_dataset.n_features:
        raise InvalidInput.at(
            "/validation",
            f"has {validation.n_features} features, the training data {train_dataset.n_features}",
        )
    elif validation.categories != train_dataset.categories:
        raise InvalidInput.at("/validation", "has other categories than the training data; use fit_features")


def _without_thread_count(model_text: str) -> str:
    """Drop the one line of the model text that depends on the machine and not on the model."""
    return re.sub(r"\[num_threads: \d+\]", "[num_threads: 0]", model_text)


def _refusal(message: str) -> str:
    if "num_features()" in message:
        return "no feature of the training data varies, so there is nothing to split on"
    # LightGBM ends its messages with the place in its own sources.
    return f"LightGBM refuses the training data: {message.split(' at /')[0].strip()}"
