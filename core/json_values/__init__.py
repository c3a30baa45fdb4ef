"""Features out of JSON: a hundred thousand numbers, for which a general parser takes too long."""

from core.json_values.features import MOST_ARRAYS, ArrayValues, FeatureReader, FeatureValues, read_arrays

__all__ = ["MOST_ARRAYS", "ArrayValues", "FeatureReader", "FeatureValues", "read_arrays"]
