"""Mutations of JSON that readers may disagree about."""

import random
import re

NUMBERS = (
    *("0", "-0", "-0.0", "0e0", "1E5", "1e+05", "1e-05", "-1.50e-3", "9007199254740993", "1" + "0" * 30),
    *("0." + "0" * 400 + "1e401", "1e400", "-1e400", "1e39", "3.402823469788112e+38", "1e-400", "5e-324"),
    *("3.4028235677973362e38", "3.4028235677973366e38", "2.2250738585072011e-308", "0.1" + "0" * 60),
    *("0.44999999999999999999999999999999999", "9" * 4300, "9" * 4301, "0e99999999999999999999", "1" * 60),
    *("0." + "0" * 5000 + "7e4999", "1e2147483648", "00", "01", "1.", ".5", "+1", "1e", "0x1", "NaN"),
    *("Infinity", "-Infinity", "--1", "1_0", "- 1", "1 .5", "true", "false", "null", "nul", "nulll"),
    *('"1"', "[]", "{}", "[1]", "[1,-0.5]", "[null,2e0]", "7", "2"),
)
BLANKS = (
    *(" ", "\t", "\n", "\r", "\r\n", "   "),
    *("\x0b", "\x0c", "\xa0", "\u2028", "\ufeff", "\0", "/**/", "//\n"),
)
TEXTS = (
    *('"\\ud800"', '"\\udc00\\ud800"', '"\\ud83d\\ude00"', '"\U0001f600"', '"\\u0000"', '"\x01"', '"\\x"'),
    *('"a\\"b"', '"\\"features\\":[1"', '"]}"', '"[[[["', '""', '"\\u00e9"', '"e\u0301"', '"\\/"', '"\\u12"'),
    *('"' + "x" * 1024 + '"', '"' + "x" * 1025 + '"', '"\\', '"'),
)
BYTES = (b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\0", b"\x1f", b"\x7f", b"\xef\xbb\xbf")
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|-?[0-9.][0-9.eE+-]*|true|false|null|[\[\]{}:,]')
_OPEN, _CLOSE = "[{", "]}"


def mutated(text: str, generator: random.Random) -> bytes:
    """Mutate a text of JSON up to three times, then perhaps its bytes."""
    for _ in range(generator.choice((0, 1, 1, 1, 2, 3))):
        text = generator.choice(_MUTATIONS)(text, generator)
    content = text.encode("utf-8", "surrogatepass")
    if generator.random() < 0.15:
        content = _damaged(content, generator)
    return content


def escaped(text: str, generator: random.Random) -> str:
    r"""Replace some characters of a JSON string by `\u` escapes."""
    return '"' + "".join(f"\\u{ord(c):04x}" if generator.random() < 0.3 else c for c in text[1:-1]) + '"'


def _token(text: str, generator: random.Random, pattern: str) -> tuple[int, int]:
    """Choose a token that a pattern matches, and return its first and last offset."""
    spans = [match.span() for match in _TOKENS.finditer(text) if re.match(pattern, match[0])]
    return generator.choice(spans) if spans else (len(text), len(text))


def _member(text: str, generator: random.Random) -> tuple[int, int, int]:
    """Choose a member, and return the start of its name and the start and end of its value."""
    tokens = list(_TOKENS.finditer(text))
    names = [i for i in range(len(tokens) - 2) if tokens[i + 1][0] == ":" and tokens[i][0].startswith('"')]
    if not names:
        return len(text), len(text), len(text)
    name = generator.choice(names)
    depth, last = 0, name + 2
    for last in range(name + 2, len(tokens)):
        depth += (tokens[last][0] in _OPEN) - (tokens[last][0] in _CLOSE)
        if depth <= 0:
            break
    return tokens[name].start(), tokens[name + 2].start(), tokens[last].end()


def _replace_number(text: str, generator: random.Random) -> str:
    begin, end = _token(text, generator, "[-0-9]")
    return text[:begin] + generator.choice(NUMBERS) + text[end:]


def _replace_value(text: str, generator: random.Random) -> str:
    _, begin, end = _member(text, generator)
    return text[:begin] + generator.choice(NUMBERS + TEXTS) + text[end:]


def _replace_text(text: str, generator: random.Random) -> str:
    begin, end = _token(text, generator, '"')
    return text[:begin] + generator.choice(TEXTS) + text[end:]


def _escape_text(text: str, generator: random.Random) -> str:
    begin, end = _token(text, generator, '"')
    return text[:begin] + escaped(text[begin:end], generator) + text[end:]


def _escape_name(text: str, generator: random.Random) -> str:
    begin, value, _ = _member(text, generator)
    name, colon, rest = text[begin:value].rpartition(":")
    written = escaped(name.rstrip(), generator) if len(name) > 1 else name
    changed = text[:begin] + written + colon + rest
    if generator.random() < 0.5:
        return changed + _replace_value('{"":' + text[value:], generator)[4:]
    return changed + text[value:]


def _repeat_member(text: str, generator: random.Random) -> str:
    begin, value, end = _member(text, generator)
    name = text[begin:value]
    if generator.random() < 0.5 and '"' in name[1:]:
        quoted = name[: name.rindex('"') + 1]
        name = escaped(quoted, generator) + name[len(quoted) :]
    other = generator.choice((text[value:end], generator.choice(NUMBERS), "null", "{}", "[]"))
    again = f"{name}{other}"
    members = [again, text[begin:end]] if generator.random() < 0.5 else [text[begin:end], again]
    return text[:begin] + ",".join(members) + text[end:]


def _move_member(text: str, generator: random.Random) -> str:
    begin, _, end = _member(text, generator)
    member = text[begin:end]
    text = text[:begin] + text[end:].removeprefix(",") if generator.random() < 0.5 else text
    at = _token(text, generator, r"\{")[1]
    return text[:at] + member + "," + text[at:]


def _add_blank(text: str, generator: random.Random) -> str:
    begin, end = _token(text, generator, ".")
    return (
        text[:begin] + generator.choice(BLANKS) + text[begin:end] + generator.choice(BLANKS[:6]) + text[end:]
    )


def _nest(text: str, generator: random.Random) -> str:
    _, begin, end = _member(text, generator)
    depth = generator.choice((1, 2, 50, 150, 300, 5_000))
    before, after = generator.choice((("[", "]"), ('{"features":', "}"), ('{"data":', "}"), ('{"x":', "}")))
    return text[:begin] + before * depth + text[begin:end] + after * depth + text[end:]


def _remove_token(text: str, generator: random.Random) -> str:
    begin, end = _token(text, generator, ".")
    return text[:begin] + text[end:]


def _double_token(text: str, generator: random.Random) -> str:
    begin, end = _token(text, generator, ".")
    return text[:end] + text[begin:]


def _swap_bracket(text: str, generator: random.Random) -> str:
    begin, end = _token(text, generator, r"[\[\]{}]")
    return text[:begin] + generator.choice("[]{}") + text[end:]


def _truncate(text: str, generator: random.Random) -> str:
    return text[: generator.randrange(len(text) + 1)]


def _append(text: str, generator: random.Random) -> str:
    return text + generator.choice(("]", "}", ",", "0", "null", "\0", " ", text))


def _damaged(content: bytes, generator: random.Random) -> bytes:
    at, size = generator.randrange(len(content) + 1), generator.randrange(4)
    noise = generator.choice((*BYTES, generator.randbytes(1 + size)))
    return content[:at] + noise + content[at + size :]


_MUTATIONS = (
    *(_replace_number, _replace_number, _replace_value, _replace_text, _escape_text, _escape_name),
    *(_escape_name, _repeat_member, _repeat_member, _move_member, _add_blank, _nest, _remove_token),
    *(_double_token, _swap_bracket, _truncate, _append),
)
