"""Synthetic purchases: a shop, its customers and their baskets, and the figures that describe a history."""
