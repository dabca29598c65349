"""``python -m tests.zoo``: the whole tour, or a part of it."""

import sys

from tests.zoo.tour import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
