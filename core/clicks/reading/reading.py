"""Read the files of a click log of any format into memory-mapped columns."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from core.clicks.files import LogWriter, open_click_log
from core.clicks.log import ClickLog
from core.clicks.reading.assembly import Assembly
from core.clicks.reading.builder import LogBuilder
from core.clicks.reading.content import Content, content_of
from core.clicks.reading.event_formats import MetarankReader, UbiReader
from core.clicks.reading.json_lines import each_line
from core.clicks.reading.options import LogOptions
from core.clicks.reading.report import ReadingReport
from core.clicks.reading.sessions import SessionReader
from core.clicks.reading.table import OPEN_BANDIT, TableReader
from core.data.compression import Bytes, mapped_bytes
from core.data.options import Limits
from core.data.tables.delimited import DelimitedTable
from core.data.tables.parquet_file import ParquetTable
from core.data.tables.table import Table
from core.errors import DatasetError
from core.types import OnProgress

_EXPECTED = "a click log"
_READING_SHARE = 0.8  # of the progress; the rest is sorting
_STEPS = 1_000


@dataclass(frozen=True)
class LogFile:
    """A file of a click log.

    Attributes:
        name: Name of the file in messages.
    """

    path: Path
    name: str


@dataclass(frozen=True)
class LogReading:
    """The result of reading a click log.

    Attributes:
        report: Counts of rows that were read and ignored.
    """

    log: ClickLog
    report: ReadingReport


def read_click_log(
    files: Sequence[LogFile],
    folder: Path,
    options: LogOptions | None = None,
    limits: Limits | None = None,
    on_progress: OnProgress | None = None,
) -> LogReading:
    """Read files of one click log, and write its columns into an empty folder.

    Rows are on disk. Memory holds the names of queries, documents, users and lists, and the columns of lists.
    Memory also holds the distinct pairs of query and document, and the pair of each action.

    Args:
        files: Files of one format, in their order.
        folder: An empty folder for the columns.
        on_progress: Called with the number of steps done and their total; may raise to stop.

    Raises:
        DatasetError: With up to 100 problems by file, line and column.
        InvalidInput: The options do not match the files.
        OSError: A file cannot be opened, or the disk is full.
    """
    options, limits = options or LogOptions(), limits or Limits()
    with tempfile.TemporaryDirectory(dir=folder, prefix="rows-") as scratch:
        first_rank = 1 if options.rank_base is None else options.rank_base
        builder = LogBuilder(Path(scratch), options.actions, first_rank)
        report = _Files(files, options, limits, on_progress).read_into(builder)
        builder.flush()
        report = _with_counts(report, builder, options)
        builder.forget_names()
        assembly = Assembly(builder, report, Path(scratch))

        def report_sorting(done: int, total: int) -> None:
            if on_progress is not None:
                share = _READING_SHARE + (1 - _READING_SHARE) * done / max(total, 1)
                on_progress(int(_STEPS * share), _STEPS)

        with LogWriter(folder) as writer:
            assembly.write(writer, report_sorting)
    return LogReading(open_click_log(folder), report)


class _Files:
    """Files to read, with their shared options."""

    def __init__(
        self, files: Sequence[LogFile], options: LogOptions, limits: Limits, on_progress: OnProgress | None
    ) -> None:
        self._files = files
        self._options = options
        self._limits = limits
        self._on_progress = on_progress

    def read_into(self, builder: LogBuilder) -> ReadingReport:
        """Read all files; return a report with their format."""
        report: ReadingReport | None = None
        for number, file in enumerate(self._files):
            progress = self._progress(number)
            text = mapped_bytes(file.path, file.name, self._limits, progress, expected=_EXPECTED)
            content = content_of(text, file.name, self._options.format)
            if report is not None and content.format != report.format:
                detail = f"expected {report.format}, as in {self._files[0].name}, but found {content.format}"
                raise DatasetError.at(detail, file=file.name)
            report = report or ReadingReport(content.format)
            _READERS[content.format](self, text, content, builder, progress)
        if report is None:
            raise DatasetError.at("expected files, but there are none")
        return report

    def read_table(
        self, text: Bytes, content: Content, builder: LogBuilder, on_progress: OnProgress | None
    ) -> None:
        """Read a long table."""
        table = self._table(text, content)
        TableReader(builder, self._options).read(table, self._options.columns, on_progress)

    def read_open_bandit(
        self, text: Bytes, content: Content, builder: LogBuilder, on_progress: OnProgress | None
    ) -> None:
        """Read a file of Open Bandit, whose rows are single impressions."""
        reader = TableReader(builder, self._options, rows_are_lists=True)
        reader.read(self._table(text, content), {**OPEN_BANDIT, **self._options.columns}, on_progress)

    def read_lines(
        self, text: Bytes, content: Content, builder: LogBuilder, on_progress: OnProgress | None
    ) -> None:
        """Read lines of JSON objects."""
        if content.format == "ubi":
            read = UbiReader(builder).read
        elif content.format == "metarank":
            read = MetarankReader(builder, self._options.columns.get("query", "query")).read
        else:
            read = SessionReader(builder).read
        each_line(text, content.file, read, on_progress)

    def _table(self, text: Bytes, content: Content) -> Table:
        if content.delimiter is None:
            return ParquetTable(text, content.file, self._limits)
        return DelimitedTable(text, content.file, content.delimiter)

    def _progress(self, number: int) -> OnProgress | None:
        if self._on_progress is None:
            return None
        report, n_files = self._on_progress, len(self._files)

        def file_progress(done: int, total: int) -> None:
            share = _READING_SHARE * (number + done / max(total, 1)) / n_files
            report(int(_STEPS * share), _STEPS)

        return file_progress


def _with_counts(report: ReadingReport, builder: LogBuilder, options: LogOptions) -> ReadingReport:
    """Return the report with the base of ranks and the builder's counts."""
    lowest = builder.spool.lowest_rank
    detected = 0 if lowest == 0 else 1
    return replace(
        report,
        rows=builder.spool.n_rows,
        rank_base=detected if options.rank_base is None else options.rank_base,
        rank_base_detected=options.rank_base is None,
        rows_by_action=dict(builder.action_counts),
        weights=dict(options.actions),
        has_propensities=builder.has_propensities,
        has_teams=builder.has_teams,
        events_without_query=builder.without_query,
        joined_events=builder.joined_events(),
        without_document=builder.without_document,
        without_list=builder.without_list,
    )


_Read = Callable[[_Files, Bytes, Content, LogBuilder, OnProgress | None], None]
_READERS: Mapping[str, _Read] = MappingProxyType(
    {
        "table": _Files.read_table,
        "open-bandit": _Files.read_open_bandit,
        "ubi": _Files.read_lines,
        "metarank": _Files.read_lines,
        "sessions": _Files.read_lines,
    }
)
