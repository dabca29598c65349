"""S4: an anonymisation system on probabilistic k-anonymity."""
