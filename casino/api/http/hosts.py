"""Under which host names a process answers."""

from django.http import HttpRequest, HttpResponsePermanentRedirect
from django.middleware.common import CommonMiddleware

from casino.api.http.measuring import PROBES


class HostMiddleware(CommonMiddleware):
    """Refuses requests for hosts that the settings do not allow, but for probes: a container's check, Prometheus and
    nginx ask a process by its address, and what they are answered depends on no name."""

    def process_request(self, request: HttpRequest) -> HttpResponsePermanentRedirect | None:
        """Let a probe go on. Raises DisallowedHost."""
        return None if request.path_info.removeprefix("/") in PROBES else super().process_request(request)
