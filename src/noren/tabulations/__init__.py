"""Public tables of counts and sums, exact with suppressed cells or with the noise of differential privacy."""
