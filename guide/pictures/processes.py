"""The processes and what flows between them."""

from guide.pictures.drawing import figure, text

_BOXES = (
    (20, 20, 200, 56, "browser, curl", "rankery.Client, command line"),
    (20, 130, 200, 56, "API, app/", "answers, never trains"),
    (300, 130, 140, 56, "Redis", "notifies workers"),
    (520, 130, 200, 56, "worker, worker/", "one job a process"),
    (20, 250, 330, 56, "database", "SQLite or PostgreSQL: every row"),
    (390, 250, 330, 56, "artifacts", "a folder or S3: every byte"),
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
    """Draw who talks to whom."""
    parts = [
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7"'
        ' orient="auto"><path class="head" d="M0 0L8 4L0 8Z"/></marker></defs>'
    ]
    for path, x, y, words in _ARROWS:
        parts.append(f'<path class="arrow" d="{path}" marker-end="url(#arrow)"/>')
        parts.append(text(x, y, words, "tick"))
    for x, y, width, height, name, told in _BOXES:
        parts.append(f'<rect class="box" x="{x}" y="{y}" width="{width}" height="{height}" rx="8"/>')
        parts.append(text(x + width / 2, y + 24, name, "panel", "middle"))
        parts.append(text(x + width / 2, y + 42, told, "tick", "middle"))
    return figure(
        740,
        320,
        parts,
        "Browser, curl, client and command line call the API over HTTP. The API sends ids of jobs through"
        " Redis to workers. API and workers both read and write the database and the artifacts.",
        "The database is the source of truth; lost Redis messages are sent again.",
    )
