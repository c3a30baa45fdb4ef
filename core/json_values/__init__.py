"""Parse features in JSON: for a hundred thousand numbers, a general parser is too slow."""

from core.json_values.features import MAX_ARRAYS, FeatureReader, read_arrays
