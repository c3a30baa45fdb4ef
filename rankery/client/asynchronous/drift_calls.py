"""Calls about drift."""

from collections.abc import Mapping
from typing import Any, Literal

from rankery.client.asynchronous.job import AsyncJob
from rankery.client.asynchronous.job_calls import AsyncJobCalls
from rankery.client.asynchronous.pages import AsyncPages
from rankery.client.reading import read, without_none
from rankery.client.references import HasId, id_of
from rankery.client.views.drift import DriftReportEntryView, DriftReportView


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

        Raises:
            RankeryApiError: The service refused the request.
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
        """Return a drift report, feature by feature.

        Raises:
            RankeryApiError: The id is unknown.
        """
        return read(DriftReportView, await self.transport.get(f"/v1/drift-reports/{report_id}"))
