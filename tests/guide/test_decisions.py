"""The decisions of `docs/adr`: unique numbers, titles, an index, and links to existing files."""

import re

from tests.guide.conftest import ROOT

_FOLDER = ROOT / "docs" / "adr"
_LINK = re.compile(r"\[(?P<text>[^\]]+)\]\((?P<target>[^)#]+)(?:#[^)]*)?\)")


def test_the_index_lists_every_decision_by_its_title() -> None:
    """`README.md` lists each file once, by the number and title of its first line; numbers are unique."""
    decisions = sorted(_FOLDER.glob("0*.md"))
    listed = [(link["target"], link["text"]) for link in _LINK.finditer((_FOLDER / "README.md").read_text())]
    entries = sorted(entry for entry in listed if entry[1].partition(".")[2])
    titles = [(path.name, path.read_text().splitlines()[0].removeprefix("# ")) for path in decisions]
    assert entries == titles
    for name, title in titles:
        assert name[:4] == title.partition(".")[0].zfill(4), name
        assert "**Decision.**" in (_FOLDER / name).read_text(), name
    assert len({name[:4] for name, _ in titles}) == len(titles)


def test_links_of_decisions_name_existing_files() -> None:
    """A link between decisions names a file in the same folder."""
    for path in _FOLDER.glob("*.md"):
        for link in _LINK.finditer(path.read_text()):
            assert (_FOLDER / link["target"]).is_file(), (path.name, link["target"])
