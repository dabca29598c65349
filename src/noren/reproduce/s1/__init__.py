"""S1: k-anonymising purchase histories, with product categories."""
