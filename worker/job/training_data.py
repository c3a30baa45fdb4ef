"""Load the datasets and labels of a training job."""

from dataclasses import asdict, dataclass, replace

import numpy as np

from core.clicks.training_data import query_of_list
from core.data import RankingDataset
from core.data.feature_alignment import AbsentFeatures
from core.data.folds import FoldAssignment, FoldColumn, Folds, HoldOut, RandomFolds
from core.data.labels import LabelRange, label_map, map_labels
from core.doctor import compare
from core.doctor.columns import measure_columns
from core.doctor.report import Finding
from core.errors import InvalidInput, ModelError
from core.jobs.base_training import BaseTrainingJob, HeldOutDataset
from core.jobs.measuring import Measures
from core.losses import Loss
from core.names import first_names
from core.scorers import Member
from core.store.artifacts.local_cache import LocalCache
from core.training import CachedBins, Checkpoint, TrainedModel
from core.training.labels import check_labels
from core.training.memory import memory_need
from worker.job.datasets import KeyedDataset, lists_as_training_data, load_dataset
from worker.job.distillation import label_by_teacher
from worker.job.reporter import Values
from worker.job.run import JobRun
from worker.job.sums import BaseModel, align_with_members, load_base, load_members, with_base
from worker.job.systems import ALLOW_ABSENT


def load_with_label_map(run: JobRun, dataset_id: str, measures: Measures) -> RankingDataset:
    """Load a dataset with the label map of a job applied.

    Raises:
        InvalidInput: The metrics cannot use the labels.
    """
    loaded = load_dataset(run.store, run.caches, dataset_id).dataset
    return apply_label_map(measures, loaded, None)


def apply_label_map(measures: Measures, dataset: RankingDataset, loss: Loss | None) -> RankingDataset:
    """Return a dataset with the label map of a job applied.

    Raises:
        InvalidInput: Loss or metrics cannot use the labels.
    """
    mapped = map_labels(dataset, label_map(measures.label_map))
    check_labels(LabelRange.of(mapped.labels), loss, measures.metrics, measures.contract)
    return mapped


