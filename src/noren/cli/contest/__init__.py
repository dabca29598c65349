"""``noren contest``: run contests of data protection and attacks, take part in them, replay them."""

from noren.cli.contest import connecting, organising, playing, results
from noren.cli.parts.commands import App
from noren.i18n import _

__all__ = ["HELP", "app"]

HELP = _("Run, join and replay contests of data protection and attacks.")

app = App(no_args_is_help=True)
for part in (organising.app, connecting.app, playing.app, results.app, organising.acting):
    app.registered_commands += part.registered_commands
