"""What people call datasets: an id, a name, or a file that becomes one."""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankery.cli.printing import say
from rankery.cli.session import Session
from rankery.errors import UserError

if TYPE_CHECKING:
    from rankery.client import Dataset

_DATASET_PREFIX = "ds_"
_SHOWN_CANDIDATES = 5


class NameUnclear(UserError):
    """A name is nobody's, or that of several."""


def dataset_of(session: Session, reference: str) -> "Dataset":
    """Find a dataset by its id or its name; of several with the same content the newest.

    Raises:
        NameUnclear: No dataset has the name, or several of different content have it.
        RankeryApiError: There is none of this id.
    """
    if reference.startswith(_DATASET_PREFIX):
        return session.client.dataset(reference)
    named = list(session.client.datasets(name=reference))
    contents = {dataset.digest or dataset.id for dataset in named}
    if len(contents) == 1:
        return named[0]
    if named:
        shown = ", ".join(f"{one.id} of {one.created_at:%Y-%m-%d %H:%M}" for one in named[:_SHOWN_CANDIDATES])
        more = ", …" if len(named) > _SHOWN_CANDIDATES else ""
        raise NameUnclear(
            f"{len(named)} datasets are called {reference!r}; give the id of one: {shown}{more}"
        )
    raise NameUnclear(f"there is no dataset {reference!r}; see `{session.command('datasets list')}`")


def data_of(session: Session, reference: str) -> "Dataset":
    """Find a dataset by its id or its name, or upload the file of that path and wait until it is read.

    A file whose bytes were uploaded before is not uploaded again.

    Raises:
        JobFailed: The file is no judged data; the sentence names line and column.
        NameUnclear: As `dataset_of`.
    """
    path = Path(reference)
    if reference.startswith(_DATASET_PREFIX) or not path.is_file():
        try:
            return dataset_of(session, reference)
        except NameUnclear as unclear:
            raise NameUnclear(f"{reference} is no file here, and {unclear}") from None
    known = _uploaded_before(session, path)
    if known is None:
        return upload(session, path)
    say(f"{path.name} was uploaded before, as {known.id}")
    return known


def upload(session: Session, path: Path, name: str | None = None, **options: Any) -> "Dataset":
    """Upload a file and wait until it has been read.

    Raises:
        JobFailed: It is no judged data; the sentence names line and column.
    """
    return read(session, session.client.upload_dataset(path, name, **options))


def read(session: Session, dataset: "Dataset") -> "Dataset":
    """Wait until a dataset has been read, or made.

    Raises:
        JobFailed: It cannot be read.
    """
    job = dataset.job()
    if job is not None:
        session.wait(job)
    return dataset.refresh()


def _uploaded_before(session: Session, path: Path) -> "Dataset | None":
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    same = session.client.datasets("ready", sha256=sha256)
    return next((one for one in same if not one.source.get("options")), None)
