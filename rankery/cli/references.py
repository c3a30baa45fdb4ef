"""Resolve datasets by id, name or file."""

import hashlib
import json
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from rankery.cli.connection import ServiceConnection
from rankery.cli.exit_codes import Interrupted, WrongUsage
from rankery.cli.printing import say
from rankery.companion_files import query_sizes_beside
from rankery.errors import JobFailed, UserError
from rankery.local_files import is_file, is_folder

if TYPE_CHECKING:
    from rankery.client import Dataset
    from rankery.client.arguments import Columns
    from rankery.client.synchronous.schedules import Schedule
    from rankery.client.views.inspection import InterleavingView

Named = TypeVar("Named", "Schedule", "InterleavingView")
_DATASET_PREFIX = "ds_"
_INTERLEAVING_PREFIX = "itl_"
_READY = "ready"
_SHOWN_CANDIDATES = 5
_MAX_COMPARED = 100  # newest datasets among which a similar name is searched


class NameUnclear(UserError):
    """Raised for an unknown or ambiguous name."""


def dataset_of(session: ServiceConnection, reference: str) -> "Dataset":
    """Return the dataset with an id or name; the newest of several with the same content.

    If a dataset with the name is ready, those that are not ready are ignored.

    Raises:
        NameUnclear: No dataset has the name, or several of different content have it.
        RankeryApiError: The id is unknown.
    """
    if reference.startswith(_DATASET_PREFIX):
        return session.client.dataset(reference)
    named = list(session.client.datasets(name=reference))
    named = [one for one in named if one.status == _READY] or named
    contents = {dataset.digest or dataset.id for dataset in named}
    if len(contents) == 1:
        return named[0]
    if named:
        shown = ", ".join(f"{one.id} of {one.created_at:%Y-%m-%d %H:%M}" for one in named[:_SHOWN_CANDIDATES])
        more = ", …" if len(named) > _SHOWN_CANDIDATES else ""
        raise NameUnclear(f"{len(named)} datasets are named {reference!r}; give the id of one: {shown}{more}")
    from rankery.client.frames.cells import suggestion

    names = [dataset.name for dataset in islice(session.client.datasets(), _MAX_COMPARED)]
    near = suggestion(reference, names) or f"; see `{session.command('datasets list')}`"
    raise NameUnclear(f"there is no dataset {reference!r}{near}")


def dataset_or_upload(
    session: ServiceConnection, reference: str, columns: dict[str, Any] | None = None
) -> "Dataset":
    """Return a dataset by id or name, or upload the file at that path and wait until it is read.

    A file that was uploaded before with the same bytes and options is not uploaded again. Without `columns`,
    an earlier upload of the same bytes with any options is reused. A file with LightGBM's query file beside
    it is always uploaded.

    Raises:
        JobFailed: The file is not judged data; the message names line and column.
        NameUnclear: See `dataset_of`.
    """
    path = Path(reference)
    if reference.startswith(_DATASET_PREFIX) or not is_file(path):
        try:
            return dataset_of(session, reference)
        except NameUnclear as unclear:
            kind = "a folder, not a file" if is_folder(path) else "not a local file"
            raise NameUnclear(f"{reference} is {kind}, and {unclear}") from None
    from rankery.client.arguments import changed_options, was_read_with

    existing = _uploaded_before(session, path, columns)
    if existing is None:
        return upload(session, path, columns=columns)
    difference = ""
    if not was_read_with(existing.source, columns):
        difference = f", read with {json.dumps(changed_options(existing.source))}"
    say(f"{path.name} was uploaded before, as {existing.id}{difference}")
    return existing


def upload(
    session: ServiceConnection,
    path: Path,
    name: str | None = None,
    *,
    columns: dict[str, Any] | None = None,
    sizes: Path | None = None,
    **options: Any,
) -> "Dataset":
    """Upload a file, with LightGBM's query file if one exists, and wait until it has been read.

    Raises:
        JobFailed: The file is not judged data; the message names line and column.
        Interrupted: The user stopped the upload.
    """
    sizes = sizes or query_sizes_beside(path, columns)
    if sizes is not None:
        say(f"{path.name}: reading the query sizes from {sizes.name}")
        options["query_sizes"] = {"file": sizes}
    chosen = cast("Columns | None", columns)
    try:
        uploaded = session.client.upload_dataset(path, name, columns=chosen, **options)
    except KeyboardInterrupt:
        from rankery.client.uploads import RESUMABLE_BYTES  # imported late: it imports the client

        resumes = "; the same command resumes the upload" if path.stat().st_size > RESUMABLE_BYTES else ""
        raise Interrupted(f"stopped{resumes}") from None
    return wait_until_ready(session, uploaded)


def wait_until_ready(session: ServiceConnection, dataset: "Dataset") -> "Dataset":
    """Wait for the job that reads or generates a dataset, and return the refreshed dataset.

    Raises:
        JobFailed: The dataset cannot be read.
    """
    job = dataset.job()
    if job is not None:
        try:
            session.wait(job)
        except JobFailed:
            problem = dataset.refresh().problem
            if problem is not None and len(problem.errors or ()) > 1:
                say(f"`{session.command(f'datasets show {dataset.id}')}` lists the errors")
            raise
    return dataset.refresh()


def refuse_unused_columns(columns: dict[str, Any] | None, *data: str | None) -> None:
    """Refuse `--columns` if none of the data is a file.

    Raises:
        WrongUsage: All data are datasets of the service, which have been read.
    """
    if columns is not None and not any(one and is_file(one) for one in data):
        raise WrongUsage(
            "--columns applies only to files; a dataset's columns were chosen when it was uploaded"
        )


def interleaving_of(session: ServiceConnection, reference: str) -> str:
    """Return the id of the interleaving with an id or name.

    Raises:
        NameUnclear: No interleaving has the name, or several have it.
    """
    if reference.startswith(_INTERLEAVING_PREFIX):
        return reference
    return only_named(session, "interleaving", session.client.interleavings(), reference).id


def only_named(session: ServiceConnection, kind: str, resources: "Iterable[Named]", name: str) -> "Named":
    """Return the only resource with a name.

    Raises:
        NameUnclear: No resource has the name, or several have it.
    """
    matching = [one for one in resources if one.name == name]
    if len(matching) == 1:
        return matching[0]
    if matching:
        ids = ", ".join(one.id for one in matching)
        raise NameUnclear(f"{len(matching)} {kind}s are named {name!r}; give the id of one: {ids}")
    raise NameUnclear(f"there is no {kind} {name!r}; see `{session.command(f'{kind}s list')}`")


def _uploaded_before(
    session: ServiceConnection, path: Path, columns: dict[str, Any] | None
) -> "Dataset | None":
    from rankery.client.arguments import was_read_with
    from rankery.client.uploads import opened

    if query_sizes_beside(path, columns) is not None:
        return None  # the checksum of the service covers only the data file, not the query file
    with opened(path) as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    uploads = list(session.client.datasets(_READY, sha256=sha256))
    same_options = [one for one in uploads if was_read_with(one.source, columns)]
    return next(iter(same_options or (uploads if columns is None else [])), None)
