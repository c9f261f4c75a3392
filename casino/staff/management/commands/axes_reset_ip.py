"""In the place of axes' `axes_reset_ip`, which writes no event."""

from casino.staff.management.refusing import Refused as Command

__all__ = ["Command"]
