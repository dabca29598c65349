"""The HTML pages of the arena: one module for each kind, all through :func:`~noren.contest.pages.frame.page`."""
