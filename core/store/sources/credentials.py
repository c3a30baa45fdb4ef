"""Named credentials of workers, each valid for certain URLs only."""

import json
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from core.errors import InvalidInput
from core.store.sources.source_urls import SourceUrl, parse_prefix

SETTING = "RANKERY_SOURCE_CREDENTIALS"
VARIABLE = "RANKERY_CREDENTIALS_"
NAME_PATTERN = r"^[A-Za-z][A-Za-z0-9_-]{0,62}$"
_POINTER = "/credentials"
_MEMBERS = frozenset({"prefixes", "options", "headers"})


@dataclass(frozen=True)
class Credentials:
    """Credentials of a server or an object store, without secrets in their `repr`.

    Attributes:
        prefixes: Prefixes of the URLs for which they are valid.
        options: Options of the fsspec file system of buckets and the Hugging Face Hub.
    """

    prefixes: tuple[SourceUrl, ...] = ()
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)

    def fits(self, url: SourceUrl) -> bool:
        """Return whether the credentials are valid for a URL."""
        return any(url.is_below(prefix) for prefix in self.prefixes)


NO_CREDENTIALS = Credentials()


class CredentialFile:
    """Credentials by name, in a file and in environment variables `RANKERY_CREDENTIALS_<NAME>`.

    The file is JSON, or TOML by its suffix, with an object for each name. A variable holds one such object
    as JSON and overrides the file. Both are read on each call, so that secrets can be rotated.
    """

    def __init__(self, file: Path | None, environment: Mapping[str, str] = os.environ) -> None:
        self._file = file
        self._environment = environment

    def find(self, name: str, url: SourceUrl) -> Credentials:
        """Return the credentials of a name, for a URL.

        Raises:
            InvalidInput: The credentials do not exist, cannot be read, or are for other URLs.
        """
        credentials = self._read(name)
        if not credentials.fits(url):
            raise InvalidInput.at(_POINTER, f"the credentials {name!r} are not for {url}")
        return credentials

    def _read(self, name: str) -> Credentials:
        if not re.fullmatch(NAME_PATTERN, name):
            raise InvalidInput.at(_POINTER, "must be the name of credentials of the workers")
        variable = VARIABLE + name.upper().replace("-", "_")
        if variable in self._environment:
            return _parse_credentials(
                _parse_object(self._environment[variable], variable, is_toml=False), variable
            )
        if self._file is None:
            raise InvalidInput.at(
                _POINTER, f"the worker has no credentials {name!r}: set {variable} or {SETTING}"
            )
        try:
            text = self._file.read_text()
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInput.at(_POINTER, f"the file of {SETTING} cannot be read by the worker") from error
        by_name = _parse_object(text, SETTING, is_toml=self._file.suffix == ".toml")
        if name not in by_name:
            raise InvalidInput.at(
                _POINTER,
                f"the worker has no credentials {name!r}: neither {variable} nor {SETTING} defines them",
            )
        return _parse_credentials(by_name[name], f"{name} in {SETTING}")


def _parse_object(text: str, setting: str, *, is_toml: bool) -> dict[str, Any]:
    try:
        parsed = tomllib.loads(text) if is_toml else json.loads(text)
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        # Without the parser's message, which may hold a part of a secret.
        raise InvalidInput.at(
            _POINTER, f"{setting} must be {'TOML' if is_toml else 'a JSON object'}"
        ) from None
    return parsed


def _parse_credentials(values: Any, setting: str) -> Credentials:
    if (
        not isinstance(values, dict)
        or not set(values) <= _MEMBERS
        or not isinstance(values.get("prefixes"), list)
    ):
        raise InvalidInput.at(
            _POINTER,
            f"{setting} must have prefixes, a list of URLs; it may have options and headers, but no"
            " other members",
        )
    options, headers = values.get("options", {}), values.get("headers", {})
    if not isinstance(options, dict) or not isinstance(headers, dict):
        raise InvalidInput.at(_POINTER, f"options and headers of {setting} must be objects")
    try:
        prefixes = tuple(parse_prefix(str(prefix)) for prefix in values["prefixes"])
    except InvalidInput as invalid:
        raise InvalidInput.at(_POINTER, f"a prefix of {setting} {invalid.problems[0].detail}") from invalid
    return Credentials(
        prefixes,
        MappingProxyType(dict(options)),
        MappingProxyType({str(name): str(value) for name, value in headers.items()}),
    )
