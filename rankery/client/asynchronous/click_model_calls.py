"""Calls that fit click models to a log, and judge documents by a click model."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Unpack

from rankery.client.arguments import JobLabels
from rankery.client.asynchronous.dataset_references import AsyncDatasetReferences, DatasetSource
from rankery.client.asynchronous.job import AsyncJob
from rankery.client.asynchronous.job_calls import AsyncJobCalls
from rankery.client.reading import given
from rankery.client.references import HasId, id_of


class AsyncClickModelCalls(AsyncJobCalls, AsyncDatasetReferences):
    """Calls that fit click models to a log, and judge documents by a click model."""

    async def fit_click_model(
        self,
        log: str | HasId,
        models: str | Sequence[str] = "pbm",
        *,
        held_out: float | None = None,
        priority: str | None = None,
        options: Mapping[str, Any] | None = None,
        **labels: Unpack[JobLabels],
    ) -> AsyncJob:
        """Fit click models to a log, compare them on held-out lists, and report the best one.

        Args:
            log: The log, or its id.
            models: One or several of `ctr`, `coec`, `cascade`, `dcm`, `pbm`, `ubm`, `sdbn` and `dbn`.
            held_out: Share of users, or of lists where the log has no users, to compare on; 0.2 by default.
            priority: `low`, `normal` or `high`.
            options: `iterations`, `max_rank`, `prior_clicks`, `prior_skips`, `resamples`, `seed` and others.
            **labels: `name`, `notes`, `tags` and `project` of the job.

        Returns:
            The job; its result has a `sentence`, the `comparison` and the parameters of the `click_model`.

        Raises:
            RankeryApiError: The service refused the request.
        """
        spec = {
            "kind": "click-model",
            "click_log_id": id_of(log),
            "models": [models] if isinstance(models, str) else list(models),
            "options": options and dict(options),
            "held_out": held_out,
            "priority": priority,
            **labels,
        }
        return await self.submit(given(spec))

    async def judge_clicks(
        self,
        log: str | HasId,
        features: DatasetSource,
        model: str = "pbm",
        *,
        dataset_name: str | None = None,
        judged: DatasetSource | None = None,
        unjudged: Literal["drop", "zero"] | None = None,
        priority: str | None = None,
        options: Mapping[str, Any] | None = None,
        judgments: Mapping[str, Any] | None = None,
        **labels: Unpack[JobLabels],
    ) -> AsyncJob:
        """Grade documents by a click model, and join the grades with features as a dataset.

        Args:
            log: The log, or its id.
            features: The dataset with the features, in any form that `train` takes; its labels are replaced.
            model: The click model.
            dataset_name: Name of the dataset; that of the log when left out.
            judged: A judged dataset to compare the grades with, in the same forms.
            unjudged: Documents without a grade: `drop` (default), or `zero` to label them 0.
            priority: `low`, `normal` or `high`.
            options: Options of the click model, as in `fit_click_model`.
            judgments: `min_impressions`, `quantiles` or `cuts`, and `shrink`.
            **labels: `name`, `notes`, `tags` and `project` of the job.

        Returns:
            The job; `client.dataset(job.result["dataset_id"])` returns the new dataset.

        Raises:
            RankeryApiError: The service refused the request.
        """
        spec = {
            "kind": "judge",
            "click_log_id": id_of(log),
            "features_dataset_id": await self._dataset_id(features),
            "dataset_name": dataset_name,
            "judged_dataset_id": None if judged is None else await self._dataset_id(judged),
            "options": {"model": model, **(options or {})},
            "judgments": judgments and dict(judgments),
            "unjudged": unjudged,
            "priority": priority,
            **labels,
        }
        return await self.submit(given(spec))
