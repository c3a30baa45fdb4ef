"""What commands print into pipes."""

import pytest

from rankery.cli.printing import facts, show


def test_a_pipe_gets_lines_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    """No blanks at their ends, and none is parted where only some programs see an end."""
    show()
    assert capsys.readouterr().out == ""
    show(facts([("name", "one\u2028line"), ("longer", "than the other one")]), "a sentence", "")
    assert capsys.readouterr().out == ("name    one\u2028line\nlonger  than the other one\na sentence\n\n")
