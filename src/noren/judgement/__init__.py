"""How safe a release is, said in one way for everyone: a rule, what was found, and the verdict by that rule."""
