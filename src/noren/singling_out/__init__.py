"""How much knowledge singles a customer out: unicity, on originals and on releases."""
