"""The guide's page for notebooks in a real kernel: a data scientist's day, including mistakes."""

from pathlib import Path

import pytest
from nbclient import NotebookClient

from rankery.embedded.stack import EmbeddedStack
from tests.guide.blocks import blocks
from tests.integration.requests import notebook_of

# test_client.py shows in short that a notebook's kernel works.
pytestmark = [pytest.mark.embedded, pytest.mark.slow]

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "notebook.md"
LIMIT_SECONDS = 200


def test_the_notebook_of_the_guide_runs(
    stack: EmbeddedStack,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No step raises an error that its page does not show; mistakes print one sentence each, no traceback."""
    monkeypatch.setenv("RANKERY_URL", stack.url)
    sources = [block.text for block in blocks(PAGE) if block.language == "python"]
    notebook = notebook_of(sources)
    runner = NotebookClient(
        notebook,
        timeout=LIMIT_SECONDS,
        kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}},
    )
    runner.execute()
    outputs = [output for cell in notebook.cells for output in cell["outputs"]]
    assert not [output for output in outputs if output["output_type"] == "error"]
    assert not [
        output for output in outputs if output.get("name") == "stderr" and "Traceback" in output["text"]
    ]
    assert len(sources) > 10
