"""The migrations of `casino.live`, a nullable column after them, and an index of it."""

import casino.live.migrations

__path__ = [*casino.live.migrations.__path__, *__path__]
