"""Customers made alike: who shares a history with whom, and what that costs."""
