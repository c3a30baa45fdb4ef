"""What the guide is made of besides the pages in `docs/`: pages from the code, pictures, colours."""
