"""Pages about one release or one data set, and what they show as plain data."""
