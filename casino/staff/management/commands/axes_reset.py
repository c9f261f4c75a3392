"""In the place of axes' `axes_reset`, which writes no event."""

from casino.staff.management.refusing import Refused as Command

__all__ = ["Command"]
