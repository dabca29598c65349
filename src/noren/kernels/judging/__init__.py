"""What scores and verdicts are made of: thresholds, survival, errors, statistics."""
