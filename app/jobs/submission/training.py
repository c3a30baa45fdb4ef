"""Check requests to train; the errors are those of `app.jobs.submission.submit`."""

from collections.abc import Iterable, Mapping, Sequence

from app.datasets.hold_out_schemas import FoldColumn, HeldOutColumn, HeldOutDataset, HeldOutFold, RandomFolds
from app.http.pointers import pointers_below, problems_of
from app.http.schemas import Json
from app.jobs.requests.training import TrainRequest
from app.jobs.submission import checks
from app.jobs.submission.clicks import with_propensities
from core.data.feature_choice import FeatureChoice
from core.errors import InputProblem, InvalidInput
from core.jobs.train import TrainJob
from core.losses import check_combination, loss_values
from core.metrics import Conventions
from core.scorers import Trees, WeightedSum
from core.store import Dataset, Model, Transaction
from core.stored import read_entries, write_entries
from core.training import TrainingSpec, training_spec
from core.training.automatic import AutomaticChoice
from core.training.by_feature import by_column
from core.training.distillation import PREFIX, teacher_reference
from core.training.distribution import Distribution, distribution_problems
from core.training.options import changed_options
from core.training.spec import check_numeric, scorer_json


def resolve_training(tx: Transaction, request: TrainRequest) -> TrainJob:
    """Check a training request by itself and against its datasets, and return its job specification."""
    request = with_propensities(tx, request)
    parsed, contract = _parse_request(request)
    if parsed.clicks is not None and parsed.clicks.log is not None:
        tx.click_logs.ready(parsed.clicks.log)
    training_dataset, *other_datasets = checks.require_ready(tx, _dataset_ids(request))
    if checks.has_no_features(training_dataset):
        raise InvalidInput.at(
            "/dataset_id",
            "has judgments without features; it can evaluate rankings, but no model can be trained on it",
        )
    _check_parts(request, training_dataset)
    _check_features(request, parsed, training_dataset)
    # A teacher replaces the labels of the training dataset, so that they matter for held-out queries only.
    if request.labels_from is None or _holds_out_own_queries(request):
        loss = parsed.loss if parsed.trains_scorer and request.labels_from is None else None
        checks.check_dataset_labels(training_dataset, request.label_map, loss, parsed.all_metrics, contract)
    for dataset in other_datasets:
        checks.check_dataset_labels(dataset, request.label_map, None, parsed.all_metrics, contract)
    automatic = _automatic_choice(request, training_dataset) if isinstance(parsed.scorer, Trees) else None
    spec = {
        **request.model_dump(mode="json"),
        **_scorer_and_hyperparameters(tx, parsed, automatic),
        "automatic": automatic and write_entries(automatic),
        "loss": loss_values(parsed.loss) if parsed.trains_scorer else None,
        # Includes the metric of early stopping, even if the request does not list it.
        "metrics": list(parsed.all_metrics),
        "contract": contract.to_json(),
        # Store the version of a model: an alias may move.
        "init_model": request.init_model and _resolved_base(tx, request.init_model),
        "labels_from": request.labels_from
        and PREFIX + tx.models.resolve(teacher_reference(request.labels_from)).reference,
    }
    return TrainJob.from_json(spec)


def _holds_out_own_queries(request: TrainRequest) -> bool:
    """Return whether queries of the training dataset are held out, and thus measured by its labels."""
    validates_on_part = request.validation is not None and not isinstance(request.validation, HeldOutDataset)
    return request.test is not None or validates_on_part


def _resolved_base(tx: Transaction, init_model: str) -> str:
    model = tx.models.resolve(init_model)
    if model.kind == WeightedSum.kind:
        raise InvalidInput.at("/init_model", f"{model.reference} is a sum of models; begin with one of them")
    return model.reference


def _scorer_and_hyperparameters(
    tx: Transaction, parsed: TrainingSpec, automatic: AutomaticChoice | None
) -> Json:
    """Return the entries `scorer` and `hyperparameters` to store.

    Aliases are resolved to versions, and automatic choices are filled in.
    """
    stored = scorer_json(parsed)
    if isinstance(parsed.scorer, WeightedSum):
        members = [tx.models.resolve(reference) for reference in parsed.scorer.models]
        for index, member in enumerate(members):
            if member.kind == WeightedSum.kind:
                detail = f"{member.reference} is a sum of models itself; list its members instead"
                raise InvalidInput.at(f"/scorer/models/{index}", detail)
        _check_same_categories(tx, members)
        stored["scorer"] = {**stored["scorer"], "models": [member.reference for member in members]}
    chosen = dict(automatic.chosen) if automatic else {}
    return {"scorer": None, **stored, "hyperparameters": stored["hyperparameters"] | chosen}


