"""The language of a file that is made at once for who asks."""

from collections.abc import Mapping

from drf_spectacular.utils import OpenApiParameter

from casino.core.errors import BadRequest
from casino.core.languages import NAMES
from casino.houses import identity
from casino.houses.models import House

LANGUAGE = OpenApiParameter(
    "language",
    str,
    enum=list(NAMES),
    description="Language of its titles and words, ISO 639-1; absent: the first of the house's languages that there "
    "is.",
)


def language_of(asked: Mapping[str, str], house: House) -> str:
    """The language that the query asks for, or that of the house. Raises BadRequest for one that there is not."""
    chosen = asked.get(LANGUAGE.name) or identity.language(house)
    if chosen not in NAMES:
        raise BadRequest(
            f"{LANGUAGE.name} is one of {', '.join(NAMES)}.", code="invalid_parameter", parameters=[LANGUAGE.name]
        )
    return chosen
