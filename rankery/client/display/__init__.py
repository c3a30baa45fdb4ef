"""Display of results in terminals and notebooks."""
