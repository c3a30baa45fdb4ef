"""Masked arrays of numpy, whose mask `numpy.asarray` drops silently."""

from typing import Any


def with_nan(values: Any) -> Any:
    """Return a masked array of numbers with NaN where it is masked; any other value unchanged.

    Example:
        >>> import numpy as np
        >>> with_nan(np.ma.masked_equal([1, 2], 2))
        array([ 1., nan])
    """
    import numpy as np

    if not isinstance(values, np.ma.MaskedArray):
        return values
    numbers: Any = values if values.dtype.kind == "f" else values.astype(np.float64)
    return numbers.filled(np.nan)
