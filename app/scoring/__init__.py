"""Score candidates: `/rank`, the Open Inference Protocol, served models and score samples."""
