#!/usr/bin/env python
"""Django's command line for the house (`manage.py help` lists the commands)."""

import os
import sys


def main() -> None:
    """Run one management command."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")
    from django.core.management import execute_from_command_line

    from casino.core.setting_sources import SettingRefused

    try:
        execute_from_command_line(sys.argv)
    except SettingRefused as error:
        sys.exit(f"manage.py: {error}")


if __name__ == "__main__":
    main()
