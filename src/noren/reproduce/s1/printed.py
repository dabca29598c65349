"""The numbers that S1 prints."""

from __future__ import annotations

__all__ = ["CATEGORIES", "COUNTED", "CUSTOMERS", "GAINS", "ITEMS", "KINDS", "SPREADS", "SUMS", "TABLE"]

CUSTOMERS = 1_000
"""Of the preliminary round of PWS Cup 2018; S1 does not say."""
ITEMS = 3_253
KINDS = 19
COUNTED = {
    "general goods": 1233,
    "kitchen": 534,
    "ornaments": 471,
    "clothing": 271,
    "furniture": 201,
    "stationery": 161,
    "children": 150,
    "garden": 50,
    "daily goods": 45,
    "unknown": 34,
    "other": 6,
}
"""The categories that are listed, and their items."""
GAINS = (0.02, 0.03)
"""By how much categories lower U, as the text says."""

TABLE = {  # U of items, U of categories, 1/k, and the two sums
    2: (0.348, 0.324, 0.500, 0.848, 0.824),
    3: (0.472, 0.447, 0.333, 0.806, 0.781),
    4: (0.542, 0.517, 0.250, 0.792, 0.767),
    5: (0.583, 0.558, 0.200, 0.783, 0.758),
    6: (0.615, 0.590, 0.167, 0.782, 0.757),
    7: (0.642, 0.617, 0.143, 0.785, 0.760),
    8: (0.680, 0.655, 0.125, 0.805, 0.780),
    10: (0.718, 0.694, 0.100, 0.818, 0.794),
    12: (0.748, 0.725, 0.083, 0.832, 0.808),
    15: (0.780, 0.758, 0.067, 0.847, 0.824),
    20: (0.833, 0.812, 0.050, 0.880, 0.862),
}

SPREADS = {"date": 0.816, "price": 0.193, "quantity": 12.26}
"""Standard deviations of the three rows whose error is worked out."""
SUMS = {"item": 3.0, "date": 3.76, "price": 0.155, "quantity": 0.245, "all": 7.16, "U": 0.60}
"""What their errors add up to."""

CATEGORIES = {"291D": "furniture", "B20": "furniture", "G402": "stationery", "891": "general", "521P": "general"}
"""Of the items of the example, as S1 puts them."""
