"""Generated parts of the guide: pages from the code, pictures, colours."""
