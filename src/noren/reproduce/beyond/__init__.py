"""Past the documents: what was left open in them, or was left to luck, and what came of it."""
