"""What commands share: reading, the screen, help pages, failures."""
