"""Taking a port before anything starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noren.errors import OutputError
from noren.i18n import _

if TYPE_CHECKING:
    import socket

__all__ = ["listening"]


def listening(host: str, port: int) -> socket.socket:
    """Take the port now, so that a taken one is said before anything starts."""
    import socket

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # told to be TCP: asyncio lets small answers go at once only then, and each would wait 40 ms otherwise
    taken = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        taken.bind((host, port))
        taken.listen()  # whoever follows the address at once waits for the answer, and is not refused
    except OSError as error:
        taken.close()
        raise OutputError(
            _("port {port} of {host} cannot be had ({reason}); choose another with --port").format(
                port=port, host=host, reason=error.strerror
            )
        ) from None
    return taken
