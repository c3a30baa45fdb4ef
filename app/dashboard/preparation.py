"""Prepare slow one-time work before the first request."""

from app.dashboard.assets import prepare_plotly, templates


def prepare() -> None:
    """Compile the templates and compress the static files."""
    environment = templates().env
    for name in environment.list_templates():
        environment.get_template(name)
    prepare_plotly()
