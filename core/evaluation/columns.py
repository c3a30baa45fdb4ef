"""Group metrics by their queries: metrics of the same queries share the random numbers of resampling."""

import numpy as np
import numpy.typing as npt


def defined_alike(defined: npt.NDArray[np.bool_]) -> list[list[int]]:
    """Group the columns that are defined for the same queries.

    Args:
        defined: (n_queries, n_columns) whether a query has a value.

    Returns:
        Column numbers, group by group.

    Example:
        >>> defined_alike(np.array([[True, False, True], [True, True, True]]))
        [[0, 2], [1]]
    """
    groups: dict[bytes, list[int]] = {}
    for column in range(defined.shape[1]):
        groups.setdefault(defined[:, column].tobytes(), []).append(column)
    return list(groups.values())
