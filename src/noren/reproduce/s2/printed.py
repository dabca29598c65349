"""The numbers that S2 prints."""

from __future__ import annotations

__all__ = ["BEST_400", "BEST_4000", "CLUSTERS", "FEWEST", "FOUND", "SAVED", "SIZES", "STEADY", "TABLE_1", "TABLE_2"]

FOUND = {"n": 400, "m": 38_087, "b": 65, "h": 4, "µ": 0.03}
"""What the data are like."""

TABLE_1 = {  # the best team's share of customers found, and that of Algorithm 1
    "D1": (0.2225, 0.2225),
    "D2": (0.2375, 0.2375),
    "D3": (0.2550, 0.2550),
    "D4": (0.2750, 0.2750),
    "D5": (0.3025, 0.3025),
    "D6": (0.3175, 0.3175),
    "D8": (0.3725, 0.2750),
    "D9": (0.3850, 0.3850),
    "D10": (0.5500, 0.5500),
}

CLUSTERS = (50, 75, 100, 125)
SIZES = (0, 2, 3, 4, 8)
"""Least sizes of clusters; 0 is method 1, which knows none."""
TABLE_2 = {  # by clusters and least size: rows added, mean similarity, share found by Algorithm 1
    (50, 0): (182_897, 0.1728, 0.1235),
    (50, 2): (183_902, 0.1729, 0.1223),
    (50, 3): (175_449, 0.1726, 0.1222),
    (50, 4): (162_474, 0.1723, 0.1218),
    (50, 8): (125_798, 0.1681, 0.1218),
    (75, 0): (141_696, 0.2402, 0.1858),
    (75, 2): (136_526, 0.2403, 0.1860),
    (75, 3): (112_781, 0.2394, 0.1855),
    (75, 4): (91_946, 0.2382, 0.1855),
    (100, 0): (128_568, 0.3060, 0.2488),
    (100, 2): (99_228, 0.3061, 0.2475),
    (100, 3): (68_357, 0.3041, 0.2480),
    (100, 4): (59_374, 0.3044, 0.2465),
    (125, 0): (97_581, 0.3692, 0.3120),
    (125, 2): (60_492, 0.3687, 0.3105),
    (125, 3): (46_101, 0.3667, 0.3102),
}
SAVED = 0.53
"""By how much method 2 lowers the rows added, as the text says."""
STEADY = 0.01
"""Below this is the standard deviation of the similarity, as the text says."""

FEWEST = 23
BEST_400 = 130
BEST_4000 = (1_427, 0.3567, 490_650)
"""Clusters, share found and rows added for 4,000 customers."""
