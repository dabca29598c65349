"""How safe a release is: the rule, the facts, and the verdict under that rule."""
