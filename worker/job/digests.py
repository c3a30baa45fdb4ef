"""Digests that determine a dataset's content before it is read."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from core.data.options import TEXT_ROLES, ReadingOptions

# Incremented whenever the same bytes give other arrays, statistics or findings, to read datasets again.
READING_VERSION = 2


def upload_digest(sha256: str, query_sizes_sha256: str | None, options: ReadingOptions) -> str:
    """Return the digest of an uploaded file and its reading options.

    Args:
        sha256: Checksum of the file.
        query_sizes_sha256: Checksum of the file of query sizes, or None.
        options: Reading options.
    """
    columns = asdict(options.columns)
    for name in ("categorical_features", "document_columns", *TEXT_ROLES):
        if not columns[name]:
            del columns[name]  # digests from before these options stay valid
    decisive = {
        **{
            name: getattr(options, name) for name in ("format", "non_contiguous_queries", "repeated_features")
        },
        "columns": columns,
        "feature_names": dict(options.feature_names),
    }
    return _digest({"upload": sha256, "query_sizes": query_sizes_sha256, "options": decisive})


def files_digest(sha256s: Sequence[str], options: ReadingOptions) -> str:
    """Return the digest of a dataset of several files, which differs from that of one concatenated file.

    The digest of a single file is that of an upload of the same bytes.

    Args:
        sha256s: Checksums of the files, in the order of their rows; their names do not matter.
        options: Reading options.
    """
    if len(sha256s) == 1:
        return upload_digest(sha256s[0], None, options)
    together = hashlib.sha256("".join(sha256s).encode()).hexdigest()
    return _digest({"files": upload_digest(together, None, options)})


def synthetic_digest(source: dict[str, Any]) -> str:
    """Return the digest of a synthetic dataset's parameters."""
    return _digest({"synthetic": source})


def _digest(decisive: dict[str, Any]) -> str:
    text = json.dumps({"version": READING_VERSION, **decisive}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
