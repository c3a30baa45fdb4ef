"""Calls about click logs and the jobs on them, and the click log resource."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Unpack

from rankery.client.arguments import JobFields, ids_field, texts_field
from rankery.client.asynchronous.dataset import AsyncData
from rankery.client.asynchronous.dataset_calls import AsyncDatasetReferences, DatasetSource
from rankery.client.asynchronous.job import AsyncJob
from rankery.client.asynchronous.job_calls import AsyncJobCalls
from rankery.client.asynchronous.resource import AsyncCalls, AsyncPages
from rankery.client.asynchronous.resumable_upload import send_upload
from rankery.client.display.progress import upload_progress
from rankery.client.frames.events import event_tuples
from rankery.client.frames.incoming import Frame, as_table, collected, is_frame, temporary_parquet
from rankery.client.reading import read, without_none
from rankery.client.references import HasId, id_of, is_source_url, path_of
from rankery.client.schemas import answers
from rankery.client.uploads import Upload
from rankery.client.views.model import ClickLogView

_DATA = "a path, a URL, or a data frame of pandas, polars or Arrow"
ClickLogFormat = Literal["auto", "ubi", "sessions", "metarank", "open-bandit", "table"]


class AsyncClickLog(ClickLogView, AsyncData):
    """A click log, as last fetched from the service."""

    async def delete(self, *, permanently: bool = False) -> None:
        """Move the log to the trash; `client.restore` restores it. Results of the log stay.

        Args:
            permanently: Delete permanently instead of moving to the trash.

        Raises:
            RankeryApiError: Jobs use the log; the problem lists them.
        """
        await self._delete(permanently=permanently)

    @property
    def _path(self) -> str:
        return f"/v1/click-logs/{self.id}"


class AsyncClickLogCalls(AsyncCalls):
    """Calls about click logs."""

    async def upload_clicks(
        self,
        data: "Path | str | Sequence[str] | Frame",
        name: str | None = None,
        *,
        queries: Path | str | None = None,
        files: str | None = None,
        format: ClickLogFormat = "auto",
        columns: Mapping[str, str] | None = None,
        actions: Mapping[str, float] | None = None,
        rank_base: Literal[0, 1] | None = None,
        credentials: str | None = None,
        project: str | None = None,
        progress: bool | None = None,
    ) -> AsyncClickLog:
        """Upload a log of ranked lists and clicks; it is read by a job and becomes `ready` or `invalid`.

        Args:
            data: A file (UBI, Metarank or sessions as JSON lines, Open Bandit, CSV, TSV or Parquet; plain,
                gzip or Zstandard), which is streamed; a data frame with one row for each impression; or
                URLs that a worker reads.
            name: Display name; the file's name when left out.
            queries: UBI's file of queries, if `data` has only the events.
            files: Pattern of the names of files in a bucket: `part-*.parquet`.
            format: Detected by the content by default.
            columns: Columns of a table by role: `{"document": "sku", "rank": "place"}`; detected by the
                usual names if left out.
            actions: Weights of actions, `{"click": 1, "purchase": 5}`; other actions are counted and ignored.
            rank_base: The lowest rank, 0 or 1; detected if None.
            credentials: Name of credentials that are configured in workers; never a secret.
            project: Project label.
            progress: Whether to draw a bar; by default, in notebooks and if standard error is a terminal.

        Returns:
            The log, which is still being read; `wait` on it.

        Raises:
            FileUnusable: The file cannot be read.
            WrongType: The data are of another type.

        Example:
            ```python
            log = await client.upload_clicks("clicks.csv", columns={"document": "sku"})
            print((await log.wait()).findings)
            ```
        """
        options = without_none({"columns": columns and dict(columns), "actions": actions and dict(actions)})
        options |= without_none({"rank_base": rank_base})
        labels = without_none({"name": name, "format": format, "project": project})
        if is_source_url(data) or (isinstance(data, list | tuple) and all(map(is_source_url, data))):
            source = without_none({"source": data, "files": files, "credentials": credentials})
            document = await self.transport.create("/v1/click-logs", {**source, **labels, **options})
            return self._bound(AsyncClickLog, document)
        texts = labels | {key: json.dumps(value) for key, value in options.items()}
        paths = {} if queries is None else {"queries": path_of(queries, "the path of the queries")}
        frame = collected(data)
        if is_frame(frame):
            with temporary_parquet(as_table(frame)) as path:
                return await self._send_log(Upload({"file": path, **paths}, texts), progress)
        return await self._send_log(Upload({"file": path_of(data, _DATA), **paths}, texts), progress)

    async def served_clicks(
        self,
        model: str | HasId,
        name: str | None = None,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        actions: Mapping[str, float] | None = None,
        project: str | None = None,
    ) -> AsyncClickLog:
        """Make a click log from the rankings that a model served with `keep`, and from their events.

        Args:
            model: A name for all its versions, or one version.
            name: Display name.
            since: Start of the period, with a time zone; None for all stored rankings.
            until: End of the period; None for half an hour ago, as later lists may still be clicked.
            actions: Weights of actions by name.
            project: Project label.

        Raises:
            RankeryApiError: The model does not exist, or the options are invalid.
        """
        period = {"since": since and since.isoformat(), "until": until and until.isoformat()}
        body = {"model": id_of(model), "name": name, "actions": actions, "project": project, **period}
        return self._bound(
            AsyncClickLog, await self.transport.create("/v1/click-logs/served", without_none(body))
        )

    async def interleaved_clicks(
        self, interleaving: str | HasId, name: str | None = None, *, project: str | None = None
    ) -> AsyncClickLog:
        """Make a click log from the lists that an interleaving showed, and from their clicks.

        Args:
            interleaving: The interleaving, or its id.
            name: Display name; that of the interleaving when left out.
            project: Project label; that of the interleaving when left out.
        """
        body = without_none({"interleaving_id": id_of(interleaving), "name": name, "project": project})
        document = await self.transport.create("/v1/click-logs/interleaved", body)
        return self._bound(AsyncClickLog, document)

    async def send_events(
        self,
        events: Iterable[tuple[str, str] | tuple[str, str, str] | tuple[str, str, str, datetime]] | Frame,
    ) -> answers.RecordedServedEvents:
        """Record events of users on rankings that `rank` kept; sending an event again has no effect.

        Args:
            events: Up to 1,000 tuples of a `ranking_id`, a document id, optionally an action (default
                `click`) and optionally a time with a time zone (default now); or a data frame with the
                columns `ranking_id` and `document_id`, and optionally `action` and `at`, the time.

        Raises:
            DataUnusable: An event is no such tuple, or a column is missing; the message has the position.
            WrongType: The events are of another type.
        """
        body = {"events": [_event(*event) for event in event_tuples(events, 4)]}
        response = await self.transport.request("POST", "/v1/served-rankings/events", json=body)
        return read(answers.RecordedServedEvents, response.json())

    def click_logs(
        self, status: str | None = None, *, name: str | None = None, project: str | None = None
    ) -> AsyncPages[AsyncClickLog]:
        """List click logs, newest first.

        Args:
            status: Only `pending`, `ready` or `invalid` ones.
            name: Only click logs of this name.
            project: Only click logs of this project; `-` for no project.
        """
        return self._pages(AsyncClickLog, "/v1/click-logs", status=status, name=name, project=project)

    async def click_log(self, log_id: str) -> AsyncClickLog:
        """Return a click log with its statistics and findings, or with the problem found in it."""
        return self._bound(AsyncClickLog, await self.transport.get(f"/v1/click-logs/{log_id}"))

    async def delete_click_log(self, log: str | HasId, *, permanently: bool = False) -> None:
        """Move a click log to the trash; `restore` restores it.

        Args:
            log: The log, or its id.
            permanently: Delete permanently instead of moving to the trash.

        Raises:
            RankeryApiError: A job uses the log, or it does not exist.
        """
        parameters = {"permanently": permanently or None}
        await self.transport.request("DELETE", f"/v1/click-logs/{id_of(log)}", parameters=parameters)

    async def _send_log(self, upload: Upload, progress: bool | None) -> AsyncClickLog:
        with upload_progress(upload.size_bytes, progress) as on_bytes:
            document: Any = await send_upload(self.transport, "/v1/click-logs", upload, on_bytes)
        return self._bound(AsyncClickLog, document)


def _event(
    ranking_id: str, document_id: str, action: str | None = None, at: datetime | str | None = None
) -> dict[str, Any]:
    time = at.isoformat() if isinstance(at, datetime) else at
    named = {"ranking_id": ranking_id, "document_id": document_id, "action": action or "click", "at": time}
    return without_none(named)


class AsyncClickModelCalls(AsyncJobCalls, AsyncDatasetReferences):
    """Calls about click models, propensities and simulated clicks."""

    async def fit_click_model(
        self,
        log: str | HasId,
        models: str | Sequence[str] = "pbm",
        *,
        held_out: float | None = None,
        options: Mapping[str, Any] | None = None,
        **fields: Unpack[JobFields],
    ) -> AsyncJob:
        """Fit click models to a log, compare them on held-out lists, and report the best one.

        Args:
            log: The log, or its id.
            models: One or several of `ctr`, `coec`, `cascade`, `dcm`, `pbm`, `ubm`, `sdbn` and `dbn`.
            held_out: Share of users, or of lists where the log has no users, to compare on; 0.2 by default.
            options: `iterations`, `max_rank`, `prior_clicks`, `prior_skips`, `resamples`, `seed` and others.
            **fields: `limits`, `priority`, `name`, `notes` and `project`, as in `train`; `tags` of the job.

        Returns:
            The job; its result has a `sentence`, the `comparison` and the parameters of the `click_model`.
        """
        spec = {
            "kind": "click-model",
            "click_log_id": id_of(log),
            "models": texts_field(models),
            "options": options and dict(options),
            "held_out": held_out,
            **fields,
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
        options: Mapping[str, Any] | None = None,
        judgments: Mapping[str, Any] | None = None,
        **fields: Unpack[JobFields],
    ) -> AsyncJob:
        """Grade documents by a click model, and join the grades with features as a dataset.

        Args:
            log: The log, or its id.
            features: The dataset with the features, in any form that `train` takes; its labels are replaced.
            model: The click model.
            dataset_name: Name of the dataset; that of the log when left out.
            judged: A judged dataset to compare the grades with, in the same forms.
            unjudged: Documents without a grade: `drop` (default), or `zero` to label them 0.
            options: Options of the click model, as in `fit_click_model`.
            judgments: `min_impressions`, `quantiles` or `cuts`, and `shrink`.
            **fields: `limits`, `priority`, `name`, `notes` and `project`, as in `train`; `tags` of the job.

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
            **fields,
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
            "models": ids_field(models),
            "features": texts_field(features),
            "user_model": user_model if isinstance(user_model, str) else dict(user_model),
            "lists": lists,
        }
        return await self.submit(without_none({**spec, **options}))
