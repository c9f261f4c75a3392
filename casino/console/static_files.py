"""How the files that the screens load are sent."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.templatetags.static import static


class StaticCompressionMiddleware(GZipMiddleware):
    """gzip for the files of the screens, where the browser accepts it. What is compressed has no ETag, as WhiteNoise
    would not know a weak one again: its date is enough to ask whether there is a newer file."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """The answer, compressed if it is a static file."""
        if not request.path.startswith(static("")):
            return response
        answer = super().process_response(request, response)
        if answer.has_header("Content-Encoding"):
            del answer["ETag"]
        return answer
