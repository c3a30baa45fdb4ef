"""`rankery audit`: who has changed what."""

from datetime import datetime
from typing import Annotated

import typer

from rankery.cli.connection import ServiceConnection
from rankery.cli.lists import listed
from rankery.cli.options import Limit
from rankery.cli.printing import moment, plain, table
from rankery.cli.service_options import on_service


@on_service
def audit(
    session: ServiceConnection,
    key: Annotated[str | None, typer.Option(help="Only what this key did, key_…")] = None,
    limit: Limit = 50,
) -> None:
    """List the requests that changed something, newest first; needs the scope admin.

    Example: `rankery audit --limit 200`
    """
    found = listed(session, "/v1/audit", limit, key_id=key)
    shown = table("at", "key", "method", "path", "status", "address", right=("status",), wrap=("path",))
    for entry in found:
        shown.add_row(
            moment(datetime.fromisoformat(entry["at"])),
            plain(entry["key_id"] or ""),
            entry["method"],
            plain(entry["path"]),
            str(entry["status"]),
            plain(entry.get("address") or ""),
        )
    session.show(found, shown)
