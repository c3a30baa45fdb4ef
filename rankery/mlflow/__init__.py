"""Export and import of models as MLflow model directories; needs the extra `rankery[mlflow]`."""
