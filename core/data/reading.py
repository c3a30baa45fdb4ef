"""Opening a file of judged documents, whatever it is packed in."""

import gzip
import mmap
import zlib
from os import PathLike
from pathlib import Path

import numpy as np
import numpy.typing as npt

from core.data.dataset import RankingDataset
from core.data.letor import MAX_CELLS, RepeatedFeatures, read_letor
from core.errors import DatasetError, InvalidInput

FORMATS = ("auto", "letor")
MAX_BYTES = 2**33  # 8 GiB of text, twice MSLR-WEB30K

_GZIP = b"\x1f\x8b"
_CHUNK_BYTES = 2**20
_SNIFFED_BYTES = 2**16
_FOREIGN = {
    _GZIP: "gzip data within gzip data",
    b"PK\x03\x04": "a ZIP archive",
    b"BZh": "bzip2 data",
    b"\xfd7zXZ\x00": "xz data",
    b"\x28\xb5\x2f\xfd": "Zstandard data",
    b"PAR1": "a Parquet file",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
}


def read_dataset(
    path: str | PathLike[str],
    format: str = "auto",
    *,
    name: str | None = None,
    repeated_features: RepeatedFeatures = "last",
    max_bytes: int = MAX_BYTES,
    max_cells: int = MAX_CELLS,
) -> RankingDataset:
    """Read judged documents from a file, plain or gzip-compressed (told by its content, not its name).

    Args:
        path: Where the file is. A plain file is mapped into memory and must not be cut while it is read.
        format: "letor", or "auto" to tell it by the content; see `read_letor` for its rules.
        name: What error messages call the file; its own name where left out.
        repeated_features: Whether a feature that comes twice in a row counts with its last value ("last", as
            TF-Ranking reads its own sample files) or is an error ("reject").
        max_bytes: The most bytes that a compressed file may unpack to.
        max_cells: The most documents times features to make room for.

    Raises:
        DatasetError: With the line and column of what cannot be understood.
        InvalidInput: On an unknown format.
        OSError: When the file cannot be opened.
    """
    if format not in FORMATS:
        raise InvalidInput.at("/format", f"must be one of {', '.join(FORMATS)}; found {format!r}")
    if repeated_features not in ("last", "reject"):
        raise InvalidInput.at("/repeated_features", f"must be last or reject; found {repeated_features!r}")
    file = Path(path).name if name is None else name
    text = _text(Path(path), file, max_bytes)
    _check_text(text, file)
    return read_letor(text, file, repeated_features=repeated_features, max_cells=max_cells)


def _text(path: Path, file: str, max_bytes: int) -> npt.NDArray[np.uint8]:
    with path.open("rb") as stream:
        start = stream.read(len(_GZIP))
        if not start:
            raise DatasetError.at("expected judged documents, but the file is empty", file=file)
        packed = start == _GZIP
        content = _unpacked(path, file, max_bytes) if packed else _mapped(stream.fileno())
    text = np.frombuffer(content, np.uint8)
    text.flags.writeable = False  # one compiled kernel then serves mapped and unpacked text
    return text


def _mapped(descriptor: int) -> mmap.mmap:
    return mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)


def _unpacked(path: Path, file: str, max_bytes: int) -> bytearray:
    content = bytearray()
    try:
        with gzip.open(path, "rb") as stream:
            while chunk := stream.read(_CHUNK_BYTES):
                content += chunk
                if len(content) > max_bytes:
                    raise DatasetError.at(
                        f"expected gzip data that unpack to at most {max_bytes:,} bytes, but found more",
                        file=file,
                    )
    except EOFError as error:
        raise DatasetError.at(
            "expected complete gzip data, but the file ends early, perhaps cut off in an upload", file=file
        ) from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise DatasetError.at(f"expected gzip data, but found damage: {error}", file=file) from error
    return content


def _check_text(text: npt.NDArray[np.uint8], file: str) -> None:
    start = text[:_SNIFFED_BYTES].tobytes()
    for signature, found in _FOREIGN.items():
        if start.startswith(signature):
            raise DatasetError.at(
                f"expected UTF-8 text, plain or gzip-compressed, but found {found}", file=file
            )
    if b"\0" in start:
        raise DatasetError.at(
            "expected UTF-8 text, plain or gzip-compressed, but found binary data", file=file
        )
