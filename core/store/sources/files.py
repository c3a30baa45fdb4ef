"""The files at the URLs of one dataset or click log."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import httpx

from core.data.file_patterns import MAX_FILES
from core.errors import InvalidInput
from core.outbound.clients import open_client
from core.outbound.guard import SsrfGuard
from core.store.sources.bucket_file import Bucket
from core.store.sources.credentials import NO_CREDENTIALS, CredentialFile
from core.store.sources.ir_datasets_file import IrDatasetFile
from core.store.sources.remote_file import RemoteFile
from core.store.sources.source_urls import IR_DATASETS, AllowedUrls, SourceUrl
from core.store.sources.web_file import WebFile

_TIMEOUT = httpx.Timeout(10.0, read=30.0)


class RemoteFiles:
    """Files at URLs; use it in a `with` block, which closes its connections.

    Args:
        prefixes: Allowed prefixes, from the setting `sources`.
        outbound_allowed: Allowed networks and hosts that are not public.
        credential_file: File of the named credentials, or None.
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
            pattern: Pattern of file names in folders.
            credentials: Name of the credentials, or None.

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
