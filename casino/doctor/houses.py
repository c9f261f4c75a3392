"""Which houses are looked at: an installation without any is a good one too."""

from casino.houses.cli_arguments import houses_named
from casino.houses.models import House


def looked_at(code: str | None) -> list[House]:
    """The house of this code, or all there are. Raises CommandError where there is none of this code."""
    return houses_named(code) if code is not None or House.objects.exists() else []
