"""Upload, list, show and delete click logs."""
