"""Conversion of data frames through Arrow; pandas and polars are imported on demand."""
