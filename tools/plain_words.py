"""Find words that need a second reading in tracked texts: `python -m tools.plain_words`.

`tools/plain_words.toml` has the words, what to write instead, and the paths that are not checked. The
checker reads all text of a file: prose, comments, names, log lines and labels.
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
WORDS = Path(__file__).with_name("plain_words.toml")
_FILES = ("*.py", "*.js", "*.md", "*.html")
_SPACE = r"(?:_|\s+(?:(?:#|//|\*)\s+)?)"


@dataclass(frozen=True)
class Finding:
    """A word that needs a second reading.

    Attributes:
        line: Line number of its beginning, from 1.
        phrase: Text as written, on one line.
        plain: Words to write instead.
    """

    line: int
    phrase: str
    plain: str


@dataclass(frozen=True)
class Word:
    """One row of the list, compiled.

    Attributes:
        pattern: Expression of the phrase.
        exceptions: Expression of good uses, None without any; a phrase within one is not a finding.
        plain: Words to write instead.
    """

    pattern: re.Pattern[str]
    exceptions: re.Pattern[str] | None
    plain: str

    @classmethod
    def from_row(cls, phrase: str, plain: str, exceptions: Iterable[str] = ()) -> "Word":
        """Compile a row of `plain_words.toml`."""
        allowed = "|".join(exceptions)
        return cls(_compiled(phrase), _compiled(allowed) if allowed else None, plain)

    def findings(self, text: str) -> Iterator[Finding]:
        """Yield the uses of the phrase in a text, in order, except for those within an exception."""
        matches = list(self.pattern.finditer(text))
        if not matches:
            return
        good = [match.span() for match in self.exceptions.finditer(text)] if self.exceptions else []
        for match in matches:
            if not any(start <= match.start() and match.end() <= end for start, end in good):
                line = text.count("\n", 0, match.start()) + 1
                yield Finding(line, " ".join(match[0].split()), self.plain)


def _compiled(phrase: str) -> re.Pattern[str]:
    """Compile a phrase that begins and ends with whole words; `_` separates words, too."""
    spaced = phrase.replace(" ", _SPACE)
    return re.compile(rf"(?<![^\W_])(?:{spaced})(?![^\W_])", re.IGNORECASE)


def findings(text: str, words: Iterable[Word]) -> list[Finding]:
    """Return the findings of a text by line."""
    return sorted(
        (finding for word in words for finding in word.findings(text)), key=lambda finding: finding.line
    )


def main() -> None:
    """Print `file:line: "phrase" → "plain words"` for each finding; exit with 1 if there is one."""
    table = tomllib.loads(WORDS.read_text())
    words = [Word.from_row(**row) for row in table["words"]]
    lines = [
        f'{path}:{each.line}: "{each.phrase}" → "{each.plain}"'
        for path in _tracked(table["excluded"])
        for each in findings((ROOT / path).read_text(), words)
    ]
    sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.exit(min(len(lines), 1))


def _tracked(excluded: list[str]) -> list[str]:
    """Return the paths of tracked texts."""
    command = ["git", "ls-files", "-z", *_FILES]
    paths = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)  # noqa: S603 - our own
    return [
        path
        for path in paths.stdout.split("\0")
        if path and (ROOT / path).is_file() and not any(_within(path, entry) for entry in excluded)
    ]


def _within(path: str, entry: str) -> bool:
    """Return whether a path is an entry of the list or below one."""
    return path == entry or path.startswith(f"{entry}/")


if __name__ == "__main__":
    main()
