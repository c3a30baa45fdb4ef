"""Validate an upload of datasets and record the datasets that it contains."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from app.datasets.schemas import dataset_name
from app.http.bodies import parse_json
from app.http.labels import project_problems
from app.http.uploads import ReceivedFile, ReceivedUpload
from core.data.options import reading_options
from core.errors import InputProblem, InvalidInput
from core.jobs.folders import upload_folder
from core.store import Dataset, Transaction, new_id
from core.store.artifacts.keys import query_sizes_key, upload_key

FILE = "file"
PARTS = ("train", "validation", "test")
_SIZES = "_query"
FILES = tuple(name for part in (FILE, *PARTS) for name in (part, part + _SIZES))
# A text field is short; anything longer is a file sent under the wrong name.
TEXTS: Mapping[str, int] = MappingProxyType(
    {
        "name": 4_096,
        "format": 64,
        "non_contiguous_queries": 64,
        "repeated_features": 64,
        "columns": 2**18,
        "feature_names": 2**20,
        "project": 400,
    }
)
_LABELS = frozenset({"name", "project"})
_JSON_TEXTS = ("columns", "feature_names")


class Places:
    """Artifact keys of one upload; each dataset has its id before its bytes arrive."""

    def __init__(self) -> None:
        self.ids = {part: new_id("ds_") for part in (FILE, *PARTS)}

    def key_of(self, field: str) -> str:
        """Return the key of a part's file."""
        part = field.removesuffix(_SIZES)
        return upload_key(self.ids[part]) if part == field else query_sizes_key(self.ids[part])

    def folders(self) -> list[str]:
        """Return all folders that the upload may have written."""
        return [upload_folder(dataset_id) for dataset_id in self.ids.values()]


@dataclass(frozen=True)
class DatasetUpload:
    """A complete and consistent upload.

    Attributes:
        received: Its files and fields.
        parts: The parts that are datasets, in order.
        options: How they are to be read, as JSON, the format aside.
        format: The format asked for.
    """

    received: ReceivedUpload
    parts: tuple[str, ...]
    options: dict[str, Any]
    format: str

    @classmethod
    def of(cls, received: ReceivedUpload) -> "DatasetUpload":
        """Validate the received files.

        Raises:
            InvalidInput: With a pointer for each part that is missing, contradicts another or is unfit.
        """
        problems = [*_contradictions(received.files), *project_problems(received.fields)]
        options = {name: value for name, value in received.fields.items() if name not in _LABELS}
        for name in _JSON_TEXTS:
            if name in options:
                try:
                    options[name] = parse_json(options[name].encode())
                except ValueError as error:
                    problems.append(InputProblem(f"/{name}", f"must be JSON: {error}"))
                    del options[name]
        try:
            reading_options(options)
        except InvalidInput as invalid:
            problems += invalid.problems
        if problems:
            raise InvalidInput(*problems)
        parts = tuple(part for part in (FILE, *PARTS) if part in received.files)
        upload = cls(received, parts, options, str(options.pop("format", "auto")))
        for part in parts:
            dataset_name(upload.name_of(part))
        return upload

    def sha256(self) -> str:
        """Return a checksum of the upload that does not depend on the order of its parts."""
        files = {field: [file.filename, file.sha256] for field, file in self.received.files.items()}
        content = json.dumps([files, self.received.fields], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()

    def name_of(self, part: str) -> str:
        """Return the display name of the dataset in a part."""
        given = self.received.fields.get("name")
        if given is None:
            return self.received.files[part].filename
        return given if part == FILE or not given else f"{given} {part}"

    @property
    def size_bytes(self) -> int:
        """Total size of the dataset files."""
        return sum(self.received.files[part].size_bytes for part in self.parts)

    def add(self, tx: Transaction, places: Places, key_id: str | None = None) -> list[Dataset]:
        """Record a dataset for each part, owned by the API key of the upload."""
        ids = {part: places.ids[part] for part in self.parts}
        together = None if self.parts == (FILE,) else ids
        return [self._add(tx, part, ids[part], together, key_id) for part in self.parts]

    def _add(
        self,
        tx: Transaction,
        part: str,
        dataset_id: str,
        together: dict[str, str] | None,
        key_id: str | None,
    ) -> Dataset:
        file = self.received.files[part]
        source = {"kind": "upload", "filename": file.filename, "format": self.format, "options": self.options}
        sizes = self.received.files.get(part + _SIZES)
        if sizes is not None:
            source["query_sizes_filename"] = sizes.filename
        return tx.datasets.add(
            self.name_of(part),
            source,
            dataset_id,
            size_bytes=file.size_bytes,
            sha256=file.sha256,
            parts=together,
            key_id=key_id,
            project=self.received.fields.get("project"),
        )


def options_ignoring(dataset: Dataset, ignore: Sequence[str]) -> dict[str, Any]:
    """Return the reading options of an upload, with more columns left out.

    Raises:
        InvalidInput: They contradict the other options.
    """
    options = dict(dataset.source.get("options") or {})
    left_out = set(ignore)
    columns: dict[str, Any] = {}
    for role, named in (options.get("columns") or {}).items():
        if isinstance(named, str):
            columns |= {} if named in left_out else {role: named}
        elif named is not None:
            columns[role] = [name for name in named if name not in left_out]
    columns["ignore"] = [*columns.get("ignore", ()), *dict.fromkeys(ignore)]
    names = options.get("feature_names")
    if isinstance(names, dict):
        options["feature_names"] = {name: value for name, value in names.items() if name not in left_out}
    options["columns"] = columns
    reading_options(options)
    return options


def _contradictions(files: Mapping[str, ReceivedFile]) -> list[InputProblem]:
    judged = [part for part in (FILE, *PARTS) if part in files]
    if not judged:
        detail = "required: the dataset, as a part with this name and a filename; or train, validation, test"
        return [InputProblem(f"/{FILE}", detail)]
    problems = [
        InputProblem(f"/{field}", f"goes with a part {field.removesuffix(_SIZES)}, which is missing")
        for field in files
        if field.endswith(_SIZES) and field.removesuffix(_SIZES) not in files
    ]
    if FILE in files and len(judged) > 1:
        problems.append(InputProblem(f"/{FILE}", f"send either file or {', '.join(PARTS)}"))
    return problems
