"""Data frames in and out, by way of Arrow; pandas and polars are imported where they are asked for."""
