"""Path parameters that may hold any text."""

from starlette.convertors import Convertor, register_url_convertor

_TEXT = "text"


class _TextConvertor(Convertor[str]):
    """Match the rest of a path with slashes and line breaks; Starlette's `path` ends at a line break."""

    regex = r"[\s\S]*"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor(_TEXT, _TextConvertor())


def any_text(name: str) -> str:
    """Return a path parameter that matches the rest of the path."""
    return f"{{{name}:{_TEXT}}}"
