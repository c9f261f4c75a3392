"""What is said to the verifier's commands."""

import argparse
from typing import NoReturn

from .findings import Unusable


class Parser(argparse.ArgumentParser):
    """Arguments of a command; what is wrong with them is printed like everything else that cannot be used."""

    def error(self, message: str) -> NoReturn:
        """Raise what is printed."""
        raise Unusable(f"{self.format_usage().strip()}: {message}")