def _check_same_categories(tx: Transaction, members: Sequence[Model]) -> None:
    """Refuse members of a sum if a feature has categories in one of them, and numbers in another.

    The job also refuses different values of a category, which only the files of the models have.
    """
    kinds = {True: "categories", False: "numbers"}
    first: dict[str, tuple[Model, bool]] = {}
    for index, member in enumerate(members):
        categorical = _categorical_features(tx, member)
        if categorical is None:
            continue
        for name in member.feature_names:
            is_categorical = name in categorical
            other, was_categorical = first.setdefault(name, (member, is_categorical))
            if is_categorical != was_categorical:
                detail = f"has {kinds[is_categorical]} in the feature {name!r}"
                contrast = f"but {other.reference} has {kinds[was_categorical]}"
                raise InvalidInput.at(f"/scorer/models/{index}", f"{member.reference} {detail}, {contrast}")


def _categorical_features(tx: Transaction, model: Model) -> set[str] | None:
    """Return the categorical features of a model; None if unknown, as of imported models.

    Datasets of earlier releases are stored without their categorical features.
    """
    if model.dataset_id is None or not tx.datasets.exists(model.dataset_id):
        return None
    in_dataset = (tx.datasets.get(model.dataset_id).statistics or {}).get("categorical_features")
    declared = ((model.lineage or {}).get("spec") or {}).get("categorical_feature") or ()
    return None if in_dataset is None else {*in_dataset, *declared}


def _parse_request(request: TrainRequest) -> tuple[TrainingSpec, Conventions]:
    problems = [
        *checks.repeated_metric_problems(request.metrics),
        *_data_problems(request),
        *checks.label_map_problems(request.label_map),
        *_feature_problems(request),
        *_tree_option_problems(request),
        *_sum_problems(request),
        *_teacher_problems(request),
    ]
    contract = checks.conventions_of(request.contract, problems)
    if request.early_stopping and request.validation is None:
        problems.append(InputProblem("/early_stopping", "needs validation data to watch; set validation"))
    try:
        parsed = training_spec({**training_values(request), "contract": contract.to_json()})
    except InvalidInput as invalid:
        raise InvalidInput(*problems, *invalid.problems) from invalid
    problems += problems_of(lambda: check_combination(parsed.loss), "/loss") if parsed.trains_scorer else ()
    problems += _distribution_problems(request, parsed)
    if problems:
        raise InvalidInput(*problems)
    return parsed, contract


def training_values(request: TrainRequest) -> Json:
    """Return the JSON of a request.

    For other scorers than trees, `hyperparameters` has only the values that were sent, without defaults.
    """
    values: Json = request.model_dump(mode="json")
    if _scorer_kind(request) != Trees.kind:
        values["hyperparameters"] = request.hyperparameters.model_dump(mode="json", exclude_unset=True)
    return values


def _automatic_choice(request: TrainRequest, dataset: Dataset) -> AutomaticChoice | None:
    """Choose hyperparameters by the size of the training dataset, None if not requested."""
    if not request.hyperparameters.auto:
        return None
    features = None if request.features is None else request.features.model_dump()
    return AutomaticChoice.for_dataset(
        dataset.statistics, features, dict.fromkeys(request.hyperparameters.model_fields_set)
    )


def _dataset_ids(request: TrainRequest) -> list[str]:
    ids = [request.dataset_id, request.test_dataset_id]
    if isinstance(request.validation, HeldOutDataset):
        ids.append(request.validation.dataset_id)
    return [dataset_id for dataset_id in ids if dataset_id is not None]


def _data_problems(request: TrainRequest) -> Iterable[InputProblem]:
    if isinstance(request.validation, HeldOutDataset) and request.validation.dataset_id == request.dataset_id:
        yield InputProblem(
            "/validation/dataset_id", "is the training dataset; validate on another, or on a fraction of it"
        )
    if request.test_dataset_id == request.dataset_id:
        yield InputProblem("/test_dataset_id", "is the training dataset; test on data the model has not seen")
    if request.test is not None and request.test_dataset_id is not None:
        yield InputProblem("/test", "cannot be combined with test_dataset_id; send only one of them")
    for name, part in (("validation", request.validation), ("test", request.test)):
        if isinstance(part, HeldOutFold) and part.fold > part.folds:
            yield InputProblem(f"/{name}/fold", f"must be at most {part.folds}, the number of folds")


def _feature_problems(request: TrainRequest) -> Sequence[InputProblem]:
    if request.features is None:
        return ()
    features = request.features.model_dump()
    return problems_of(lambda: read_entries(FeatureChoice, features), "/features")


