"""Purchases made up to look real: a shop, its customers and their baskets, and the figures that describe a history."""
