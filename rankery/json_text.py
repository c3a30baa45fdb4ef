"""Parse JSON that users write, and prepare values for JSON."""

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


def plain_value(value: Any) -> Any:
    """Return an array, a column or a number of numpy as lists and numbers; any other value unchanged.

    Example:
        >>> import numpy as np
        >>> plain_value(np.int64(3)), plain_value(np.array([0.5, 1.0])), plain_value("a")
        (3, [0.5, 1.0], 'a')
    """
    return value.tolist() if hasattr(value, "tolist") else value
