"""Files at URLs that requests name: of buckets, web servers, the Hugging Face Hub and ir_datasets."""
