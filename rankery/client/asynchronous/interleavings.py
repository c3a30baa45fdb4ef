"""Calls about interleavings and counterfactual evaluations."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rankery.client.arguments import ids_field, texts_field
from rankery.client.asynchronous.dataset_calls import AsyncDatasetReferences, DatasetSource
from rankery.client.asynchronous.job import AsyncJob
from rankery.client.asynchronous.job_calls import AsyncJobCalls
from rankery.client.asynchronous.resource import AsyncPages
from rankery.client.frames.events import event_tuples
from rankery.client.frames.incoming import Frame
from rankery.client.reading import read, without_none
from rankery.client.references import HasId, id_of, system_of
from rankery.client.schemas import answers
from rankery.client.views.inspection import InterleavingVerdictView, InterleavingView

_PATH = "/v1/interleavings"


class AsyncInterleavingCalls(AsyncJobCalls, AsyncDatasetReferences):
    """Calls about interleavings and counterfactual evaluations."""

    async def create_interleaving(
        self,
        name: str,
        *,
        models: Sequence[str | HasId] | None = None,
        rankings: Sequence[str] | None = None,
        **options: Any,
    ) -> InterleavingView:
        """Create an interleaving, which compares rankers by clicks on interleaved lists.

        Args:
            name: Display name.
            models: Two or more models to compare; instead of `rankings`.
            rankings: Names of two or more rankers whose rankings the caller provides; instead of `models`.
            **options: `method`, `length`, `seed`, `unit`, `error`, `miss`, `difference`,
                `click_window_seconds` and `project`.
        """
        rankers = {"models": ids_field(models), "rankings": texts_field(rankings)}
        body = without_none({"name": name, **rankers, **options})
        return read(InterleavingView, await self.transport.create(_PATH, body))

    def interleavings(self, *, project: str | None = None) -> AsyncPages[InterleavingView]:
        """List interleavings, newest first.

        Args:
            project: Only interleavings of this project.
        """
        return AsyncPages(self.transport, _PATH, lambda one: read(InterleavingView, one), project=project)

    async def interleaving(self, interleaving_id: str) -> InterleavingView:
        """Return an interleaving."""
        return read(InterleavingView, await self.transport.get(f"{_PATH}/{interleaving_id}"))

    async def interleaved_list(
        self,
        interleaving: str | HasId,
        query: str,
        *,
        user: str | None = None,
        documents: Sequence[Mapping[str, Any]] | None = None,
        rankings: Mapping[str, Sequence[str]] | None = None,
    ) -> answers.ShownList:
        """Return an interleaved list to show; a user gets the same list for the same query.

        Args:
            interleaving: The interleaving, or its id.
            query: Id of the query.
            user: Any text that identifies the user; only its hash is stored. Without it each list is new.
            documents: Candidates for the models, `{"id", "features"}`.
            rankings: Documents of each ranker, best first, for an interleaving with `rankings`.
        """
        request = without_none({"id": query, "documents": documents})
        body = without_none({"user": user, "query": request, "rankings": rankings})
        path = f"{_PATH}/{id_of(interleaving)}/lists"
        response = await self.transport.request("POST", path, json=body, repeatable=user is not None)
        return read(answers.ShownList, response.json())

    async def send_clicks(
        self, interleaving: str | HasId, clicks: Iterable[tuple[str, str]] | Frame
    ) -> answers.RecordedEvents:
        """Record clicks on interleaved lists; sending a click again has no effect.

        Args:
            interleaving: The interleaving, or its id.
            clicks: Up to 1,000 pairs of the `ranking_id` of a list and a document id; or a data frame with
                the columns `ranking_id` and `document_id`.

        Raises:
            DataUnusable: A click is no such pair, or a column is missing; the message has the position.
            WrongType: The clicks are of another type.
        """
        events = [
            {"ranking_id": ranking, "document_id": document} for ranking, document in event_tuples(clicks, 2)
        ]
        path = f"{_PATH}/{id_of(interleaving)}/events"
        response = await self.transport.request("POST", path, json={"events": events})
        return read(answers.RecordedEvents, response.json())

    async def interleaving_verdict(self, interleaving: str | HasId) -> InterleavingVerdictView:
        """Return which ranker users prefer; repeated checks do not raise the error rate.

        Args:
            interleaving: The interleaving, or its id.
        """
        path = f"{_PATH}/{id_of(interleaving)}/verdict"
        return read(InterleavingVerdictView, await self.transport.get(path))

    async def delete_interleaving(self, interleaving: str | HasId) -> None:
        """Delete an interleaving with its lists and clicks permanently.

        Args:
            interleaving: The interleaving, or its id.
        """
        await self.transport.request("DELETE", f"{_PATH}/{id_of(interleaving)}")

    async def counterfactual(
        self,
        click_log: str | HasId,
        dataset: DatasetSource,
        systems: Sequence[str | HasId | Mapping[str, str]],
        **options: Any,
    ) -> AsyncJob:
        """Estimate a metric of models and rankings from the clicks on other rankings.

        Args:
            click_log: A ready click log.
            dataset: Dataset with the documents that the systems rank, in any form that `train` takes; its ids
                are those of the log.
            systems: Models and rankings: references such as `web:3`, objects of the client, or
                `{"model": "web:3"}` and `{"ranking_id": "rnk_…"}`.
            **options: `metric`, `estimator`, `normalised`, `clip`, `propensity_job`, `examination`, `seed`
                and others of the API.

        Returns:
            The job; its `result` has the estimates and the differences with their sentences.
        """
        named = {"click_log_id": id_of(click_log), "dataset_id": await self._dataset_id(dataset)}
        listed = [dict(one) if isinstance(one, Mapping) else system_of(one) for one in systems]
        if options.get("propensity_job") is not None:
            named["propensity_job"] = id_of(options["propensity_job"])
        return await self.submit({"kind": "counterfactual", **options, **named, "systems": listed})
