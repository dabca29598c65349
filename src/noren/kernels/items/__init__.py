"""Items and sets of items: likeness, weights, clusters."""
