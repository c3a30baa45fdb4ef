"""The reference of the command line, from the commands."""


def pages() -> dict[str, str]:
    """Return the pages."""
    return {"reference/commands/index.md": "# Command line\n"}
