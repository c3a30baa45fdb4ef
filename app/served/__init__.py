"""Lists that users saw: write them in the background, hash users, and take events."""
