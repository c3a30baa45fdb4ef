"""Mutated files for every reader: each is read or refused, within bounds of time and memory.

python -m tests.core.data.fuzz --files 100000
"""

import argparse
import collections
import gzip
import io
import multiprocessing
import resource
import sys
import tempfile
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.progress import track
from rich.table import Table

from core.data import RankingDataset
from core.data.options import FORMATS, Limits, ReadingOptions
from core.data.reading import JudgedFile, read_file
from core.errors import DatasetError, InvalidInput

LIMITS = Limits(unpacked_bytes=2**22, features=1_000)
SECONDS_A_FILE = 20.0
GROWTH_BYTES = 400 * 2**20
BATCH = 1_000

_LETOR = b"".join(
    b"%d qid:%d %d:%.4f 3:%d 5:-1e-%d # doc%d\n" % (i % 4, i // 3, 1 + i % 2, i / 7, i, i % 9, i)
    for i in range(12)
)
_PAIRS = b"".join(b"%d 0:%d 2:%.3f\n" % (i % 3, i, i / 3) for i in range(12))
_CSV = b"label,query_id,docid,bm25,age,market\n" + b"".join(
    b'%d,q%d,"d,%d",%.3f,%d,%s\n' % (i % 3, i // 3, i, i / 9, i, (b"de", b"fr")[i // 6]) for i in range(12)
)
_TOKENS = (
    b"qid:", b"qid:1 ", b"\n", b"\r", b"\r\n", b"\0", b"\xff", b"\xef\xbb\xbf", b"#", b":", b'"', b",", b"\t",
    b";", b"nan", b"inf", b"-inf", b"1e999", b"1e-999", b"-0", b"9" * 30, b"1000000:1", b"99999999999:1",
    b"0:1", b"3.4028235677973366e38", b"1.000000059604644775390625", b"1:1:1", b" ", b"   ", b"label",
    b"query_id", b"# docid = ", b"{", b"PAR1", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xc3\xa9", b"\xe9",
    b"true",
)  # fmt: skip


@dataclass(frozen=True)
class _Sample:
    """One mutated file, its side file, and how it is read."""

    content: bytes
    sizes: bytes | None
    options: ReadingOptions


@dataclass(frozen=True)
class Outcome:
    """Results of reading the files.

    Attributes:
        counts: Number of files that were read, and number of refused ones.
        failures: Other failures: the seed, and the traceback or the end of the process.
        growth_bytes: Largest growth of a process's memory while it read files.
    """

    counts: collections.Counter[str]
    failures: list[tuple[int, str]]
    growth_bytes: int


def fuzz(files: int, first_seed: int = 0) -> Iterator[Outcome]:
    """Read a number of mutated files in child processes and yield the outcome of each batch."""
    for first in range(first_seed, first_seed + files, BATCH):
        yield _batch(range(first, min(first + BATCH, first_seed + files)))


def _batch(seeds: range) -> Outcome:
    counts: collections.Counter[str] = collections.Counter()
    failures: list[tuple[int, str]] = []
    growth = 0
    while len(seeds):
        ours, theirs = multiprocessing.Pipe(duplex=False)
        child = multiprocessing.get_context("spawn").Process(target=_read_all, args=(seeds, theirs))
        child.start()
        theirs.close()
        done = _receive(ours, counts, failures)
        growth = max(growth, done.growth)
        if not done.files and not done.hung:
            child.join()
            raise RuntimeError("the child process does not start")
        if done.files < len(seeds):
            child.kill()
            child.join()
            end = "took too long" if done.hung else f"died with exit code {child.exitcode}"
            failures.append((seeds[done.files], f"the process {end}"))
        child.join()
        seeds = seeds[done.files + 1 :]
    return Outcome(counts, failures, growth)


@dataclass
class _Progress:
    files: int = 0
    growth: int = 0
    hung: bool = False


def _receive(
    pipe: Connection, counts: collections.Counter[str], failures: list[tuple[int, str]]
) -> _Progress:
    done = _Progress()
    while True:
        # The first answer waits for Python to start and for the kernels.
        if not pipe.poll(SECONDS_A_FILE if done.files else 300.0):
            done.hung = True
            return done
        try:
            seed, result, done.growth = pipe.recv()
        except EOFError:
            return done
        done.files += 1
        if result in ("read", "refused"):
            counts[result] += 1
        else:
            failures.append((seed, result))


def _read_all(seeds: range, pipe: Connection) -> None:
    warm_up_samples = [sample_of(seed) for seed in range(20)]
    with tempfile.TemporaryDirectory(prefix="rankery-fuzz-") as folder:
        for sample in warm_up_samples:
            _read(sample, Path(folder))
        before = _resident_bytes()
        for seed in seeds:
            result = _read(sample_of(seed), Path(folder))
            growth = _resident_bytes() - before
            pipe.send((seed, "took too much memory" if growth > GROWTH_BYTES else result, growth))


def _read(sample: _Sample, folder: Path) -> str:
    path, sizes = folder / "file", folder / "sizes"
    path.write_bytes(sample.content)
    if sample.sizes is not None:
        sizes.write_bytes(sample.sizes)
    file = JudgedFile(path, "file", sizes if sample.sizes is not None else None, "sizes")
    try:
        dataset = read_file(file, sample.options, LIMITS).dataset
        _check(dataset)
    except (DatasetError, InvalidInput):
        return "refused"
    except BaseException:  # noqa: BLE001 - any other error is a failure to report
        return traceback.format_exc()
    return "read"


def _check(dataset: RankingDataset) -> None:
    """Validate the dataset, and read all of its arrays."""
    RankingDataset.from_arrays(
        dataset.features,
        dataset.labels,
        dataset.query_boundaries,
        query_ids=dataset.query_ids,
        document_ids=list(dataset.document_ids),
        feature_names=dataset.feature_names,
        query_weights=dataset.query_weights,
        document_weights=dataset.document_weights,
        query_columns=dataset.query_columns,
    )


def sample_of(seed: int) -> _Sample:
    """Make the mutated file of a seed."""
    generator = np.random.default_rng(seed)
    originals = _valid_files()
    content, kind = originals[int(generator.integers(len(originals)))]
    for _ in range(int(generator.integers(1, 4))):
        content = _mutated(content, generator)
    if generator.random() < 0.15:
        content = _compressed(content, generator)
        if generator.random() < 0.5:
            content = _mutated(content, generator)
    sizes = None
    if kind == "lightgbm" or generator.random() < 0.05:
        sizes = b"3\n" * 4
        if generator.random() < 0.4:
            sizes = _mutated(sizes, generator)
    chosen = kind if generator.random() < 0.3 else "auto"
    if generator.random() < 0.05:
        chosen = _choice(FORMATS, generator)
    return _Sample(
        content,
        sizes,
        ReadingOptions(
            format=chosen,
            non_contiguous_queries=_choice(("regroup", "error"), generator),
            repeated_features=_choice(("last", "reject"), generator),
        ),
    )


def _choice(choices: tuple[str, ...], generator: np.random.Generator) -> str:
    return choices[int(generator.integers(len(choices)))]


def _mutated(content: bytes, generator: np.random.Generator) -> bytes:
    if not content:
        return _TOKENS[int(generator.integers(len(_TOKENS)))]
    at, length = int(generator.integers(len(content))), int(generator.integers(1, 40))
    kind = int(generator.integers(8))
    if kind == 0:  # another bit
        flipped = content[at] ^ (1 << int(generator.integers(8)))
        return content[:at] + bytes([flipped]) + content[at + 1 :]
    if kind == 1:  # cut off
        return content[:at]
    if kind == 2:  # a part lost
        return content[:at] + content[at + length :]
    if kind == 3:  # a part twice
        return content[: at + length] + content[at:]
    if kind == 4:  # a part repeated elsewhere
        to = int(generator.integers(len(content)))
        return content[:to] + content[at : at + length] + content[to:]
    token = _TOKENS[int(generator.integers(len(_TOKENS)))]
    if kind == 5:  # random bytes
        token = generator.bytes(length)
    if kind == 6:  # a token that overwrites other bytes
        return content[:at] + token + content[at + len(token) :]
    return content[:at] + token + content[at:]


def _compressed(content: bytes, generator: np.random.Generator) -> bytes:
    if generator.random() < 0.5:
        return gzip.compress(content, mtime=0)
    return bytes(pa.compress(content, "zstd", asbytes=True))


def _valid_files() -> list[tuple[bytes, str]]:
    return [
        (_LETOR, "letor"),
        (_PAIRS, "lightgbm"),
        (_CSV, "csv"),
        (_CSV.replace(b",", b"\t"), "csv"),
        (_parquet(), "parquet"),
    ]


def _parquet() -> bytes:
    file = io.BytesIO()
    columns = {
        "label": [i % 3 for i in range(12)],
        "query_id": [f"q{i // 3}" for i in range(12)],
        "docid": [f"d{i}" for i in range(12)],
        "bm25": [i / 9 for i in range(12)],
        "market": ["de"] * 6 + ["fr"] * 6,
    }
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


def _resident_bytes() -> int:
    peak: int = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024)


def main() -> int:
    """Fuzz and print the outcome; return 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    counts: collections.Counter[str] = collections.Counter()
    failures: list[tuple[int, str]] = []
    growth = 0
    batches = -(-arguments.files // BATCH)
    for outcome in track(fuzz(arguments.files, arguments.seed), "reading", batches):
        counts += outcome.counts
        failures += outcome.failures
        growth = max(growth, outcome.growth_bytes)
    console = Console()
    table = Table("mutated files", "read", "refused", "failed", "most memory, MiB")
    cells = (
        sum(counts.values()) + len(failures),
        counts["read"],
        counts["refused"],
        len(failures),
        growth >> 20,
    )
    table.add_row(*(f"{cell:,}" for cell in cells))
    console.print(table)
    for seed, failure in failures[:20]:
        console.print(f"seed {seed}: {failure}", markup=False)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
