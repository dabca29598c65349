"""What stays useful."""
