"""`python -m casino.audit.verifier FOLDER`: the command inside the project; `verify.pyz` is the same one by itself."""

import sys

from .command import main

sys.exit(main())
