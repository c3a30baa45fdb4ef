"""Check judged files locally without a service, using core."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankery.companion_files import ignored_files_beside, query_sizes_beside
from rankery.errors import FileUnusable, InvalidArgument
from rankery.keys import open_store
from rankery.local import convert_core_errors
from rankery.server_package import require_server_package

if TYPE_CHECKING:
    from core.doctor import Finding


@dataclass(frozen=True)
class ExaminedFile:
    """The findings of a file.

    Attributes:
        file: Path of the file, as given.
        format: Detected format: letor, lightgbm, csv, parquet or trec-qrels.
        query_sizes: LightGBM's query file of the data file, or None.
        statistics: Counts of queries, documents, features and labels, as the service shows them.
        findings: Errors first, as the service shows them.
    """

    file: str
    format: str
    query_sizes: str | None
    statistics: dict[str, Any]
    findings: list[dict[str, Any]]


@dataclass(frozen=True)
class ExaminedPair:
    """The findings of two files together.

    Attributes:
        findings: Errors first.
    """

    train: str
    test: str
    findings: list[dict[str, Any]]


@dataclass(frozen=True)
class Examination:
    """The findings of several files.

    Attributes:
        corpus: Sentence that names the public corpus in a folder; None for single files.
    """

    files: list[ExaminedFile]
    pairs: list[ExaminedPair]
    corpus: str | None = None

    def highest_severity(self) -> str | None:
        """Return the highest severity among all findings; None without findings."""
        lists = [file.findings for file in self.files] + [pair.findings for pair in self.pairs]
        severities = {finding["severity"] for findings in lists for finding in findings}
        return next((severity for severity in ("error", "warning", "info") if severity in severities), None)


@dataclass(frozen=True)
class ExaminedStorage:
    """The findings of a data folder's artifacts, by key.

    Attributes:
        damaged: Artifacts that do not match their checksum.
        missing: Artifacts that do not exist.
        unverified: Artifacts without a checksum, which is computed at their first read.
        orphaned: Files older than an hour without a record.
    """

    artifacts: int
    damaged: list[str]
    missing: list[str]
    unverified: list[str]
    orphaned: list[str]


def examine_storage(data_dir: Path) -> ExaminedStorage:
    """Verify stored artifacts by their checksums; the service may be running.

    Args:
        data_dir: The data folder; RANKERY_DATABASE_URL and RANKERY_STORAGE_URL override it.

    Raises:
        StoreUnusable: The database or the storage cannot be used, or there is no database.
    """
    require_server_package()
    from core.store.lifecycle.inventory import take_inventory

    with open_store(data_dir, must_exist=True) as store:
        return ExaminedStorage(**asdict(take_inventory(store)))


def examine_folder(folder: Path, options: Mapping[str, Any] | None = None) -> Examination:
    """Check the training, validation and test files of a folder, recognised by their names.

    Compare the training file with the others, and their counts with those of public corpora.

    Args:
        folder: A folder with the layout of MSLR-WEB10K and 30K, Yahoo, Istella, or LETOR 3.0 and 4.0.
        options: Options to read its files, as in an upload.

    Raises:
        FileUnusable: A file cannot be used, or the folder has no such file.
    """
    require_server_package()
    from core.data.folders import DataRoots
    from core.doctor.corpora import Counts, recognise

    with convert_core_errors(str(folder)):
        recognised = DataRoots([folder]).recognise(".")
    if not recognised.parts:
        below = f"; folders in it: {', '.join(recognised.folders[:10])}" if recognised.folders else ""
        raise FileUnusable(f"{folder} has no file named train, vali or test{below}")
    first, *others = (folder / name for name in recognised.parts.values())
    examination = examine_files([first], others, options)
    parts = {}
    for part, file in zip(recognised.parts, examination.files, strict=True):
        statistics, largest = file.statistics, file.statistics["label_range"]["maximum"]
        parts[part] = Counts(statistics["queries"], statistics["documents"], statistics["features"], largest)
    return replace(examination, corpus=recognise(parts, str(folder.absolute())).sentence)


def examine_files(
    files: Sequence[Path],
    tests: Sequence[Path],
    options: Mapping[str, Any] | None = None,
    query_sizes: Path | None = None,
) -> Examination:
    """Check judged files, each alone and in pairs of training and test files.

    Args:
        tests: Test files, each compared with each of `files`. Without any, each of `files` is compared with
            those after it.
        options: Options to read all files, as in an upload: `format`, `columns`, `non_contiguous_queries`, ….
        query_sizes: LightGBM's query file of the first of `files`; by default, as for all other
            files, the file with `.query` appended to the name.

    Raises:
        FileUnusable: A file cannot be used; the message has line and column.
        InvalidArgument: The only training file is the only test file.
    """
    require_server_package()
    from core.machine import limit_threads

    limit_threads()
    from core.data import dataset_statistics
    from core.data.options import reading_options
    from core.data.reading import JudgedFile, read_file
    from core.doctor import by_severity, compare, examine

    if tests and {*files, *tests} == {files[0]}:
        raise InvalidArgument(f"{files[0]} is the training file and the test file; name another test file")
    examined, datasets = [], {}
    given = {files[0]: query_sizes} if query_sizes else {}
    for path in (*files, *tests):
        if path in datasets:
            continue
        sizes = given.get(path) or query_sizes_beside(path, (options or {}).get("columns"))
        with convert_core_errors():
            file = JudgedFile(path, path.name, sizes)
            reading = read_file(file, reading_options(options or {}))
        datasets[path] = reading.dataset
        report = examine(
            reading.dataset,
            scattered_queries=reading.scattered_queries,
            scattered_examples=reading.scattered_examples,
            several_spellings=reading.several_spellings,
        )
        statistics = dataset_statistics(reading.dataset)
        query_file = sizes.name if sizes and reading.format == "lightgbm" else None
        examined.append(
            ExaminedFile(
                str(path),
                reading.format,
                query_file,
                statistics,
                [asdict(finding) for finding in by_severity([*_ignored_files(path), *report.findings])],
            )
        )
    compared = [(train, test) for train in files for test in tests] or list(combinations(files, 2))
    pairs = [
        ExaminedPair(
            str(train),
            str(test),
            [asdict(finding) for finding in compare(datasets[train], datasets[test], "test")],
        )
        for train, test in compared
        if train != test
    ]
    return Examination(examined, pairs)


def _ignored_files(path: Path) -> "list[Finding]":
    """Return a finding for each file beside the data that LightGBM reads and Rankery ignores."""
    from core.doctor import Finding

    return [
        Finding("ignored-file", "warning", f"{name} is ignored", f"{remedy}.", 1, 1, "files")
        for name, remedy in ignored_files_beside(path).items()
    ]
