"""Diagram of the processes and the data between them."""

from guide.pictures.boxes import boxes_and_arrows
from guide.pictures.drawing import figure

_BOXES = (
    (20, 20, 200, 56, "browser, curl", "rankery.Client, command line"),
    (20, 130, 200, 56, "API, app/", "answers, never trains"),
    (300, 130, 140, 56, "Redis", "notifies workers"),
    (520, 130, 200, 56, "worker, worker/", "one job per process"),
    (20, 250, 330, 56, "database", "SQLite or PostgreSQL: all records"),
    (390, 250, 330, 56, "artifacts", "a folder or S3: all files"),
)
_ARROWS = (
    ("M120 76V124", 128, 104, "HTTP"),
    ("M220 158H294", 228, 150, "job's id"),
    ("M440 158H514", 448, 150, "job's id"),
    ("M100 186V244", 108, 220, "rows"),
    ("M190 186C190 226 450 206 470 244", 0, 0, ""),
    ("M570 186C550 226 320 206 300 244", 0, 0, ""),
    ("M640 186V244", 648, 220, "bytes"),
)


def processes() -> str:
    """Draw the processes and their connections."""
    return figure(
        740,
        320,
        boxes_and_arrows(_BOXES, _ARROWS),
        "Browser, curl, client and command line call the API over HTTP. The API sends ids of jobs through"
        " Redis to workers. API and workers both read and write the database and the artifacts.",
        "The database is the source of truth; lost Redis messages are sent again.",
    )
