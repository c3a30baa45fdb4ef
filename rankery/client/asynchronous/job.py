"""Jobs and models."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Self, Unpack

import httpx

from rankery.client.arguments import CandidateColumns, ExportOptions
from rankery.client.asynchronous.alias_calls import AsyncAliasCalls, AsyncExportCalls, move_alias
from rankery.client.asynchronous.resource import AsyncDeletable, AsyncPages, AsyncRefreshable, AsyncWork
from rankery.client.asynchronous.results import AsyncComparison, AsyncEvaluation, AsyncRanking
from rankery.client.asynchronous.scoring_calls import AsyncScoringCalls
from rankery.client.display.progress import jobs_progress
from rankery.client.frames.incoming import Frame, LazyFrame
from rankery.client.listing import Listing
from rankery.client.reading import UNSET, Document, Unset, read, without_unset
from rankery.client.references import HasId, described, escaped_reference
from rankery.client.schemas import answers
from rankery.client.schemas.answers import ExportParity, InspectionEntry, ModelTree
from rankery.client.schemas.requests import GateRequest
from rankery.client.views.inspection import Importance, Inspection
from rankery.client.views.job import CandidateView, History, JobView, ranked
from rankery.client.views.model import GateView, ModelView
from rankery.errors import JobFailed, JobRefused, WrongType

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike


_INTERVAL_SECONDS = 0.5  # between two polls of all jobs of a list


class AsyncJob(JobView, AsyncWork, AsyncDeletable):
    """A job, as last fetched from the service.

    `refresh` and `wait` update the object in place. Methods that return a result raise `NothingMade` if there
    is none yet.

    Example:
        ```python
        job = await client.train("web", dataset, "ndcg-loss2++", validation=0.2)
        model = await (await job.wait()).model()
        ```
    """

    _noun = "job"
    _interval_seconds = 0.2
    _longest_interval_seconds = 2.0

    @contextmanager
    def _progress(self, progress: bool | None) -> Iterator[Callable[[], None]]:
        with jobs_progress([self], progress) as show:
            yield lambda: show(self)

    def _failure(self) -> Exception:
        return JobRefused(self) if self.status == "refused" else JobFailed(self)

    async def cancel(self) -> Self:
        """Cancel the job: immediately if queued, within about a second if running.

        Raises:
            RankeryApiError: The job has already ended.
        """
        return await self._post("cancel")

    async def change(
        self,
        *,
        name: str | Unset | None = UNSET,
        notes: str | Unset | None = UNSET,
        tags: Mapping[str, str | None] | None = None,
        project: str | Unset | None = UNSET,
    ) -> Self:
        """Change the labels of the job; omitted fields stay.

        Args:
            name: Title; the default title if None.
            notes: Free text.
            tags: Tags to set; None removes a tag, other tags stay.
            project: Project label of the job and its results; None removes it.
        """
        body = without_unset({"name": name, "notes": notes, "project": project})
        return await self._change(body | ({} if tags is None else {"tags": dict(tags)}))

    async def history(self, after: int = 0) -> History:
        """Return a training's learning curves.

        Args:
            after: Only iterations after this one.
        """
        return read(History, await self._transport.get(f"{self._path}/history", after=after))

    async def leaderboard(self) -> Listing[CandidateView]:
        """Return the candidates of an automatic training, also while it runs.

        Returns:
            One row for each candidate, the best first: `name`, `status`, `value` with its `interval`,
            `seconds`, `weight` in the model and others.

        Raises:
            RankeryApiError: The job is not an automatic training.
        """
        document = await self._transport.get(f"{self._path}/candidates")
        return Listing(ranked(read(answers.AutoTrainCandidates, document)))

    async def model(self) -> "AsyncModel":
        """Return the model that the job made."""
        return AsyncModel.of(await self._made("model_id", "models"), self._transport)

    async def evaluation(self) -> AsyncEvaluation:
        """Return the evaluation that the job made; a training with test data makes one."""
        return AsyncEvaluation.of(await self._made("evaluation_id", "evaluations"), self._transport)

    async def comparison(self) -> AsyncComparison:
        """Return the comparison that the job made."""
        return AsyncComparison.of(await self._made("comparison_id", "comparisons"), self._transport)

    async def ranking(self) -> AsyncRanking:
        """Return the ranking that the job made."""
        return AsyncRanking.of(await self._made("ranking_id", "rankings", limit=1), self._transport)

    async def inspection(self) -> Inspection:
        """Return the inspection that the job made."""
        return read(Inspection, await self._made("inspection_id", "inspections"))

    async def _made(self, field: str, collection: str, **parameters: Any) -> Document:
        """Fetch an object that the job made, whose id is in a field of the job's result."""
        if not self.has_ended:
            await self.refresh()
        return await self._transport.get(f"/v1/{collection}/{self.made(field)}", **parameters)

    @property
    def _path(self) -> str:
        return f"/v1/jobs/{self.id}"


