"""Responses that show papers."""

from app.experiments.schemas import (
    Paper,
    PaperClaim,
    PaperEntry,
    PaperMethod,
    PaperTable,
    PaperTableEntry,
)
from core.experiments import Paper as PaperOfCore
from core.experiments import Table


def paper_entry(paper: PaperOfCore) -> PaperEntry:
    """Return the list entry of a paper."""
    return PaperEntry(
        name=paper.name,
        title=paper.title,
        authors=paper.authors,
        year=paper.year,
        data=paper.data,
        tables=[PaperTableEntry(name=table.name, caption=table.caption) for table in paper.tables],
    )


def whole_paper(paper: PaperOfCore) -> Paper:
    """Return a paper with its tables, methods, claims and printed numbers."""
    return Paper(
        name=paper.name,
        title=paper.title,
        authors=paper.authors,
        year=paper.year,
        data=paper.data,
        corpora=list(paper.corpora),
        deviations=list(paper.deviations),
        tables=[_table(table) for table in paper.tables],
    )


def _table(table: Table) -> PaperTable:
    methods = {entry.row: entry.method for entry in reversed(table.entries) if entry.method is not None}
    return PaperTable(
        name=table.name,
        caption=table.caption,
        rows=list(table.rows),
        columns=list(table.columns),
        unit=table.unit,
        protocol=table.protocol.description,
        test=table.significance.description if table.significance else None,
        methods=[
            PaperMethod(
                row=row,
                loss=None if method.loss is None else dict(method.loss),
                hyperparameters=dict(method.hyperparameters),
                scorer=dict(method.scorer),
                deviations=list(method.deviations),
            )
            for row in table.rows
            if (method := methods.get(row)) is not None
        ],
        claims=[
            PaperClaim(name=claim.name, statement=claim.statement, source=claim.source)
            for claim in table.claims
        ],
        deviations=list(table.deviations),
        printed={
            corpus: {
                row: {column: dict(vars(printed)) for column, printed in cells.items()}
                for row, cells in rows.items()
            }
            for corpus, rows in table.printed.items()
        },
    )
