"""Export stored models and compare them over stored data."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from app.datasets.browsing import DatasetFiles
from app.http.services import Services
from app.models.export_schemas import ExportParity, ExportQuery, ParityQuery
from core.data import RankingDataset
from core.data.feature_alignment import AbsentFeatures, align_features
from core.errors import DatasetError, FeaturesAbsent, NotFound, WrongState
from core.export import Export, ParityReport, archive, export_model, golden_vectors, parity, target_of
from core.scorers import ScoringModel, categories_by_name
from core.store import Model, Store
from core.store.artifacts.keys import model_key

MAX_DOCUMENTS = 10_000
_MAX_CELLS = 20_000_000  # documents times features: 80 MB
_NO_DATA = (
    "No dataset was compared: the model has no dataset that can be read. The golden vectors are synthetic;"
    " set dataset_id to use your own documents."
)


@dataclass(frozen=True)
class ExportedFile:
    """A file to download, with the name under which browsers save it; a file to show has none."""

    content: bytes | str
    media_type: str
    filename: str | None

    @property
    def headers(self) -> dict[str, str]:
        """Headers of the response besides its media type."""
        attachment = f'attachment; filename="{self.filename}"'
        return {} if self.filename is None else {"Content-Disposition": attachment}


@dataclass(frozen=True)
class ExportWithParity:
    """An export with its parity report.

    Attributes:
        dataset: The compared documents, None where no dataset could be read.
        about: Model, dataset and options of the comparison, which `parity.json` has beside the report.
    """

    export: Export
    report: ParityReport
    dataset: RankingDataset | None
    about: dict[str, Any]


def model_of(services: Services, reference: str) -> Model:
    """Resolve a model reference.

    Raises:
        NotFound: No model has this reference.
    """
    with services.store.read() as tx:
        return tx.models.resolve(reference)


def check_export(query: ExportQuery, model: Model) -> ExportedFile:
    """Check format and options without exporting; return the file without its content.

    Raises:
        InvalidInput: The format is unknown, or does not take an option.
    """
    target = target_of(model.kind, query.format, query.options())
    return ExportedFile("", target.media_type, f"{model.name}-{model.version}-{target.filename}")


def check_archive(query: ParityQuery, model: Model) -> ExportedFile:
    """Check and return an archive as `check_export`."""
    check_export(query, model)
    return ExportedFile("", "application/zip", f"{model.name}-{model.version}-{query.format}.zip")


def check_parity(query: ParityQuery, model: Model) -> ExportedFile:
    """Check and return a parity report as `check_export`."""
    check_export(query, model)
    return ExportedFile("", "application/json", None)


def check_dataset(query: ExportQuery, store: Store) -> None:
    """Check that the dataset to compare over exists and is ready.

    Raises:
        NotFound: There is no such dataset.
        WrongState: The dataset is not ready.
    """
    if isinstance(query, ParityQuery) and query.dataset_id is not None:
        DatasetFiles(store, query.dataset_id)


def export_file(query: ExportQuery, model: Model, store: Store) -> ExportedFile:
    """Export a model as a file for another engine; raise the errors of `exported`."""
    return replace(check_export(query, model), content=exported(store, model, query).content)


def archive_file(query: ParityQuery, model: Model, store: Store) -> ExportedFile:
    """Export a model as an archive with its parity report; raise the errors of `export_with_parity`."""
    checked = check_archive(query, model)
    compared = export_with_parity(store, model, query)
    vectors = golden_vectors(compared.export, compared.dataset)
    return replace(checked, content=archive(compared.export, compared.report, compared.about, vectors))


def parity_json(query: ParityQuery, model: Model, store: Store) -> bytes:
    """Return the parity report as JSON; raise the errors of `export_with_parity`."""
    compared = export_with_parity(store, model, query)
    report = ExportParity.model_validate({**compared.about, **asdict(compared.report)})
    # Like parity.json in archives, without the fields of other kinds of models.
    return report.model_dump_json(exclude_unset=True).encode()


def exported(store: Store, model: Model, query: ExportQuery) -> Export:
    """Export a model.

    Raises:
        InvalidInput: The format is unknown, or does not take an option.
        ModelError: The format cannot express the model.
    """
    return export_model(
        store.verified.read_bytes(model_key(model.id), model.sha256),
        query.format,
        tuple(model.feature_names),
        f"{model.name}-{model.version}",
        query.options(),
        model.precision,
    )


def export_with_parity(store: Store, model: Model, query: ParityQuery) -> ExportWithParity:
    """Export a model and compare the export with the model.

    Raises:
        InvalidInput: See `exported`.
        ModelError: See `exported`.
        NotFound: There is no such dataset.
        WrongState: The dataset is not ready.
        DatasetError: The dataset has no features.
        FeaturesAbsent: The dataset lacks most of the model's features.
    """
    export = exported(store, model, query)
    dataset_id, dataset = _documents(store, model, export.source.model, query.dataset_id)
    report = parity(export, dataset)
    if dataset is None:
        report = replace(report, notes=(*report.notes, _NO_DATA))
    about = {
        "model": {"id": model.id, "name": model.name, "version": model.version},
        "dataset_id": dataset_id,
        "options": query.model_dump(exclude={"format", "dataset_id"}, exclude_defaults=True),
    }
    return ExportWithParity(export, report, dataset, about)


def _documents(
    store: Store, model: Model, scorer: ScoringModel, dataset_id: str | None
) -> tuple[str | None, RankingDataset | None]:
    """Read the documents to compare: of the requested dataset, else of the model's test or training data."""
    if dataset_id is not None:
        return dataset_id, _read(store, model, scorer, dataset_id)
    with store.read() as tx:
        tested_on = tx.jobs.get(model.job_id).spec.get("test_dataset_id")
    for candidate_id in filter(None, (tested_on, model.dataset_id)):
        try:
            return candidate_id, _read(store, model, scorer, candidate_id)
        except (NotFound, WrongState, DatasetError, FeaturesAbsent):
            continue
    return None, None


def _read(store: Store, model: Model, scorer: ScoringModel, dataset_id: str) -> RankingDataset:
    limit = max(1, min(MAX_DOCUMENTS, _MAX_CELLS // len(model.feature_names)))
    dataset, names = DatasetFiles(store, dataset_id).first_queries(limit), tuple(model.feature_names)
    AbsentFeatures.of(dataset, names).refuse_majority("/dataset_id", f"dataset {dataset_id}", model.reference)
    return align_features(dataset, names, categories_by_name(scorer, names))
