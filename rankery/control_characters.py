"""Escape characters that control a terminal or hide its text."""

import re

# C0, DEL and C1; marks and overrides of the direction of writing; characters without a width; surrogates. The
# printer of lines handles tabs and line feeds.
_STEERING = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    r"\ud800-\udfff\U000e0000-\U000e007f"
)
_IN_LINES = re.compile(f"[{_STEERING}]")
_IN_ONE_LINE = re.compile(f"[\t\n{_STEERING}]")


def visible(text: str, *, one_line: bool = False) -> str:
    r"""Return a text with its control characters escaped as in JSON.

    Args:
        text: From data, or from a service.
        one_line: Whether tabs and line feeds are written out, too.

    Example:
        >>> visible("red\x1b[31m")
        'red\\u001b[31m'
    """
    return (_IN_ONE_LINE if one_line else _IN_LINES).sub(_written_out, text)


def _written_out(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
