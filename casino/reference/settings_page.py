"""`settings.md` and `deploy/cukassza.toml`: every setting, from the fields of `casino.configuration.Configuration`."""

import os
import re
import textwrap
from dataclasses import MISSING
from itertools import groupby

from casino.configuration import ELSEWHERE, declared
from casino.core import setting_kinds as kinds
from casino.core.setting_sources import DEFAULT_FILE, Setting
from casino.reference.markdown import generated, table

HEAD = f"""
A setting is a key of the configuration file, `{DEFAULT_FILE}` or the one that `CASINO_CONFIG` names, or a
variable of the environment, which counts more. An empty value counts as not set. A value of another type or one that
cannot be used, a required setting that is missing, and an unknown key, section or variable that begins with `CASINO_`
stop every process at its start, with a message that names file, key and what was expected. No message shows a secret.

**Secrets** never stand in the file. Of these the first counts: the variable; the variable with `_FILE` behind its name,
which names a file with the secret; the credential of the process, a file in the folder `CREDENTIALS_DIRECTORY`
(systemd's `LoadCredential=`, secrets of containers); the key with `_file` behind its name.

[`deploy/cukassza.toml`](../../deploy/cukassza.toml) is an example of the file with every key.
`python -m deploy.embedded env` prints all required variables for the embedded servers; `make` sets them by itself, so
that they count more than a file. [Operate](../how-to/operate.md) says which process needs which, and `manage.py doctor`
what was read.
"""
EXAMPLE_HEAD = """\
# Settings of a house, for all of its processes: copy it to /etc/cukassza/cukassza.toml. Made by `make pages`.
#
# What is set is what an installation under systemd needs: change the host names. What is commented out is at its
# default. An empty value counts as not set, and a variable of the environment counts more. No secret stands here: only
# where its file is, which nobody but the processes' user may read. `manage.py doctor` says what is not as it should be.
"""
#: Where the example has the files of secrets that every process knows.
SECRETS = "/etc/cukassza/secrets"
#: How a variable has several values.
_SEPARATED = {",": " Several are separated by commas.", os.pathsep: " Several are separated as in `PATH`."}


def render() -> str:
    """The page."""
    settings = table(("variable", "key", "default", "meaning"), (_row(one) for one in declared()))
    elsewhere = table(("variable", "meaning"), ((f"`{name}`", meaning) for name, meaning in ELSEWHERE.items()))
    head = f"# Settings\n\n{generated('`casino/configuration.py`')}{HEAD}"
    return f"{head}\n{settings}\nVariables that are no settings:\n\n{elsewhere}"


def _row(one: Setting) -> tuple[str, str, str, str]:
    default = "required" if one.default is MISSING else one.shown or f"`{one.default}`"
    key = f"`{one.file_key}`" if one.secret else f"`{one.key}`"
    secret = f" Secret; the credential `{one.field}`." if one.secret else ""
    return f"`{one.name}`", key, default, one.meaning + _SEPARATED.get(one.kind.separator, "") + secret


def render_example() -> str:
    """The example of a configuration file."""
    sections = groupby(declared(), lambda one: one.section)
    return EXAMPLE_HEAD + "".join(f"\n[{name}]\n{''.join(map(_entry, settings))}" for name, settings in sections)


def _entry(one: Setting) -> str:
    """A setting with its meaning and default, commented out where the example does not set it."""
    name = one.key.partition(".")[2]
    words = textwrap.fill(_words(one, name), 119, initial_indent="# ", subsequent_indent="# ")
    if one.secret:
        line = f'{name}_file = "{SECRETS}/{one.field}"'
    else:
        line = f"{name} = {one.example or one.kind.toml(one.default)}"
    return f"{words}\n{'' if one.example or one.default is MISSING else '# '}{line}\n"


def _words(one: Setting, name: str) -> str:
    """What the example says of a setting: its meaning in words of the file, and the default that it does not show."""
    words = re.sub(r" ?\(\[[^]]*\]\([^)]*\)\)", "", one.meaning)
    if one.kind is kinds.KEY:
        words += f' A program: `{name} = "command:PROGRAM ..."`.'
    if one.private:
        words += " One process alone may know it: give it the credential instead."
    seen = not one.example and (one.default or one.kind is kinds.FLAG)
    if one.default is not MISSING and not seen and one.shown != "none":
        words += f" Default: {one.shown or one.kind.toml(one.default)}."
    if one.kind is kinds.FLAG:
        words = words.replace("`0`", "`false`").replace("`1`", "`true`")
    keys = {two.name: two.file_key if two.secret else two.key for two in declared()}
    return re.sub(r"`([A-Z_]+)`", lambda found: f"`{keys.get(found[1], found[1])}`", words)
