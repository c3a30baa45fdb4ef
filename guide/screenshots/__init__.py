"""Screenshots of the dashboard for the guide: `python -m guide.screenshots` takes them."""
