"""Escape characters that control a terminal or hide text."""

import re

# C0 except for tab and line feed, DEL, C1; direction marks; zero-width characters; surrogates; tag
# characters.
_CONTROL = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    r"\ud800-\udfff\U000e0000-\U000e007f"
)
_EXCEPT_LINE_BREAKS = re.compile(f"[{_CONTROL}]")
_ALL = re.compile(f"[\t\n{_CONTROL}]")


def visible(text: str, *, one_line: bool = False) -> str:
    r"""Return a text with its control characters escaped as in JSON.

    Args:
        text: Untrusted text.
        one_line: Whether to escape tabs and line feeds, too.

    Example:
        >>> visible("red\x1b[31m")
        'red\\u001b[31m'
    """
    return (_ALL if one_line else _EXCEPT_LINE_BREAKS).sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
