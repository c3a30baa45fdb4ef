"""Calls about propensities and simulated clicks."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from rankery.client.asynchronous.dataset_references import AsyncDatasetReferences, DatasetSource
from rankery.client.asynchronous.job import AsyncJob
from rankery.client.asynchronous.job_calls import AsyncJobCalls
from rankery.client.reading import given
from rankery.client.references import HasId, id_of


class AsyncClickJobCalls(AsyncJobCalls, AsyncDatasetReferences):
    """Calls about propensities and simulated clicks."""

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

        Raises:
            RankeryApiError: The service refused the request.

        Example:
            ```python
            job = await (await client.propensities(log)).wait()
            clicks = {"log": log.id, "correction": "ips", "propensity_job": job.id}
            ```
        """
        dataset_id = None if dataset is None else await self._dataset_id(dataset)
        spec = {"kind": "propensity", "click_log_id": id_of(log), "method": method, "positions": positions}
        return await self.submit(given({**spec, "dataset_id": dataset_id, **options}))

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

        Raises:
            RankeryApiError: The service refused the request.
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
        return await self.submit(given({**spec, **options}))
