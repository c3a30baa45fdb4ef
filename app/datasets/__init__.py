"""Upload, list, browse and delete datasets."""
