"""Files at addresses that requests name: in buckets, on web servers, on the Hugging Face Hub, of ir_datasets."""
