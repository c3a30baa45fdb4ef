"""`rankery doctor`: check judged files before they are uploaded."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankery.cli.exit_codes import FAILED, WrongUsage
from rankery.cli.findings import counts, findings_table, reading_errors
from rankery.cli.options import (
    DEFAULT_DATA_DIR,
    ColumnsOption,
    DataDir,
    FormatOption,
    Json,
    QuerySizesOption,
    columns_of,
    file_option,
)
from rankery.cli.printing import plain, show, show_json, table
from rankery.cli.shown_errors import problem_as_json
from rankery.errors import FileUnreadable

if TYPE_CHECKING:
    from rankery.doctor import Examination, ExaminedFile


def doctor(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            exists=True,
            readable=True,
            help="Judged files in any format of uploads, or one folder such as MSLR-WEB30K/Fold1.",
        ),
    ] = None,
    test: Annotated[
        list[Path] | None,
        file_option("Test files, on which models will be evaluated."),
    ] = None,
    format: FormatOption = "auto",
    columns: ColumnsOption = None,
    query_sizes: QuerySizesOption = None,
    storage: Annotated[
        bool, typer.Option("--storage", help="Examine the stored bytes of the data folder instead of files.")
    ] = False,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    json: Json = False,
) -> None:
    """Check judged files and print findings with advice; needs no service.

    Each --test file is compared with each of FILES: shared queries and documents, features and labels that do
    not match. Without --test, several files are compared with each other. The exit code is 1 if a finding is
    an error, so that a script stops before it trains on such data.

    In a folder the training file is compared with the validation and test files, which are recognised by
    their names. Counts are compared with the published counts of public corpora.

    LightGBM's query file is read from the folder of the data file, such as rank.train.query for rank.train.

    With --storage the stored artifacts are verified by their checksums. The exit code is 1 if one is damaged
    or missing; orphaned files, which no database record refers to, are listed. The service may be running.

    Example: `rankery doctor train.txt --test test.txt`

    Example: `rankery doctor MSLR-WEB30K/Fold1`

    Example: `rankery doctor --storage --data-dir /srv/rankery`

    Example: `rankery doctor judged.csv --columns '{"label": "grade", "query": "search"}'`
    """
    if storage == bool(files):
        raise WrongUsage("give judged files, or --storage to examine the data folder")
    with problem_as_json(json=json):
        if storage or not files:
            if test or columns is not None or query_sizes is not None or format != "auto":
                raise WrongUsage(
                    "--storage examines no files: give no --test, --format, --columns, --query-sizes"
                )
            _examine_storage(data_dir, json=json)
            return
        options = {"format": format, "columns": columns_of(columns)}
        try:
            examination = _examine(files, test or [], options, query_sizes)
        except FileUnreadable as unreadable:
            if not json and len(unreadable.errors) > 1:
                show(reading_errors(unreadable.problem))
            raise
    if json:
        show_json(asdict(examination))
    else:
        _show(examination)
    if examination.highest_severity() == "error":
        raise typer.Exit(FAILED)


def _examine(
    files: list[Path], tests: list[Path], options: dict[str, Any], query_sizes: Path | None
) -> "Examination":
    from rankery.doctor import examine_files, examine_folder

    if query_sizes is not None and len(files) > 1:
        raise WrongUsage(
            "--query-sizes applies to one file; save the query file of each of several files as FILE.query"
        )
    folder = next((file for file in files if file.is_dir()), None)
    if folder is None:
        return examine_files(files, tests, options, query_sizes)
    if len(files) > 1 or tests or query_sizes is not None:
        raise WrongUsage(f"{folder} is a folder: give no other files, no --test and no --query-sizes with it")
    return examine_folder(folder, options)


def _show(examination: "Examination") -> None:
    for file in examination.files:
        show(f"[bold]{plain(file.file)}[/bold]: {counts(file.statistics)}, {_format(file)}", "")
        show(findings_table(file.findings))
    for pair in examination.pairs:
        show(f"[bold]{plain(pair.train)}[/bold] compared with [bold]{plain(pair.test)}[/bold]:", "")
        show(findings_table(pair.findings))
    if examination.corpus is not None:
        show(plain(examination.corpus))


def _examine_storage(data_dir: Path, *, json: bool) -> None:
    from rankery.doctor import examine_storage

    inventory = examine_storage(data_dir)
    if json:
        show_json(asdict(inventory))
    else:
        listed = table("artifact", "state", wrap=("artifact",))
        for state in ("damaged", "missing", "orphaned", "unverified"):
            for key in getattr(inventory, state):
                listed.add_row(plain(key), state)
        if listed.row_count:
            show(listed, "")
        show(
            f"{plain(inventory.artifacts)} artifacts: {plain(len(inventory.damaged))} damaged,"
            f" {plain(len(inventory.missing))} missing, {plain(len(inventory.unverified))} without a"
            f" checksum; {plain(len(inventory.orphaned))} orphaned files"
        )
    if inventory.damaged or inventory.missing:
        raise typer.Exit(FAILED)


def _format(file: "ExaminedFile") -> str:
    return file.format if file.query_sizes is None else f"{file.format} with {plain(file.query_sizes)}"
