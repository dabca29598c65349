"""What leaks."""
