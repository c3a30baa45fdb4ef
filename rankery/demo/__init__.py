"""`rankery demo`: see `rankery.demo.run`."""
