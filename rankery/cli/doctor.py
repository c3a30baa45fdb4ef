"""`rankery doctor`: judged files looked over before anything is uploaded."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from rankery.cli.endings import FAILED
from rankery.cli.findings import counts, findings_table
from rankery.cli.options import ColumnsOption, FormatOption, Json, file_option
from rankery.cli.printing import plain, show, show_json
from rankery.cli.texts import json_object


def doctor(
    files: Annotated[
        list[Path],
        typer.Argument(
            exists=True, dir_okay=False, readable=True, help="Judged files, in any format that uploads take."
        ),
    ],
    test: Annotated[
        list[Path] | None,
        file_option("What models are to be judged on."),
    ] = None,
    format: FormatOption = "auto",
    columns: ColumnsOption = None,
    json: Json = False,
) -> None:
    """Say what is wrong with judged files, and what to do; needs no service.

    Each --test file is held against each of FILES: shared queries and documents, features and labels that do
    not fit. Without --test, several files are held against each other. The exit code is 1 where a finding is
    an error, so that a script stops before it trains on such data.

    Example: `rankery doctor train.txt --test test.txt`
    """
    from rankery.doctor import examine_files

    options = {"format": format} | ({} if columns is None else {"columns": json_object(columns, "--columns")})
    found = examine_files(files, test or [], options)
    if json:
        show_json(asdict(found))
    else:
        for file in found.files:
            show(f"[bold]{plain(file.file)}[/bold]: {counts(file.statistics)}, {file.format}", "")
            show(findings_table(file.findings))
        for pair in found.pairs:
            show(f"[bold]{plain(pair.train)}[/bold] beside [bold]{plain(pair.test)}[/bold]:", "")
            show(findings_table(pair.findings))
    if found.worst() == "error":
        raise typer.Exit(FAILED)
