"""Client of the HTTP API."""

from types import TracebackType
from typing import Any, Self

import httpx

from rankery.client.asynchronous.alias_calls import AsyncExportCalls
from rankery.client.asynchronous.click_logs import AsyncClickLogCalls, AsyncClickModelCalls
from rankery.client.asynchronous.dataset_calls import AsyncDatasetCalls
from rankery.client.asynchronous.experiments import AsyncExperimentCalls
from rankery.client.asynchronous.interleavings import AsyncInterleavingCalls
from rankery.client.asynchronous.lifecycle_calls import AsyncLifecycleCalls
from rankery.client.asynchronous.measuring_calls import AsyncDriftCalls, AsyncMeasuringCalls
from rankery.client.asynchronous.model_calls import AsyncModelCalls
from rankery.client.asynchronous.schedules import AsyncScheduleCalls
from rankery.client.asynchronous.scoring_calls import AsyncScoringCalls
from rankery.client.asynchronous.studies import AsyncStudyCalls
from rankery.client.asynchronous.training_calls import AsyncTrainingCalls
from rankery.client.asynchronous.transport import AsyncTransport
from rankery.client.asynchronous.webhooks import AsyncEventCalls, AsyncWebhookCalls
from rankery.client.uploads import RESUMABLE_BYTES


class AsyncClient(
    AsyncDatasetCalls,
    AsyncClickLogCalls,
    AsyncClickModelCalls,
    AsyncTrainingCalls,
    AsyncMeasuringCalls,
    AsyncModelCalls,
    AsyncExportCalls,
    AsyncScoringCalls,
    AsyncExperimentCalls,
    AsyncStudyCalls,
    AsyncLifecycleCalls,
    AsyncEventCalls,
    AsyncWebhookCalls,
    AsyncScheduleCalls,
    AsyncDriftCalls,
    AsyncInterleavingCalls,
):
    """Client of one Rankery service; use it as a context manager, or call `close`.

    Requests are retried if no response arrives, and after the status 429, 502, 503 or 504; creations are
    idempotent. If the service refuses a request, the method raises a `RankeryApiError` with the reported
    problem; it is a `KeyRefused` for a missing or refused API key. `ServiceUnreachable` is raised if no
    response arrives. The same holds for methods of jobs, models and other resources. All errors are
    subclasses of `rankery.errors.UserError`; their message is one sentence with a remedy.

    Args:
        base_url: URL of the service; when left out, RANKERY_URL, else `http://127.0.0.1:8000`.
        api_key: Secret of an API key, `rk_…`; RANKERY_API_KEY when left out. No key is needed while the
            service has no keys.
        timeout_seconds: Timeout of one response. Uploads may take an hour.
        retries: Maximum number of retries of a request, with increasing pauses.
        resumable_bytes: Larger files are uploaded in pieces, and interrupted uploads resume.
        transport: Custom httpx transport, such as one that calls an application in this process.

    Example:
        ```python
        async with AsyncClient() as client:
            dataset = await (await client.upload_dataset("train.txt")).wait()
            job = await client.train("web", dataset, "ndcg-loss2++", validation=0.2)
            print(await (await job.wait()).model())
        ```
    """

    def __init__(
        self,
        base_url: str | None = None,
        *,
        api_key: str | None = None,
        timeout_seconds: float = 30.0,
        retries: int = 4,
        resumable_bytes: int = RESUMABLE_BYTES,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        super().__init__(
            AsyncTransport(
                base_url,
                api_key=api_key,
                timeout_seconds=timeout_seconds,
                retries=retries,
                resumable_bytes=resumable_bytes,
                transport=transport,
            )
        )

    @property
    def base_url(self) -> str:
        """The URL of the service."""
        return self.transport.base_url

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self.transport.close()

    async def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Send any request of the HTTP API, which `/docs` describes.

        Args:
            method: GET, POST, …
            path: Path such as `/v1/losses`.
            **options: `parameters`, `json`, `content` and `headers`.

        Raises:
            ServiceUnreachable: The service did not respond.
        """
        return await self.transport.request(method, path, repeatable=method != "POST", **options)
