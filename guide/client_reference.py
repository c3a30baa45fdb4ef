"""The reference of the Python client, from its docstrings."""


def pages() -> dict[str, str]:
    """Return the page."""
    return {"reference/client.md": "# Python client\n"}
