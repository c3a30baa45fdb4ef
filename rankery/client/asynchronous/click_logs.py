"""Click logs: upload, list, wait and delete."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Self

from rankery.client.asynchronous.data import AsyncData
from rankery.client.asynchronous.pages import AsyncPages
from rankery.client.asynchronous.resource import AsyncCalls
from rankery.client.asynchronous.resumable_upload import send_upload
from rankery.client.display.progress import transferred
from rankery.client.frames.incoming import Frame, as_table, collected, is_frame, written
from rankery.client.reading import given, read
from rankery.client.references import HasId, id_of, is_address, path_of
from rankery.client.schemas import answers
from rankery.client.unset import UNSET, Unset, chosen
from rankery.client.uploads import Upload
from rankery.client.views.click_log import ClickLogView

_DATA = "a path, an address, or a data frame of pandas, polars or Arrow"
LogFormat = Literal["auto", "ubi", "sessions", "metarank", "open-bandit", "table"]


class AsyncClickLog(ClickLogView, AsyncData):
    """A click log, as last fetched from the service."""

    async def change(self, *, name: str | None = None, project: str | Unset | None = UNSET) -> Self:
        """Change its name or its project; omitted fields stay.

        Args:
            name: Display name.
            project: The project that it belongs to; none if None.

        Returns:
            This log.
        """
        body = given({"name": name}) | chosen({"project": project})
        return self._take((await self._transport.request("PATCH", self._path, json=body)).json())

    async def delete(self, *, permanently: bool = False) -> None:
        """Move it to the trash, from which `client.restore` brings it back; what was learnt from it stays.

        Args:
            permanently: Free its bytes immediately instead.

        Raises:
            RankeryApiError: A job uses it; the problem lists which.
        """
        parameters = {"permanently": permanently or None}
        await self._transport.request("DELETE", self._path, parameters=parameters)

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
        format: LogFormat = "auto",
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
                gzip or Zstandard), which is streamed; a data frame with a row an impression; or addresses
                that a worker reads.
            name: Display name; the file's name when left out.
            queries: UBI's file of queries, where `data` has the events alone.
            files: Pattern of the names of files in a bucket: `part-*.parquet`.
            format: Detected by the content by default.
            columns: Columns of a table by role: `{"document": "sku", "rank": "place"}`; detected by the
                usual names if left out.
            actions: Weights of actions, `{"click": 1, "purchase": 5}`; others are counted and left out.
            rank_base: The lowest rank, 0 or 1; detected if None.
            credentials: Name of credentials that workers have; never a secret.
            project: Label of the project that it belongs to.
            progress: Whether to draw a bar; where standard error is a terminal or a notebook if None.

        Returns:
            The log, which is still being read; `wait` on it.

        Raises:
            FileUnusable: The file cannot be read.
            WrongType: The data are of another type.
            RankeryApiError: The service refused the request.

        Example:
            ```python
            log = await client.upload_clicks("clicks.csv", columns={"document": "sku"})
            print((await log.wait()).findings)
            ```
        """
        options = given({"columns": columns and dict(columns), "actions": actions and dict(actions)})
        options |= given({"rank_base": rank_base})
        about = given({"name": name, "format": format, "project": project})
        if is_address(data) or (isinstance(data, list | tuple) and all(map(is_address, data))):
            where = given({"source": data, "files": files, "credentials": credentials})
            document = await self.transport.create("/v1/click-logs", {**where, **about, **options})
            return self._bound(AsyncClickLog, document)
        texts = about | {key: json.dumps(value) for key, value in options.items()}
        paths = {} if queries is None else {"queries": path_of(queries, "the path of the queries")}
        frame = collected(data)
        if is_frame(frame):
            with written(as_table(frame)) as path:
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
        """Make a click log of the rankings that a model served with `keep`, and of the events on them.

        Args:
            model: A name for all its versions, or one version.
            name: Display name.
            since: Start of the period, with a time zone; None for all that is kept.
            until: End of the period; None for now.
            actions: Weights of actions by name.
            project: The project that it belongs to.

        Returns:
            The log, which a job makes.

        Raises:
            RankeryApiError: There is no such model, or the options do not fit.
        """
        period = {"since": since and since.isoformat(), "until": until and until.isoformat()}
        body = {"model": id_of(model), "name": name, "actions": actions, "project": project, **period}
        return self._bound(AsyncClickLog, await self.transport.create("/v1/click-logs/served", given(body)))

    async def interleaved_clicks(
        self, interleaving: str | HasId, name: str | None = None, *, project: str | None = None
    ) -> AsyncClickLog:
        """Make a click log of the lists that an interleaving showed, and of the clicks on them.

        Args:
            interleaving: Its id, or one of `interleavings`.
            name: What to call it; the interleaving's name unless given.
            project: The project that it belongs to; the interleaving's unless given.

        Returns:
            The log, which a job makes.

        Raises:
            RankeryApiError: There is no such interleaving.
        """
        body = given({"interleaving_id": id_of(interleaving), "name": name, "project": project})
        document = await self.transport.create("/v1/click-logs/interleaved", body)
        return self._bound(AsyncClickLog, document)

    async def send_events(
        self, events: Iterable[tuple[str, str] | tuple[str, str, str] | tuple[str, str, str, datetime]]
    ) -> answers.RecordedServedEvents:
        """Record what users did on rankings that `rank` kept; an event that is sent again changes nothing.

        Args:
            events: A `ranking_id`, the id of a document, an action, `click` unless given, and its time with a
                time zone, now unless given; up to 1,000.

        Raises:
            RankeryApiError: The service refused them.
        """
        body = {"events": [_event(*event) for event in events]}
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
        """Return a click log with its statistics and findings, or with the problem found in it.

        Raises:
            RankeryApiError: The id is unknown.
        """
        return self._bound(AsyncClickLog, await self.transport.get(f"/v1/click-logs/{log_id}"))

    async def delete_click_log(self, log: str | HasId, *, permanently: bool = False) -> None:
        """Move a click log to the trash, from which `restore` brings it back.

        Args:
            log: The log, or its id.
            permanently: Free its bytes immediately instead.

        Raises:
            RankeryApiError: A job uses it, or there is none.
        """
        parameters = {"permanently": permanently or None}
        await self.transport.request("DELETE", f"/v1/click-logs/{id_of(log)}", parameters=parameters)

    async def _send_log(self, upload: Upload, progress: bool | None) -> AsyncClickLog:
        with transferred("uploading", upload.size_bytes, progress) as on_bytes:
            document: Any = await send_upload(self.transport, "/v1/click-logs", upload, on_bytes)
        return self._bound(AsyncClickLog, document)


def _event(
    ranking_id: str, document_id: str, action: str = "click", at: datetime | None = None
) -> dict[str, Any]:
    named = {"ranking_id": ranking_id, "document_id": document_id, "action": action}
    return given(named | {"at": at and at.isoformat()})
