"""`settings.md`: the environment variables, from the fields of `casino.configuration.Configuration`."""

from dataclasses import MISSING, Field
from typing import Any

from casino.configuration import ELSEWHERE, declared
from casino.reference.markdown import generated, table

HEAD = """
The house is configured by environment variables. An empty variable counts as not set. A value that cannot be used, a
required variable that is not set, and an unknown variable that begins with `CASINO_` stop every process at its start,
with a message that names the variable. No message shows the value of a secret.

`python -m deploy.embedded env` prints all required variables for the embedded servers; `make` sets them by itself.
[Operate](../how-to/operate.md) says which process needs which.
"""


def render() -> str:
    """The page."""
    variables = table(("variable", "default", "meaning"), (_row(one) for one in declared()))
    elsewhere = table(("variable", "meaning"), ((f"`{name}`", meaning) for name, meaning in ELSEWHERE.items()))
    head = f"# Settings\n\n{generated('`casino/configuration.py`')}{HEAD}"
    return f"{head}\n{variables}\nRead by other programs of this project:\n\n{elsewhere}"


def _row(one: Field[Any]) -> tuple[str, str, str]:
    said = one.metadata
    default = "required" if one.default is MISSING else said["shown"] or f"`{one.default}`"
    return f"`{said['name']}`", default, said["meaning"] + (" Secret." if said["secret"] else "")
