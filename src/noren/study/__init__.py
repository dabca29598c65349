"""Many runs: comparisons and reports."""
