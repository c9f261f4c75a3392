"""A Django project that has nothing but the ledger; which database, says the environment."""

import json
import os

_OWNER = json.loads(os.environ["LEDGER_ALONE_DATABASE"])

SECRET_KEY = "of no use"
USE_TZ = True
INSTALLED_APPS = ["ledger"]
DATABASES = {
    "owner": _OWNER,
    "default": _OWNER | {"OPTIONS": {"assume_role": "ledger_app"}},
}