@dataclass(frozen=True)
class TrainingData:
    """The datasets of one training job.

    Attributes:
        validation: Data that select the best iteration, or None.
        folds: Fold of each training query in a cross-validation, which has no `validation`.
        members: Models of a sum, empty for other trainings.
        label_findings: Findings on the model or the click log that gave the training labels, if any.
        left_out: Features of the job's dataset that it leaves out of the training data.
    """

    training: KeyedDataset
    validation: KeyedDataset | None
    test: KeyedDataset | None
    base: BaseModel | None = None
    folds: FoldAssignment | None = None
    label_findings: tuple[Finding, ...] = ()
    members: tuple[Member, ...] = ()
    left_out: frozenset[str] = frozenset()

    @classmethod
    def load(cls, run: JobRun, job: BaseTrainingJob) -> "TrainingData":
        """Load and split the datasets of a job, and apply its label map.

        Parts are held out before labels are mapped, so that the label map does not change the split.

        Raises:
            InvalidInput: The job names missing features or invalid categories; parts cannot be held out; a
                shown rank is missing or has no propensity; or loss or metrics cannot use the labels.
        """
        spec = job.training

        def load_part(dataset_id: str) -> KeyedDataset:
            dataset = load_dataset(run.store, run.caches, dataset_id)
            return dataset.as_selection() if job.distribution is not None else dataset

        whole, label_findings = _as_clicks(run, job, load_part(job.dataset_id))
        training = _select_features(whole, job)
        left_out = frozenset(whole.dataset.feature_names) - frozenset(training.dataset.feature_names)
        training, test = _split_off(training, "test", job.test, spec.seed)
        if test is None and (test_id := job.dataset_ids.get("test")):
            test = load_part(test_id)
        folds = None
        if isinstance(job.validation, HeldOutDataset):
            validation: KeyedDataset | None = _as_judgments(load_part(job.validation.dataset_id), job)
        elif isinstance(job.validation, RandomFolds | FoldColumn):
            validation, folds = None, _assign_folds(training, job.validation, spec.seed)
        else:
            training, validation = _split_off(training, "validation", job.validation, spec.seed)
        if job.labels_from is not None:
            training, label_findings = label_by_teacher(run, job, _training_queries(whole, job), training)
        if spec.bootstrap:
            training = training.bootstrapped(spec.seed)
        training = training.with_categories(spec.categorical_feature)
        members = load_members(run.store, job)
        training = align_with_members(members, training)
        base = load_base(run.store, job)
        if base is not None:
            training = _align_with_base(base, training, str(job.init_model))

        def with_label_map(
            part: KeyedDataset, loss: Loss | None, measures: Measures = job.measures
        ) -> KeyedDataset:
            return part.relabelled(apply_label_map(measures, part.dataset, loss))

        # The label map does not apply to the labels of a teacher.
        training_measures = (
            replace(job.measures, label_map={}) if job.labels_from is not None else job.measures
        )
        return cls(
            with_label_map(training, spec.loss if spec.trains_scorer else None, training_measures),
            with_label_map(validation, None) if validation else None,
            with_label_map(test, None) if test else None,
            base,
            folds,
            label_findings,
            members,
            left_out,
        )

    def require_features(self) -> None:
        """Refuse a validation or test dataset that lacks most features.

        The features that a model uses are unknown before its training: all features that vary are counted.

        Raises:
            FeaturesAbsent: A dataset lacks more than half of these features.
        """
        training = self.training.dataset
        for pointer, part in (("/validation", self.validation), ("/test_dataset_id", self.test)):
            if part is None or not AbsentFeatures.of(part.dataset, training.feature_names).names:
                continue
            varies = measure_columns(training).varies
            varying = tuple(np.array(training.feature_names, object)[varies])
            absent = AbsentFeatures.of(part.dataset, varying)
            role = "validation" if part is self.validation else "test"
            absent.refuse_majority(
                pointer, f"the {role} data", "a model of the training data", advice=ALLOW_ABSENT
            )

    def aligned(self) -> "TrainingData":
        """Return all datasets with the features and categories of the training data.

        Raises:
            DatasetError: A dataset has no features.
        """
        training = self.training.dataset
        features = training.feature_names, training.categories
        return replace(
            self,
            validation=self.validation.aligned(*features) if self.validation else None,
            test=self.test.aligned(*features) if self.test else None,
        )

    def fold(self, number: int) -> "TrainingData":
        """Return the datasets of the training that holds a fold out as validation data.

        Raises:
            ValueError: The job has no folds.
        """
        if self.folds is None:
            raise ValueError("the job has no folds")
        kept, held_out = self.folds.split(self.training.dataset, number)
        name = f"{self.training.features_key} by fold {number}"
        training, validation = (
            KeyedDataset(kept, f"{name}: kept"),
            KeyedDataset(held_out, f"{name}: held out"),
        )
        return replace(self, training=training, validation=validation, folds=None)

    def start(self, threads: int) -> Checkpoint | None:
        """Return the initial state of the training, None without a model to continue.

        Raises:
            InvalidInput: The training cannot continue the model.
        """
        if self.base is None:
            return None
        parts = {"train": self.training, "validation": self.validation}
        datasets = {name: part.dataset for name, part in parts.items() if part is not None}
        if not self.base.is_forest:
            return Checkpoint.of_scores(
                {
                    name: self.base.member.model.score(dataset.features, threads)
                    for name, dataset in datasets.items()
                }
            )
        try:
            return Checkpoint.of_model(self.base.member.content.decode(), datasets, threads)
        except ModelError as error:
            raise InvalidInput.at("/init_model", str(error)) from error

    def with_base(self, trees: TrainedModel) -> TrainedModel:
        """Return trained trees, as a sum with the base model unless they were appended to a forest."""
        if self.base is None or self.base.is_forest:
            return trees
        return with_base(self.base.member, trees)

    def cached_bins(self, cache: LocalCache) -> CachedBins:
        """Return the cache and the keys of the binned datasets."""
        validation = self.validation.features_key if self.validation else None
        return CachedBins(cache, self.training.features_key, validation)

    def findings(self, threads: int, job: BaseTrainingJob | None = None) -> list[Values]:
        """Return findings from comparing the training data with the other datasets, and on the labels.

        Args:
            job: The job, None for an automatic training. If it learns from clicks, labels of other datasets
                are judgments. Held-out lists of its click log share the documents of their queries.
        """
        learns_clicks = job is not None and job.training.clicks is not None
        is_click_log = job is not None and bool(job.click_log_ids)
        others: dict[str, RankingDataset] = {
            role: part.dataset
            for role, part in (("validation", self.validation), ("test", self.test))
            if part is not None
        }
        return [
            *({**asdict(finding), "role": "train"} for finding in self.label_findings),
            *(
                {**asdict(finding), "role": role}
                for role, dataset in others.items()
                for finding in compare(
                    self.training.dataset,
                    dataset,
                    role,
                    threads=threads,
                    compares_labels=not (learns_clicks and is_other_dataset(job, role)),
                    compares_documents=not is_click_log or is_other_dataset(job, role),
                    query_of=query_of_list if is_click_log else None,
                    left_out=self.left_out,
                )
            ),
        ]