class AsyncModel(ModelView, AsyncRefreshable, AsyncDeletable):
    """A version of a model, as last fetched from the service."""

    async def importance(self) -> Importance:
        """Return the gains and split counts of the features."""
        return read(Importance, await self._transport.get(f"{self._path}/importance"))

    async def predict(
        self,
        candidates: "Frame | LazyFrame | Mapping[str, Any] | ArrayLike",
        *,
        columns: CandidateColumns | None = None,
        allow_absent_features: bool = False,
    ) -> "np.ndarray[Any, Any]":
        """Return the score of each document, (n_documents,), in the order of the rows given.

        Args:
            candidates: A data frame, a dictionary of columns or an array; see `client.score`.
            columns: Other names of a data frame's columns: `{"query", "document", "ignore"}`.
            allow_absent_features: Count features without a column as missing values.

        Raises:
            DataUnusable: The candidates cannot be sent.
            RankeryApiError: The candidates do not match the model.
        """
        return await AsyncScoringCalls(self._transport).score(
            self, candidates, columns=columns, allow_absent_features=allow_absent_features
        )

    async def tree(self, index: int, *, root: int | None = None, depth: int | None = None) -> ModelTree:
        """Return a tree of the model as nested nodes.

        Args:
            index: Index of the tree, from 0.
            root: Node to begin at.
            depth: Number of levels.
        """
        path = f"{self._path}/trees/{index}"
        return read(ModelTree, await self._transport.get(path, root=root, depth=depth))

    def inspections(self) -> AsyncPages[InspectionEntry]:
        """List the inspections of the model, newest first."""
        path = f"{self._path}/inspections"
        return AsyncPages(self._transport, path, lambda one: read(InspectionEntry, one))

    async def change(
        self,
        *,
        title: str | Unset | None = UNSET,
        description: str | Unset | None = UNSET,
        tags: Mapping[str, str | None] | None = None,
        project: str | Unset | None = UNSET,
    ) -> Self:
        """Change title, description, tags and project of the version; omitted fields stay.

        Args:
            title: Display name of this version; None removes it.
            description: New description; None removes it.
            tags: Tags to set; None removes a tag, other tags stay. `keep` protects the version from
                retention.
            project: Project label of all versions of the model name; None removes it.
        """
        body = without_unset({"title": title, "description": description, "project": project})
        return await self._change(body | ({} if tags is None else {"tags": dict(tags)}))

    async def gate(self, alias: str) -> GateView:
        """Return the promotion gate of an alias of the model's name; see `client.gate`."""
        return await AsyncAliasCalls(self._transport).gate(self.name, alias)

    async def set_gate(self, alias: str, gate: GateRequest) -> GateView:
        """Set the promotion gate of an alias of the model's name; see `client.set_gate`."""
        return await AsyncAliasCalls(self._transport).set_gate(self.name, alias, gate)

    async def remove_gate(self, alias: str) -> None:
        """Delete the promotion gate of an alias of the model's name."""
        await AsyncAliasCalls(self._transport).remove_gate(self.name, alias)

    async def set_alias(self, alias: str) -> Self | AsyncJob:
        """Point an alias such as `champion` at this version; see `client.set_alias`."""
        response = await move_alias(self._transport, self.name, alias, self.version)
        if response.status_code == httpx.codes.ACCEPTED:
            return AsyncJob.of(response.json(), self._transport)
        return self._update_from(response.json())

    async def reproduce(self) -> AsyncJob:
        """Train the model again from its lineage; see `client.reproduce`."""
        path = f"/v1/models/{escaped_reference(self)}/reproduce"
        return AsyncJob.of(await self._transport.create(path), self._transport)

    async def export(
        self,
        format: str,
        path: Path | str,
        *,
        archive: bool = False,
        progress: bool | None = None,
        **options: Unpack[ExportOptions],
    ) -> Path:
        """Export the model to a file for another engine.

        Args:
            format: A format that the service lists: `lightgbm`, `solr`, `vespa`, `onnx`, …
            path: Target file, written atomically.
            archive: Write a zip of the model with parity files and installation instructions.
            progress: Whether to draw a bar; by default, in notebooks and if standard error is a terminal.
            **options: Options of the format; see `client.export`.

        Raises:
            RankeryApiError: The format cannot express the model, or the service refused it otherwise.
            FileUnusable: The file cannot be written.
        """
        return await AsyncExportCalls(self._transport).export(
            self, format, path, archive=archive, progress=progress, **options
        )

    async def parity(
        self, format: str, *, dataset: str | HasId | None = None, **options: Unpack[ExportOptions]
    ) -> ExportParity:
        """Verify the parity of an export: write it, read it back and evaluate it like the engine.

        Args:
            format: The export's format.
            dataset: Documents to compare scores on; the model's test or training data when left out.
            **options: As in the export.

        Raises:
            RankeryApiError: The format cannot express the model, or the service refused it otherwise.
        """
        return await AsyncExportCalls(self._transport).parity(self, format, dataset=dataset, **options)

    @property
    def _path(self) -> str:
        return f"/v1/models/{self.id}"


async def wait_all(
    jobs: Iterable[AsyncJob], *, timeout_seconds: float | None = None, progress: bool | None = None
) -> Listing[AsyncJob]:
    """Wait until all jobs have ended; see `client.wait_all`."""
    deadline = None if timeout_seconds is None else monotonic() + timeout_seconds
    left = requested = list(map(_checked_job, jobs))
    with jobs_progress(requested, progress) as show:
        while left:
            for job in left:
                show(await job.refresh())
            left = [job for job in left if not job.has_ended]
            if left and deadline is not None and monotonic() > deadline:
                raise TimeoutError(
                    f"{len(left)} of {len(requested)} jobs have not ended in {timeout_seconds:g} s"
                )
            if left:
                await asyncio.sleep(_INTERVAL_SECONDS)
    return Listing(requested)


def _checked_job(job: Any) -> AsyncJob:
    if isinstance(job, AsyncJob):
        return job
    raise WrongType(f"a job of the client is expected here, not {described(job)}")
