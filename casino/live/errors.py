"""Refusals of streams: there may be so many, of one token and together."""

from casino.core.errors import HouseError


class TooManyStreams(HouseError):
    """The token has as many streams as one may have."""

    status, code = 429, "too_many_streams"

    def __init__(self, most: int) -> None:
        super().__init__(
            f"A token has {most} streams and waiting requests at most; close one, or wait until it has ended.",
            retry_after=10,
        )


class StreamsFull(HouseError):
    """The process that sends the hints has as many streams as it takes."""

    status, code = 503, "streams_full"

    def __init__(self) -> None:
        super().__init__("As many streams are open as the house takes; try again, or do not wait.", retry_after=5)
