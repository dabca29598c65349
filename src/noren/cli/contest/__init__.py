"""``noren contest``: run a contest of protecting and attacking, play in one, replay one."""

from noren.cli.contest import connecting, organising, playing, results
from noren.cli.parts.commands import App
from noren.i18n import _

__all__ = ["HELP", "app"]

HELP = _("Run a contest of protecting data and attacking what others protected, play in one, replay its ranking.")

app = App(no_args_is_help=True)
for part in (organising.app, connecting.app, playing.app, results.app, organising.acting):
    app.registered_commands += part.registered_commands
