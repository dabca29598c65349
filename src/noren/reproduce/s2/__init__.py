"""S2: re-identification by Jaccard similarity, and pseudo records against it."""
