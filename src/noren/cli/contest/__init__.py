"""``noren contest``: run a contest of protecting and attacking, play in one, replay one."""

from noren.cli.contest import accounts, acting, checking, hosting, keeping, looking, organising, playing, rehearsing
from noren.cli.parts.commands import App
from noren.i18n import _

__all__ = ["HELP", "app"]

HELP = _("Run a contest of protecting data and attacking what others protected, play in one, replay its ranking.")

app = App(no_args_is_help=True)
for part in (hosting, organising, accounts, playing, checking, looking, keeping, acting, rehearsing):
    part.add_to(app)
