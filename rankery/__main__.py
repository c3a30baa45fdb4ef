"""`python -m rankery`: the `rankery` script."""

from rankery.cli import app

if __name__ == "__main__":
    app(prog_name="rankery")
