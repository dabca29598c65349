"""Charts and the numbers that they show: for files, and in ``live`` for pages."""
