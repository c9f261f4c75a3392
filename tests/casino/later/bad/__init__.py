"""The migrations of `casino.live`, and one that breaks the release before."""

import casino.live.migrations

__path__ = [*casino.live.migrations.__path__, *__path__]
