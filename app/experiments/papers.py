"""Responses that show papers."""

from app.experiments.schemas import Paper, PaperMethod, PaperTable
from core.experiments import Paper as PaperOfCore
from core.experiments import Table


def paper_response(paper: PaperOfCore) -> Paper:
    """Return a paper with its tables, methods, claims and printed numbers."""
    return Paper.model_validate({**vars(paper), "tables": [_table(table) for table in paper.tables]})


def _table(table: Table) -> PaperTable:
    methods = {entry.row: entry.method for entry in reversed(table.entries) if entry.method is not None}
    computed = {
        "protocol": table.protocol.description,
        "test": table.significance.description if table.significance else None,
        "methods": [
            PaperMethod.model_validate({**vars(method), "row": row})
            for row in table.rows
            if (method := methods.get(row)) is not None
        ],
        "printed": {
            corpus: {
                row: {column: vars(printed) for column, printed in cells.items()}
                for row, cells in rows.items()
            }
            for corpus, rows in table.printed.items()
        },
    }
    return PaperTable.model_validate({**vars(table), **computed})
