"""Calls that measure models and rankings, and return results."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Unpack

from rankery.client.arguments import Columns, MeasurementFields, ModelJobFields, texts_field
from rankery.client.asynchronous.dataset_calls import DatasetSource
from rankery.client.asynchronous.job import AsyncJob
from rankery.client.asynchronous.job_calls import AsyncJobCalls
from rankery.client.asynchronous.resource import AsyncPages
from rankery.client.asynchronous.results import AsyncComparison, AsyncEvaluation, AsyncRanking
from rankery.client.asynchronous.system_calls import AsyncSystemCalls, System
from rankery.client.reading import read, without_none
from rankery.client.references import HasId, id_of
from rankery.client.schemas.answers import ComparisonEntry
from rankery.client.schemas.requests import (
    Contract,
    LossDiagnosticsRequest,
    PartialDependenceRequest,
)
from rankery.client.views.inspection import DriftReportEntryView, DriftReportView, Inspection


class AsyncMeasuringCalls(AsyncJobCalls, AsyncSystemCalls):
    """Calls that measure models and rankings."""

    async def evaluate(
        self,
        system: System,
        dataset: DatasetSource,
        *,
        metrics: Sequence[str] | None = None,
        contract: Contract | None = None,
        diagnostics: LossDiagnosticsRequest | None = None,
        seed: int | None = None,
        columns: Columns | None = None,
        **fields: Unpack[MeasurementFields],
    ) -> AsyncJob:
        """Evaluate a model or an uploaded ranking on a dataset.

        Args:
            system: A model (id, name, `name:version` or `name@alias`), a ranking (`rnk_…`), a model of
                LightGBM, or scores, as in `compare`.
            dataset: Dataset to measure on, in any form that `train` takes.
            metrics: Spellings such as `ndcg@10`; `ndcg@5` and `ndcg@10` when left out.
            contract: Conventions of the metrics: a preset such as `trec_eval`, or a dictionary.
            diagnostics: Compute diagnostics of a loss at the model's scores: `{"loss", "cutoff"}`.
            seed: Seed of the bootstrap intervals.
            columns: Column roles of a file or a frame, as in `upload_dataset`.
            **fields: `label_map`, `allow_absent_features`, `limits`, `priority`, `name`, `notes` and
                `project`, as in `train`; `tags` of the job.
        """
        dataset_id = await self._dataset_id(dataset, columns)
        spec = {
            "kind": "evaluate",
            **await self._system(system, dataset_id),
            "dataset_id": dataset_id,
            "metrics": texts_field(metrics),
            "contract": contract,
            "diagnostics": diagnostics,
            "seed": seed,
            **fields,
        }
        return await self.submit(without_none(spec))

    async def compare(
        self,
        dataset: DatasetSource,
        systems: "Sequence[System] | Mapping[str, System]",
        *,
        reference: int | None = None,
        correction: Literal["holm", "none"] | None = None,
        pool_folds: bool | None = None,
        metrics: Sequence[str] | None = None,
        contract: Contract | None = None,
        permutations: int | None = None,
        seed: int | None = None,
        columns: Columns | None = None,
        **fields: Unpack[MeasurementFields],
    ) -> AsyncJob:
        """Compare models and rankings, query by query, on one dataset.

        Args:
            dataset: Dataset to compare them on, in any form that `train` takes.
            systems: Two or more; each later one is compared with each earlier one. A model (id, name,
                `name:version`, `name@alias`) or a ranking (`rnk_…`); a `Booster` or `LGBMRanker`, which is
                imported; a file of a TREC run; scores as `upload_run` takes them: an array in the order of
                the dataset's rows, a frame, or `{query: {document: score}}`. A dictionary
                gives them names: `{"champion": "web@champion", "neural": scores}`.
            reference: Index, from 0, of the only system that all others are compared with.
            correction: Correction of p-values for multiple comparisons: `holm`, or `none` for a single
                planned test.
            pool_folds: Rank each query with the cross-validation model that was trained without its fold.
            metrics: Spellings such as `ndcg@10`; the first one decides the verdict.
            contract: Conventions of the metrics: a preset such as `trec_eval`, or a dictionary.
            permutations: Number of random permutations of Fisher's randomisation test.
            seed: Seed of the resampling.
            columns: Column roles of a file or a frame, as in `upload_dataset`.
            **fields: `label_map`, `allow_absent_features`, `limits`, `priority`, `name`, `notes` and
                `project`, as in `train`; `tags` of the job.
        """
        dataset_id = await self._dataset_id(dataset, columns)
        spec = {
            "kind": "compare",
            "dataset_id": dataset_id,
            "systems": await self._systems(systems, dataset_id),
            "reference": reference,
            "correction": correction,
            "pool_folds": pool_folds,
            "metrics": texts_field(metrics),
            "contract": contract,
            "permutations": permutations,
            "seed": seed,
            **fields,
        }
        return await self.submit(without_none(spec))

    async def rank_dataset(
        self,
        model: str | HasId,
        dataset: DatasetSource,
        *,
        columns: Columns | None = None,
        **fields: Unpack[ModelJobFields],
    ) -> AsyncJob:
        """Rank the documents of a dataset by a model; the job stores a ranking.

        Args:
            model: Id, name, `name:version` or `name@alias`.
            dataset: Dataset to rank, in any form that `train` takes.
            columns: Column roles of a file or a frame, as in `upload_dataset`.
            **fields: `allow_absent_features`, `limits`, `priority`, `name`, `notes` and `project`, as in
                `train`; `tags` of the job.
        """
        spec = {
            "kind": "rank",
            "model": id_of(model),
            "dataset_id": await self._dataset_id(dataset, columns),
            **fields,
        }
        return await self.submit(without_none(spec))

    async def inspect(
        self,
        model: str | HasId,
        dataset: DatasetSource,
        *,
        metric: str | None = None,
        repeats: int | None = None,
        within: str | None = None,
        partial_dependence: PartialDependenceRequest | None = None,
        contract: Contract | None = None,
        seed: int | None = None,
        columns: Columns | None = None,
        **fields: Unpack[MeasurementFields],
    ) -> AsyncJob:
        """Measure permutation importance and partial dependence of a model.

        Args:
            model: Id, name, `name:version` or `name@alias`.
            dataset: Dataset to measure on, in any form that `train` takes.
            metric: Metric whose drop is measured when a feature is shuffled; `ndcg@10` when left out.
            repeats: Number of shuffles of each feature.
            within: Shuffle within the whole `dataset` or within each `query`.
            partial_dependence: `{"features", "grid", "sample"}`.
            contract: Conventions of the metric: a preset such as `trec_eval`, or a dictionary.
            seed: Seed of the shuffling.
            columns: Column roles of a file or a frame, as in `upload_dataset`.
            **fields: `label_map`, `allow_absent_features`, `limits`, `priority`, `name`, `notes` and
                `project`, as in `train`; `tags` of the job.
        """
        spec = {
            "kind": "inspect",
            "model": id_of(model),
            "dataset_id": await self._dataset_id(dataset, columns),
            "metric": metric,
            "repeats": repeats,
            "within": within,
            "partial_dependence": partial_dependence,
            "contract": contract,
            "seed": seed,
            **fields,
        }
        return await self.submit(without_none(spec))

    async def evaluation(self, evaluation_id: str) -> AsyncEvaluation:
        """Return the mean and 95 % interval of each metric of an evaluation."""
        return self._bound(AsyncEvaluation, await self.transport.get(f"/v1/evaluations/{evaluation_id}"))

    def comparisons(self) -> AsyncPages[ComparisonEntry]:
        """List comparisons, newest first; `client.comparison` returns one with all its fields."""
        return AsyncPages(self.transport, "/v1/comparisons", lambda one: read(ComparisonEntry, one))

    async def comparison(self, comparison_id: str) -> AsyncComparison:
        """Return the conclusion for every pair of systems, and the tests behind it."""
        return self._bound(AsyncComparison, await self.transport.get(f"/v1/comparisons/{comparison_id}"))

    async def inspection(self, inspection_id: str) -> Inspection:
        """Return feature importance and partial dependence of a model on a dataset."""
        return read(Inspection, await self.transport.get(f"/v1/inspections/{inspection_id}"))

    def rankings(
        self, *, dataset: str | HasId | None = None, uploaded: bool | None = None
    ) -> AsyncPages[AsyncRanking]:
        """List stored rankings, newest first.

        Args:
            dataset: Only rankings of the queries of this dataset.
            uploaded: True for only uploaded runs, False for only rankings of models.
        """
        dataset_id = None if dataset is None else id_of(dataset)
        return self._pages(AsyncRanking, "/v1/rankings", dataset_id=dataset_id, uploaded=uploaded)

    async def ranking(self, ranking_id: str) -> AsyncRanking:
        """Return a stored ranking; `queries` lists its documents."""
        return self._bound(AsyncRanking, await self.transport.get(f"/v1/rankings/{ranking_id}", limit=1))


class AsyncDriftCalls(AsyncJobCalls):
    """Calls about drift."""

    async def drift(
        self,
        model: str | HasId,
        *,
        days: float | None = None,
        thresholds: Mapping[str, float] | None = None,
        **options: Any,
    ) -> AsyncJob:
        """Compare the score samples of a model with its training data, and with earlier samples.

        Args:
            model: Id, name, `name:version` or `name@alias`.
            days: Period of the samples in days before now; 7 when left out.
            thresholds: Thresholds of drift, `{"psi", "p", "missing"}`.
            **options: `compare_with_previous`, `dataset_id`, `queries_by`, `seed` and others of the
                API.

        Returns:
            The job; `client.drift_report(job.result["drift_report_id"])` returns the drift report.
        """
        spec = {"kind": "drift", "model": id_of(model), "days": days, "thresholds": thresholds, **options}
        return await self.submit(without_none(spec))

    def drift_reports(
        self,
        model: str | HasId | None = None,
        *,
        verdict: Literal["drift", "none", "too_few"] | None = None,
        project: str | None = None,
    ) -> AsyncPages[DriftReportEntryView]:
        """List drift reports, newest first.

        Args:
            model: Only reports of this version; of all versions if it is a name without a version.
            verdict: Only reports that found drift, that found none, or that had too few queries.
            project: Only reports of this project.
        """
        return AsyncPages(
            self.transport,
            "/v1/drift-reports",
            lambda one: read(DriftReportEntryView, one),
            model=None if model is None else id_of(model),
            verdict=verdict,
            project=project,
        )

    async def drift_report(self, report_id: str) -> DriftReportView:
        """Return a drift report, feature by feature."""
        return read(DriftReportView, await self.transport.get(f"/v1/drift-reports/{report_id}"))
