"""The boosting loop: LightGBM grows trees from the derivatives of a loss."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace

import lightgbm

from core.data import RankingDataset
from core.errors import InvalidInput
from core.ranges import use_threads
from core.training.binning import Binning, Bins, CachedBins
from core.training.checkpoint import Checkpoint
from core.training.findings import Growth
from core.training.grower import Grower, lightgbm_parameters, portable_text
from core.training.growth import growth_of
from core.training.history import METRICS, History
from core.training.measure import Measure, check_fit
from core.training.models import EndTraining, IterationReport, TrainingCheckpoint
from core.training.spec import TrainingSpec
from core.types import Float64Array, OnProgress

Snapshot = Callable[[], TrainingCheckpoint]
OnScores = Callable[[int, Float64Array], None]


@dataclass(frozen=True)
class TrainedRanker:
    """A trained model of trees.

    Attributes:
        model_text: Model in LightGBM's text format, truncated after the best iteration.
        best_iteration: Number of trees kept, without the trees of the initial model.
        growth: Details of a suspiciously early end or of trees with one leaf, else None.
        base_trees: Trees of the initial model, 0 without one.
        propensities: Propensity of each rank at the end of the training, where they were learnt, else None.
    """

    model_text: str
    best_iteration: int
    feature_names: tuple[str, ...]
    history: list[IterationReport] = field(repr=False)
    growth: Growth | None = None
    base_trees: int = 0
    propensities: tuple[float, ...] | None = None

    @property
    def kept_iterations(self) -> int:
        """Return the number of trees in the model."""
        return self.base_trees + self.best_iteration

    @property
    def content(self) -> bytes:
        """Return the model in its stored form."""
        return self.model_text.encode()


def train(
    spec: TrainingSpec,
    train_dataset: RankingDataset,
    validation_dataset: RankingDataset | None = None,
    on_iteration: Callable[[IterationReport, Snapshot], None] | None = None,
    threads: int = 1,
    cached_bins: CachedBins | None = None,
    resume: Checkpoint | None = None,
    on_binning: OnProgress | None = None,
    bins: Bins | None = None,
    on_scores: OnScores | None = None,
) -> TrainedRanker:
    """Train a ranker.

    The same specification and data give the same model text, byte for byte, on any number of threads and
    after any number of interruptions.

    Args:
        validation_dataset: Data that selects the best iteration; all iterations are kept without it, and by
            `dart`.
        on_iteration: Called after each iteration with its report and a function that takes a checkpoint;
            may raise `EndTraining` to end the training, or another exception to abandon it. If no further
            split is found after an iteration without metrics, called again with its report and metrics.
        threads: Threads for LightGBM and the loss.
        cached_bins: Cache of binned features, which does not change the model.
        resume: A checkpoint of the same resumable specification and data, or of an initial model, see
            `Checkpoint.of_model`.
        on_binning: Called with the documents binned and the total, and at the end with both equal; may raise
            to stop.
        bins: The binned documents, see `bin_features`; None to bin the datasets.
        on_scores: Called after each measured iteration with its number and the validation scores, an array
            that the next iteration overwrites.

    Raises:
        InvalidInput: Early stopping has no validation data, the datasets differ in features or categories, or
            a hyperparameter names an unknown feature. Also for data that LightGBM refuses, such as data
            without a feature that varies.
    """
    check_fit(spec, train_dataset, validation_dataset)
    use_threads(threads)
    with _lightgbm_errors_as_invalid_input():
        bins = bins or _binning(spec, train_dataset, threads, cached_bins, on_binning)
        training = _Training(spec, train_dataset, validation_dataset, threads, bins, resume, on_scores)
        return training.run(on_iteration)


def bin_features(
    spec: TrainingSpec,
    dataset: RankingDataset,
    threads: int = 1,
    cached_bins: CachedBins | None = None,
    on_binning: OnProgress | None = None,
) -> lightgbm.Dataset:
    """Bin a dataset's features once, for several trainings with `SharedBins`; see `train` for the arguments.

    Raises:
        InvalidInput: LightGBM refuses the data, for instance because no feature varies.
    """
    with _lightgbm_errors_as_invalid_input():
        return _binning(spec, dataset, threads, cached_bins, on_binning).datasets(dataset)["train"]


@contextmanager
def _lightgbm_errors_as_invalid_input() -> Iterator[None]:
    try:
        yield
    except lightgbm.basic.LightGBMError as error:
        raise _refusal(str(error)) from error


def _binning(
    spec: TrainingSpec,
    dataset: RankingDataset,
    threads: int,
    cached_bins: CachedBins | None,
    on_binning: OnProgress | None,
) -> Binning:
    parameters = lightgbm_parameters(spec, dataset, threads)
    return Binning(spec.hyperparameters, parameters, cached_bins, on_binning)


class _Training:
    """A training in one process."""

    def __init__(
        self,
        spec: TrainingSpec,
        train_dataset: RankingDataset,
        validation: RankingDataset | None,
        threads: int,
        bins: Bins,
        resume: Checkpoint | None,
        on_scores: OnScores | None = None,
    ) -> None:
        self._spec = spec
        self._threads = threads
        self._on_scores = on_scores
        self._bins = bins
        self._dataset = train_dataset
        self._resume = resume
        self._total = spec.hyperparameters.num_iterations
        self._drops_trees = spec.hyperparameters.boosting == "dart"
        self._grower = Grower(spec, train_dataset, validation, threads, bins, resume)
        self._measures = {"train": Measure(spec, train_dataset)}
        if validation is not None:
            self._measures["validation"] = Measure(spec, validation)
        self._history = History(spec, resume, validates=spec.selects_by(validation))

    def run(self, on_iteration: Callable[[IterationReport, Snapshot], None] | None) -> TrainedRanker:
        history, stopwatch = self._history, self._grower.stopwatch
        with suppress(EndTraining):
            while not history.is_complete and self._grower.grow():
                values = self._mean_values() if history.is_measured_next else {}
                report = history.add(values, stopwatch.lap(), self._grower.diagnostics_values)
                if on_iteration is not None:
                    on_iteration(report, self._checkpoint)
            # After an iteration without a split, the scores of `dart` lack dropped trees.
            if not history.is_complete and history.has_unmeasured_end and not self._drops_trees:
                report = history.measure_end(self._mean_values(), stopwatch.lap())
                if on_iteration is not None:
                    on_iteration(report, self._checkpoint)
        self._grower.finish()
        best_iteration = history.kept_iterations
        text = self._model_text(best_iteration)
        return TrainedRanker(
            portable_text(text),
            best_iteration,
            self._dataset.feature_names,
            history.reports,
            growth_of(
                self._spec,
                text,
                best_iteration,
                self._dataset.n_queries,
                self._grower,
                base_trees=self._grower.base_trees,
            ),
            self._grower.base_trees,
            self._grower.propensities,
        )

    def _model_text(self, best_iteration: int) -> str:
        if self._drops_trees and self._grower.is_exhausted and self._grower.iterations_done < self._total:
            # After an iteration without a split, LightGBM leaves dropped trees negated. Repeat the training
            # without this iteration.
            shortened = replace(self._spec.hyperparameters, num_iterations=self._grower.iterations_done)
            spec = replace(
                self._spec, hyperparameters=shortened, metric_interval=self._grower.iterations_done
            )
            return (
                _Training(spec, self._dataset, None, self._threads, self._bins.silent(), self._resume)
                .run(None)
                .model_text
            )
        return self._grower.model_text(best_iteration)

    def _mean_values(self) -> dict[str, Mapping[str, float | None]]:
        """Return the mean loss and metrics by dataset."""
        values: dict[str, Mapping[str, float | None]] = {}
        with self._grower.stopwatch.timing(METRICS):
            for name, measure in self._measures.items():
                scores = self._grower.scores(name)
                loss = {"loss": float(self._grower.losses(scores).mean())} if name == "train" else {}
                values[name] = loss | measure(scores)
                if name == "validation" and self._on_scores is not None:
                    self._on_scores(self._grower.iterations_done, scores)
        return values

    def _checkpoint(self) -> Checkpoint:
        scores = {name: self._grower.scores(name).copy() for name in self._measures}
        return Checkpoint.after(self._history, self._grower.state_text(), scores, self._grower.bias_arrays())


def _refusal(message: str) -> InvalidInput:
    if "num_features()" in message:
        return InvalidInput.at(
            "/dataset_id", "no feature of the training data varies, so that no split is possible"
        )
    if "(num_data) > (0)" in message:
        return InvalidInput.at(
            "/hyperparameters/bagging_fraction", "draws no document for a tree, since there are so few"
        )
    # LightGBM ends its messages with the location in its sources.
    return InvalidInput.at(
        "/dataset_id", f"LightGBM refuses the training data: {message.split(' at /')[0].strip()}"
    )
