"""Parse JSON that users write."""

import json
from typing import Any


def parsed_json(text: str | bytes) -> Any:
    """Parse a JSON text.

    Raises:
        ValueError: The text is not JSON, or is nested too deeply.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