def _check_features(request: TrainRequest, parsed: TrainingSpec, dataset: Dataset) -> None:
    """Refuse features that the training dataset lacks, or that the scorer cannot use.

    Datasets of earlier releases may be stored without names and categorical features.
    """
    feature_names: Sequence[str] | None = dataset.feature_names
    if feature_names is None:
        return
    if request.features is not None:
        with pointers_below("/features"):
            feature_names = read_entries(FeatureChoice, request.features.model_dump()).of(feature_names)
    if isinstance(parsed.scorer, Trees):
        by_column(parsed.hyperparameters, feature_names)
    elif parsed.scorer.is_network:
        categorical = (dataset.statistics or {}).get("categorical_features") or ()
        check_numeric(set(categorical).intersection(feature_names))


def _scorer_kind(request: TrainRequest) -> str:
    return Trees.kind if request.scorer is None else str(request.scorer.kind)


def _sum_problems(request: TrainRequest) -> Iterable[InputProblem]:
    """Yield the problems of a request for a sum of models, which learns weights only."""
    scorer = request.scorer
    if scorer is None or scorer.kind != WeightedSum.kind:
        return
    if request.loss is not None:
        yield InputProblem(
            "/loss",
            "can only be used if a scorer is trained; a sum of models fits its weights to the first metric",
        )
    if scorer.weights is None and request.validation is None:
        yield InputProblem("/validation", "is required to fit the weights; or set /scorer/weights")
    if isinstance(request.validation, RandomFolds | FoldColumn):
        yield InputProblem(
            "/validation",
            "cannot be folds for a sum of models; hold out a part of the dataset, or validate on another"
            " dataset",
        )
    fields = ("early_stopping", "diagnostics", "features", "labels_from", "clicks")
    options = changed_options(request).keys() - {"metric_interval"}  # which earlier releases ignored
    for name in (*(field for field in fields if getattr(request, field)), *sorted(options)):
        yield InputProblem(
            f"/{name}", "can only be used if a scorer is trained; a sum does not change its models"
        )


def _tree_option_problems(request: TrainRequest) -> Iterable[InputProblem]:
    """Yield a problem for each option of trees in a request for another scorer."""
    if _scorer_kind(request) == Trees.kind:
        return
    detail = "can only be used for trees; remove it, or set scorer to trees"
    if request.hyperparameters.auto:
        yield InputProblem("/hyperparameters/auto", detail)
    if request.init_model is not None:
        yield InputProblem("/init_model", detail)


def _teacher_problems(request: TrainRequest) -> Iterable[InputProblem]:
    if request.labels_from is None:
        return
    if request.clicks is not None and _scorer_kind(request) != WeightedSum.kind:
        yield InputProblem(
            "/clicks", "cannot be combined with labels_from: a model learns from clicks or from a teacher"
        )
    if isinstance(request.validation, RandomFolds | FoldColumn):
        yield InputProblem(
            "/validation",
            "cannot be folds with labels_from, since each fold would be evaluated with the teacher's scores;"
            " hold out a part of the dataset, or validate on another dataset",
        )


def _distribution_problems(request: TrainRequest, parsed: TrainingSpec) -> Iterable[InputProblem]:
    if request.distribution is None:
        return ()
    requested = request.distribution.model_dump()
    problems = problems_of(lambda: read_entries(Distribution, requested, exact=True), "/distribution")
    has_folds = isinstance(request.validation, RandomFolds | FoldColumn)
    return problems or distribution_problems(parsed, has_folds=has_folds)


def _check_parts(request: TrainRequest, dataset: Dataset) -> None:
    """Refuse more folds than the dataset has queries, and columns that the dataset lacks."""
    statistics = dataset.statistics or {}
    columns: Mapping[str, list[Json]] = statistics.get("query_columns") or {}
    problems = []
    for name, part in (("validation", request.validation), ("test", request.test)):
        if isinstance(part, HeldOutFold | RandomFolds) and part.folds > statistics.get("queries", part.folds):
            problems.append(
                InputProblem(
                    f"/{name}/folds",
                    f"must be at most {statistics['queries']}, the number of queries of the dataset",
                )
            )
        pointer, column = _column(name, part)
        if column is not None and column not in columns:
            existing = ", ".join(columns) or "none"
            detail = f"the dataset has no such query column; it has {existing}"
            problems.append(InputProblem(pointer, detail))
    if problems:
        raise InvalidInput(*problems)


def _column(role: str, part: object) -> tuple[str, str | None]:
    """Return the pointer to a hold-out's column of queries, and its name."""
    if isinstance(part, FoldColumn):
        return f"/{role}/fold_column", part.fold_column
    return f"/{role}/column", part.column if isinstance(part, HeldOutColumn) else None
