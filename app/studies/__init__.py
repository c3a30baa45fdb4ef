"""Studies: hyperparameter tuning with trials and a conclusion."""
