"""What a file's columns mean, guessed; what cannot be decided is a question."""
