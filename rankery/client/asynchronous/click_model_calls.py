"""Calls about click models, propensities and simulated clicks."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Unpack

from rankery.client.arguments import JobLabels
from rankery.client.asynchronous.dataset_calls import AsyncDatasetReferences, DatasetSource
from rankery.client.asynchronous.job import AsyncJob
from rankery.client.asynchronous.job_calls import AsyncJobCalls
from rankery.client.reading import without_none
from rankery.client.references import HasId, id_of


class AsyncClickModelCalls(AsyncJobCalls, AsyncDatasetReferences):
    """Calls about click models, propensities and simulated clicks."""

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
        return await self.submit(without_none(spec))

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
        return await self.submit(without_none(spec))

    async def propensities(
        self,
        log: str | HasId,
        method: Literal[
            "shuffled", "pivot", "adjacent", "all-pairs", "regression-em", "trust-em"
        ] = "all-pairs",
        *,
        dataset: DatasetSource | None = None,
        positions: int | None = None,
        **options: Any,
    ) -> AsyncJob:
        """Estimate how often each rank of a click log is examined, relative to rank 1.

        Args:
            log: A ready click log, or its id.
            method: `shuffled` for lists in random order; `pivot`, `adjacent` and `all-pairs` for documents
                shown at several ranks; `regression-em` for documents that always have the same rank;
                `trust-em` for the correction `affine`, which also estimates clicks on irrelevant documents.
            dataset: Features of the documents, for `regression-em` and `trust-em`, in any form
                that `train` takes.
            positions: Number of ranks; 10 when left out.
            **options: `versions`, `classifier`, `iterations`, `resamples`, `seed` and others of the API.

        Returns:
            The job, whose result has `propensities`, `lower`, `upper` and a `sentence`; of `trust-em` also
            `intercepts`.

        Example:
            ```python
            job = await (await client.propensities(log)).wait()
            clicks = {"log": log.id, "correction": "ips", "propensity_job": job.id}
            ```
        """
        dataset_id = None if dataset is None else await self._dataset_id(dataset)
        spec = {"kind": "propensity", "click_log_id": id_of(log), "method": method, "positions": positions}
        return await self.submit(without_none({**spec, "dataset_id": dataset_id, **options}))

    async def simulate_clicks(
        self,
        dataset: DatasetSource,
        log_name: str,
        *,
        models: Sequence[str | HasId] = (),
        features: Sequence[str] = (),
        user_model: str | Mapping[str, Any] = "ultra-pbm",
        lists: int | None = None,
        **options: Any,
    ) -> AsyncJob:
        """Simulate a click log on judged documents with known propensities.

        Args:
            dataset: Dataset whose labels determine the clicks, in any form that `train` takes.
            log_name: Name of the log.
            models: Production rankers; each list is ranked by one of them.
            features: Features to rank by instead of models, in descending order.
            user_model: Name of a published user model such as `ultra-pbm`, or its parameters.
            lists: Number of lists; 100,000 when left out.
            **options: `cutoff`, `swaps`, `swap_share`, `users`, `seed` and others of the API.

        Returns:
            The job; `client.click_log(job.result["click_log_id"])` returns the log, and `truth` of the result
            has the propensities.
        """
        spec: dict[str, Any] = {
            "kind": "simulate-clicks",
            "dataset_id": await self._dataset_id(dataset),
            "log_name": log_name,
            "models": [id_of(model) for model in models],
            "features": list(features),
            "user_model": user_model if isinstance(user_model, str) else dict(user_model),
            "lists": lists,
        }
        return await self.submit(without_none({**spec, **options}))