def is_other_dataset(job: BaseTrainingJob | None, role: str) -> bool:
    """Return whether validation or test data are a separate dataset; always in an automatic training."""
    if job is None:
        return True
    return job.test is None if role == "test" else isinstance(job.validation, HeldOutDataset)


def load_and_align(run: JobRun, job: BaseTrainingJob) -> tuple[TrainingData, TrainingData]:
    """Load the datasets of a job: as stored, and with the features of the training data.

    Raises:
        InvalidInput: The specification is invalid for the data.
        FeaturesAbsent: A dataset lacks most features of the training data, and the job does not allow that.
        DatasetError: A dataset has no features.
    """
    run.reporter.phase("loading")
    loaded = TrainingData.load(run, job)
    if not job.allows_absent_features:
        loaded.require_features()
    data = loaded.aligned()
    if job.distribution is not None:
        return loaded, data  # each rank checks the memory of its shard
    training, validation = data.training.dataset, data.validation.dataset if data.validation else None
    # A cross-validation bins the documents of all folds.
    need = memory_need(job.training, training, training if data.folds else validation)
    run.bounds.require_memory(need.total, f"This training needs about {need}")
    return loaded, data


def _as_clicks(
    run: JobRun, job: BaseTrainingJob, whole: KeyedDataset
) -> tuple[KeyedDataset, tuple[Finding, ...]]:
    """Return the lists of the click log that a job trains on, with findings, or the dataset; check ranks."""
    findings: tuple[Finding, ...] = ()
    for log_id in job.click_log_ids.values():
        whole, findings = lists_as_training_data(run, log_id, whole)
    clicks = job.training.clicks
    if clicks is not None and job.training.corrects_clicks:
        clicks.ranks_of(whole.dataset)  # held-out lists need propensities, too
    return whole, findings


def _as_judgments(part: KeyedDataset, job: BaseTrainingJob) -> KeyedDataset:
    """Return a dataset without a column of ranks if the job trains on a click log: its labels are judgments.

    `TrainingSpec.selects_by` recognises held-out clicks by this column.
    """
    clicks, dataset = job.training.clicks, part.dataset
    if clicks is None or clicks.log is None or clicks.column not in dataset.document_columns:
        return part
    columns = {name: texts for name, texts in dataset.document_columns.items() if name != clicks.column}
    return replace(part, dataset=replace(dataset, document_columns=columns))


def _align_with_base(base: BaseModel, training: KeyedDataset, name: str) -> KeyedDataset:
    """Return the training data with the features and categories of the model to continue."""
    names, expected = training.dataset.feature_names, base.feature_names
    lacking, added = sorted(set(expected) - set(names)), sorted(set(names) - set(expected))
    if lacking:
        raise InvalidInput.at(
            "/init_model", f"the training data lack features of {name}: {first_names(lacking)}"
        )
    if added:
        raise InvalidInput.at(
            "/init_model",
            f"{name} does not have features of the training data: {first_names(added)};"
            ' list them in "features": {"leave_out": […]}',
        )
    return training.aligned(expected, base.categories)


def _select_features(training: KeyedDataset, job: BaseTrainingJob) -> KeyedDataset:
    """Return the training data with the features that the job uses; other datasets are aligned later."""
    if job.features is None:
        return training
    try:
        return training.aligned(job.features.of(training.dataset.feature_names), training.dataset.categories)
    except InvalidInput as invalid:
        raise invalid.below("/features") from invalid


def _assign_folds(training: KeyedDataset, folds: Folds, seed: int) -> FoldAssignment:
    try:
        return folds.assign(training.dataset, seed)
    except InvalidInput as invalid:
        raise invalid.below("/validation") from invalid


def _training_queries(whole: KeyedDataset, job: BaseTrainingJob) -> KeyedDataset:
    """Return the queries of a job's dataset that the job trains on, with all features."""
    kept, _ = _split_off(whole, "test", job.test, job.training.seed)
    if job.validation is None or isinstance(job.validation, HeldOutDataset | RandomFolds | FoldColumn):
        return kept
    return _split_off(kept, "validation", job.validation, job.training.seed)[0]


def _split_off(
    training: KeyedDataset, role: str, part: HoldOut | None, seed: int
) -> tuple[KeyedDataset, KeyedDataset | None]:
    """Split a held-out part from the training data; without one, return the training data and None."""
    if part is None:
        return training, None
    try:
        return training.split(part, seed)
    except InvalidInput as invalid:
        raise invalid.below(f"/{role}") from invalid
