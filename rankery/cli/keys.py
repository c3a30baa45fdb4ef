"""`rankery keys`: API keys, managed directly in the database."""

from typing import Annotated

import typer

from rankery.cli.options import DEFAULT_DATA_DIR, DataDir, Json
from rankery.cli.printing import plain, say, show, show_json, show_text, table
from rankery.cli.shown_errors import problem_as_json

keys = typer.Typer(help="Create, list and revoke API keys, without a service.", no_args_is_help=True)


@keys.command("create")
def create_key(
    name: Annotated[str, typer.Argument(help="Display name of the key.")],
    scope: Annotated[
        list[str],
        typer.Option(
            help="read: list and show, except keys, webhooks, settings and audit log; write: also submit and"
            " delete, but not score; score: only rank documents and send clicks; admin: everything. May be"
            " repeated."
        ),
    ],
    expires_in: Annotated[
        str | None, typer.Option(help="Lifetime of the key: 90d, 12h, 30m.", show_default="unlimited")
    ] = None,
    project: Annotated[
        list[str] | None,
        typer.Option(help="Project that the key is restricted to; may be repeated.", show_default="all"),
    ] = None,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    json: Json = False,
) -> None:
    """Create an API key and print its secret, which is not shown again.

    Without --json, only the secret goes to standard output. Once a key was created, the service requires a
    key for all requests except health checks and the sign-in, and may listen beyond loopback.

    Example: `export RANKERY_API_KEY=$(rankery keys create laptop --scope admin)`
    """
    from rankery.keys import create_key as create

    with problem_as_json(json=json):
        created = create(data_dir, name, scope, expires_in, project or None)
    say(created.sentence)
    if json:
        show_json({**created.key, "secret": created.secret})
    else:
        show_text(f"{created.secret}\n")


@keys.command("list")
def list_keys(data_dir: DataDir = DEFAULT_DATA_DIR, json: Json = False) -> None:
    """List all keys, newest first, without their secrets.

    Example: `rankery keys list --data-dir /srv/rankery`
    """
    from rankery.keys import all_keys

    with problem_as_json(json=json):
        keys = all_keys(data_dir)
    if json:
        show_json(keys)
        return
    columns = ("id", "name", "secret", "scopes", "projects", "state", "created", "last used")
    shown = table(*columns, wrap=("name", "scopes", "projects"))
    for key in keys:
        shown.add_row(
            key["id"],
            plain(key["name"]),
            f"{key['hint']}…",
            ", ".join(key["scopes"]),
            "all" if key["projects"] is None else plain(", ".join(key["projects"])),
            key["state"],
            key["created_at"][:10],
            key["last_used_at"][:16].replace("T", " ") if key["last_used_at"] else "never",
        )
    show(shown)


@keys.command("revoke")
def revoke_key(
    id: Annotated[str, typer.Argument(help="The key's id, key_…")],
    data_dir: DataDir = DEFAULT_DATA_DIR,
    json: Json = False,
) -> None:
    """Revoke an API key; a running service refuses it within a second.

    Example: `rankery keys revoke key_01k9x2m4q7c8v5n3b6r9`
    """
    from rankery.keys import revoke_key as revoke

    with problem_as_json(json=json):
        revoked = revoke(data_dir, id)
    if json:
        show_json(revoked)
    else:
        say(f"{revoked['id']}, {revoked['name']}, is revoked", err=False)
