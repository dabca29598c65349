"""Data: file formats, schemas, guesses, hierarchies, samples and releases."""
