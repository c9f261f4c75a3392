"""The product's WSGI application with every action of a table under cProfile; `/bench/profile` writes what was seen.

For gunicorn, in a run that looks at one worker; PROFILE names the file.
"""

import cProfile
import os
from collections.abc import Callable, Iterable
from typing import Any

from casino.wsgi import application as served

_profile = cProfile.Profile()


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Serve one request."""
    path = environ["PATH_INFO"]
    if path == "/bench/profile":
        _profile.dump_stats(os.environ["PROFILE"])
        start_response("200 OK", [("Content-Length", "0")])
        return []
    if path.endswith("/hand/actions"):
        return _profile.runcall(served, environ, start_response)  # type: ignore[no-any-return]
    return served(environ, start_response)
