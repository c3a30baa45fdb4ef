"""Tables of judged documents: delimited text and Parquet."""
