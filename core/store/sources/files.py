"""The files at the URLs of one dataset or click log, and those of the package `ir_datasets`."""

import contextlib
import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import httpx

from core.data.folders import MAX_FILES
from core.errors import DatasetError, ExtraMissing, InvalidInput
from core.outbound.clients import open_client
from core.outbound.guard import SsrfGuard
from core.store.sources.bucket_file import Bucket
from core.store.sources.credentials import NO_CREDENTIALS, CredentialFile
from core.store.sources.remote_file import ByteStream, DownloadInterrupted, FileVersion, RemoteFile
from core.store.sources.source_urls import EXTRAS, IR_DATASETS, AllowedUrls, SourceUrl
from core.store.sources.web_file import WebFile

_LINES_PER_BLOCK = 4_096
Judgments = dict[str, dict[str, float]]


class IrDatasetFile:
    """The judgments of a dataset of `ir_datasets`, which downloads missing files to `IR_DATASETS_HOME`.

    A dataset with scored documents, the run to be re-ranked, becomes a table: each scored document with its
    score as the only feature `score`, its label, and the text of its query. Documents without a judgment
    have the label 0. Negative judgments become 0, too. Judged documents without a score are left out, since
    their missing score would reveal the label. Other datasets become TREC qrels, without features.

    Args:
        url: `ir_datasets:` and the id of the dataset.
    """

    def __init__(self, url: SourceUrl) -> None:
        self.url = url

    @contextlib.contextmanager
    def read(self, start: int, version: FileVersion | None) -> Iterator[ByteStream]:
        """Open the file, always from its start; see `RemoteFile.read`."""
        try:
            import ir_datasets
        except ImportError as error:
            raise ExtraMissing(*EXTRAS[IR_DATASETS]) from error
        try:
            dataset = ir_datasets.load(self.url.path)
        except KeyError as error:
            raise self._dataset_error("but the package has no dataset of this id") from error
        if not dataset.has_qrels():
            kinds = [kind for kind in ("docs", "queries", "scoreddocs", "docpairs") if dataset.has(kind)]
            raise self._dataset_error(f"but it has only {', '.join(kinds)}; name a subset with judgments")
        lines = _table(dataset) if dataset.has_scoreddocs() else _qrels(dataset)
        yield ByteStream(FileVersion(None), 0, self._blocks(lines))

    def _blocks(self, lines: Iterator[str]) -> Iterator[bytes]:
        try:
            while block := "".join(islice(lines, _LINES_PER_BLOCK)):
                yield block.encode()
        except (OSError, EOFError, RuntimeError) as error:  # raised by downloads of the package
            raise DownloadInterrupted(f"ir_datasets failed ({type(error).__name__})") from error

    def _dataset_error(self, problem: str) -> DatasetError:
        return DatasetError.at(f"expected judgments at {self.url}, {problem}", file=self.url.name)


def _qrels(dataset: Any) -> Iterator[str]:
    for judgment in dataset.qrels_iter():
        yield f"{judgment.query_id} 0 {judgment.doc_id} {judgment.relevance}\n"


def _table(dataset: Any) -> Iterator[str]:
    labels, texts = _labels(dataset.qrels_iter()), _query_texts(dataset)
    yield _row(("query_id", "query_text", "document_id", "label", "score"))
    for scored in dataset.scoreddocs_iter():
        label = labels[scored.query_id].get(scored.doc_id, 0) if scored.query_id in labels else 0
        text = texts.get(scored.query_id, "")
        yield _row((scored.query_id, text, scored.doc_id, max(label, 0), scored.score))


def _labels(judgments: Iterable[Any]) -> Judgments:
    labels: Judgments = defaultdict(dict)
    for judgment in judgments:
        labels[judgment.query_id][judgment.doc_id] = judgment.relevance
    return labels


def _query_texts(dataset: Any) -> dict[str, str]:
    if not dataset.has_queries():
        return {}
    return {query.query_id: " ".join(query.default_text().split()) for query in dataset.queries_iter()}


def _row(values: Iterable[Any]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(values)
    return text.getvalue()


_TIMEOUT = httpx.Timeout(10.0, read=30.0)


class RemoteFiles:
    """Files at URLs; use it in a `with` block, which closes its connections.

    Args:
        prefixes: Allowed prefixes, from the setting `sources`.
        outbound_allowed: Allowed networks and hosts that are not public.
    """

    def __init__(
        self, prefixes: Sequence[str], outbound_allowed: Sequence[str], credential_file: Path | None
    ) -> None:
        self._allowed = AllowedUrls(prefixes)
        self._guard = SsrfGuard(outbound_allowed)
        self._credentials = CredentialFile(credential_file)
        self._exits = contextlib.ExitStack()
        self._client: httpx.Client | None = None

    def __enter__(self) -> "RemoteFiles":
        return self

    def __exit__(self, *_: object) -> None:
        self._exits.close()

    def find(
        self, urls: Sequence[SourceUrl], pattern: str | None, credentials: str | None
    ) -> list[RemoteFile]:
        """Return the files of some URLs, in their order.

        Args:
            urls: URLs of files, or of folders with a pattern.

        Raises:
            InvalidInput: A URL is not allowed, or the pattern or the credentials do not fit it.
            DatasetError: A folder does not exist or is not readable.
            DownloadInterrupted: A storage does not answer now.
        """
        files = [file for url in urls for file in self._files(url, pattern, credentials)]
        if len(files) > MAX_FILES:
            raise InvalidInput.at(
                "/source", f"must match at most {MAX_FILES:,} files; it matches {len(files):,}"
            )
        return files

    def _files(
        self, url: SourceUrl, pattern: str | None, credentials_name: str | None
    ) -> Iterator[RemoteFile]:
        self._allowed.check(url)
        credentials = (
            NO_CREDENTIALS if credentials_name is None else self._credentials.find(credentials_name, url)
        )
        if url.scheme == IR_DATASETS:
            yield IrDatasetFile(url)
        elif url.is_web:
            yield WebFile(url, self._web_client(), self._allowed, credentials)
        else:
            yield from Bucket(url, credentials.options).files(pattern)

    def _web_client(self) -> httpx.Client:
        if self._client is None:
            self._client = self._exits.enter_context(open_client(self._guard, timeout=_TIMEOUT))
        return self._client
