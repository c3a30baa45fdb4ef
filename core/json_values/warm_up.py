"""Compile, or load from numba's disk cache, the kernels that read features out of JSON."""

from core.json_values.features import FeatureReader, read_arrays


def features() -> None:
    """Call both kernels with a tiny text."""
    FeatureReader("features", ["x"]).read(b'{"features": [1]}', 1)
    read_arrays(b'{"data": [1]}', "data")
