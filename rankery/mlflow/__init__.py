"""Models as MLflow model directories, and back; needs the extra `rankery[mlflow]`."""
