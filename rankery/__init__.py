"""The client, the command line and the embedded service of Rankery."""

__version__ = "0.1.0"
