"""Check judged files locally without a service, using core."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from rankery.keys import open_store
from rankery.local import one_sentence, query_sizes_beside
from rankery.server_package import require_server_package

Finding = dict[str, Any]


@dataclass(frozen=True)
class ExaminedFile:
    """The findings of a file.

    Attributes:
        file: Its path, as given.
        format: What it turned out to be: letor, lightgbm, csv, parquet or trec-qrels.
        query_sizes: LightGBM's query file that goes with it; None without.
        statistics: Counts of queries, documents, features and labels, as the service shows them.
        findings: Errors first, as the service shows them.
    """

    file: str
    format: str
    query_sizes: str | None
    statistics: dict[str, Any]
    findings: list[Finding]


@dataclass(frozen=True)
class ExaminedPair:
    """The findings of two files together.

    Attributes:
        train: The file that a model would learn from.
        test: The file that it would be judged on.
        findings: As of a file.
    """

    train: str
    test: str
    findings: list[Finding]


@dataclass(frozen=True)
class Examination:
    """The findings of several files."""

    files: list[ExaminedFile]
    pairs: list[ExaminedPair]

    def worst(self) -> str | None:
        """Return the gravest severity among all findings; None where there is none."""
        lists = [file.findings for file in self.files] + [pair.findings for pair in self.pairs]
        found = {finding["severity"] for findings in lists for finding in findings}
        return next((severity for severity in ("error", "warning", "info") if severity in found), None)


@dataclass(frozen=True)
class ExaminedStorage:
    """The findings of a data folder's artifacts, by key.

    Attributes:
        artifacts: How many are on record.
        damaged: Those with other bytes than were written.
        missing: Those that are gone.
        unverified: Those that get their checksum when they are first read.
        orphaned: Files older than an hour that nothing on record needs.
    """

    artifacts: int
    damaged: list[str]
    missing: list[str]
    unverified: list[str]
    orphaned: list[str]


def examine_storage(data_dir: Path) -> ExaminedStorage:
    """Compare all stored artifacts with their checksums, the service running or not.

    Args:
        data_dir: The data folder; RANKERY_DATABASE_URL and RANKERY_STORAGE_URL may name other places.

    Raises:
        StoreUnusable: The database or the storage cannot be used.
    """
    require_server_package()
    from core.store.artifacts.inventory import take_inventory

    with open_store(data_dir) as store:
        return ExaminedStorage(**asdict(take_inventory(store)))


def examine_files(
    files: Sequence[Path],
    tests: Sequence[Path],
    options: Mapping[str, Any] | None = None,
    query_sizes: Path | None = None,
) -> Examination:
    """Check files, and related files together.

    Args:
        files: What models would learn from.
        tests: What they would be judged on: each is held against each of `files`. Without any, each of
            `files` is held against those after it.
        options: How to read them all, as an upload's: `format`, `columns`, `non_contiguous_queries`, ….
        query_sizes: LightGBM's query file of the first of `files`; a file beside it with `.query` after its
            name is found without, as for all others.

    Raises:
        FilesUnusable: In one sentence, with line and column.
    """
    require_server_package()
    from core.machine import limit_threads

    limit_threads()
    from core.data import dataset_statistics
    from core.data.options import reading_options
    from core.data.reading import JudgedFile, read_file
    from core.doctor import compare, examine

    examined, datasets = [], {}
    given = {files[0]: query_sizes} if query_sizes else {}
    for path in (*files, *tests):
        if path in datasets:
            continue
        sizes = given.get(path) or query_sizes_beside(path, (options or {}).get("columns"))
        with one_sentence():
            file = JudgedFile(path, path.name, sizes)
            reading = read_file(file, reading_options(options or {}))
        datasets[path] = reading.dataset
        report = examine(
            reading.dataset,
            scattered_queries=reading.scattered_queries,
            scattered_examples=reading.scattered_examples,
        )
        statistics = dataset_statistics(reading.dataset)
        side = sizes.name if sizes and reading.format == "lightgbm" else None
        examined.append(ExaminedFile(str(path), reading.format, side, statistics, report.as_json()))
    beside = [(train, test) for train in files for test in tests] or list(combinations(files, 2))
    pairs = [
        ExaminedPair(
            str(train),
            str(test),
            [finding.as_json() for finding in compare(datasets[train], datasets[test], "test")],
        )
        for train, test in beside
        if train != test
    ]
    return Examination(examined, pairs)
