"""Where settings come from: the environment, credentials of the process, and one configuration file.

The first of these that has a setting counts:

    NAME                      a variable of the environment
    NAME_FILE                 a variable that names a file with it; for secrets
    CREDENTIALS_DIRECTORY     a file in this folder, which systemd or a container makes for one process; for secrets
    section.key               the configuration file
    section.key_file          a file that the configuration file names; for secrets

The configuration file holds no secret. What it has that is not declared, has another type or cannot be used stops the
process, and so does what the environment has.
"""

import difflib
import stat
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from casino.core.setting_kinds import Kind

#: The variable that names the configuration file, and where it is looked for otherwise.
CONFIG = "CASINO_CONFIG"
DEFAULT_FILE = Path("/etc/cukassza/cukassza.toml")
#: The variable with the folder of credentials; systemd sets it for units with `LoadCredential=`.
CREDENTIALS = "CREDENTIALS_DIRECTORY"
#: What is behind the name of a variable or key that names a file with the value.
FILE = "_file"
#: Bytes of a secret at most.
LONGEST = 1 << 16


class SettingRefused(ImproperlyConfigured):
    """A setting or the configuration file cannot be used. The message names file or variable, key, and what was
    expected; it never shows a secret."""


class UnknownSetting(SettingRefused):
    """A name that is not declared."""


class WrongSetting(SettingRefused):
    """A value of another type, or one that cannot be used."""


class SecretShown(SettingRefused):
    """A secret stands in the configuration file itself."""


class GivenTwice(SettingRefused):
    """A value and a file with it, in one place."""


class NotSet(SettingRefused):
    """A required setting that nothing has."""


class FileUnreadable(SettingRefused):
    """A configuration file that cannot be read or is no TOML, or a file of a secret that cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One declared setting: `field` of the configuration, `name` of the variable, `key` in the file."""

    field: str
    name: str
    key: str
    kind: Kind[Any]
    default: Any
    meaning: str
    shown: str
    secret: bool
    #: Whether one process alone may know it.
    private: bool
    #: TOML of the value in the example of a configuration file; empty where that leaves it at its default.
    example: str

    @property
    def section(self) -> str:
        """The table of the file that has the key."""
        return self.key.partition(".")[0]

    @property
    def file_variable(self) -> str:
        """The variable that names a file with a secret."""
        return self.name + FILE.upper()

    @property
    def file_key(self) -> str:
        """The key that names a file with a secret."""
        return self.key + FILE


@dataclass(frozen=True, slots=True)
class Found:
    """A value as text, and what a message calls the place where it was found; `path` of a file that holds it."""

    text: str
    where: str
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class Sources:
    """What a process was given: `entries` are texts of the configuration file's values by `section.key`."""

    environ: Mapping[str, str]
    file: Path | None
    entries: Mapping[str, str]

    def find(self, one: Setting) -> Found | None:
        """The value that counts; None where nothing has it. Raises SettingRefused."""
        return self.of_environment(one) or self.of_file(one)

    def of_environment(self, one: Setting) -> Found | None:
        """What the process alone was given: a variable, a file that a variable names, a credential."""
        text = self.environ.get(one.name, "")
        path = self.environ.get(one.file_variable, "") if one.secret else ""
        if text and path:
            raise GivenTwice(f"{one.name} and {one.file_variable} are both set; expected one of them.")
        if text:
            return Found(text, one.name)
        if path:
            return _of_named_file(one, Path(path), one.file_variable)
        return self._credential(one)

    def of_file(self, one: Setting) -> Found | None:
        """What the configuration file has, also where the environment has it too. An empty value counts as none."""
        where = f"{self.file}: {one.key}"
        text, path = self.entries.get(one.key, ""), self.entries.get(one.file_key, "") if one.secret else ""
        if text and path:
            raise GivenTwice(f"{where} and {one.file_key} are both set; expected one of them.")
        if path:
            return _of_named_file(one, Path(path), f"{where}{FILE}")
        return Found(text, where) if text else None

    def overridden(self, settings: Sequence[Setting]) -> Iterator[tuple[Setting, Found]]:
        """Settings of the configuration file that count for nothing here, and what counts."""
        for one in settings:
            if (one.key in self.entries or one.file_key in self.entries) and (found := self.of_environment(one)):
                yield one, found

    def _credential(self, one: Setting) -> Found | None:
        folder = self.environ.get(CREDENTIALS, "")
        path = Path(folder, one.field)
        if not one.secret or not folder or not path.is_file():
            return None
        where = f"the credential {one.field}"
        if one.kind.is_key:
            return Found(f"credential:{path}", where, path) if path.stat().st_size else None
        text = _read(path, where)
        return Found(text, where, path) if text else None


def opened(environ: Mapping[str, str], settings: Sequence[Setting]) -> Sources:
    """The sources of an environment: its file is read, and its names are known. Raises SettingRefused."""
    named = environ.get(CONFIG, "")
    file = Path(named) if named else DEFAULT_FILE
    try:
        with file.open("rb") as opened_file:
            tables = tomllib.load(opened_file)
    except (FileNotFoundError, NotADirectoryError):
        if named:
            raise FileUnreadable(f"{CONFIG}: {file} is not there; expected a file of TOML.") from None
        return Sources(environ, None, {})
    except OSError as error:
        raise FileUnreadable(f"{file} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FileUnreadable(f"{file} is no TOML: {error}.") from error
    return Sources(environ, file, _entries(file, tables, settings))


def _entries(file: Path, tables: Mapping[str, Any], settings: Sequence[Setting]) -> dict[str, str]:
    """Texts by `section.key`, all of which can be used. Raises UnknownSetting, SecretShown, WrongSetting."""
    sections = dict.fromkeys(one.section for one in settings)
    entries: dict[str, str] = {}
    for section, table in tables.items():
        if section not in sections or not isinstance(table, dict):
            known = [f"[{one}]" for one in sections]
            raise UnknownSetting(f"{file}: [{section}] is not a section{nearest(f'[{section}]', known)}")
        for name, value in table.items():
            entries[f"{section}.{name}"] = _entry(file, f"{section}.{name}", value, settings)
    return entries


def _entry(file: Path, key: str, value: Any, settings: Sequence[Setting]) -> str:
    """The text of one value."""
    one = next((one for one in settings if key in (one.key, one.file_key if one.secret else "")), None)
    if one is None:
        known = [one.file_key if one.secret else one.key for one in settings]
        raise UnknownSetting(f"{file}: {key} is not a setting{nearest(key, known)}")
    if key == one.file_key:
        if not isinstance(value, str):
            raise WrongSetting(f"{file}: {key}: expected a string, the path of a file, got {value!r}.")
        return value
    if one.secret and not (value == "" or (one.kind.is_key and isinstance(value, str) and value[:4] != "hex:")):
        raise SecretShown(
            f"{file}: {key} is a secret, and this file holds none: expected {one.file_key} with the path of a file "
            f"that holds it, or the credential {one.field}."
        )
    try:
        if text := one.kind.text(value):
            one.kind.parse(text)
    except ValueError as error:
        given = "" if one.secret else f", got {value!r}"
        raise WrongSetting(f"{file}: {key}: {error}{given}.") from error
    return text


def _of_named_file(one: Setting, path: Path, where: str) -> Found:
    """A secret from a file. A key is read when it is used, by who checks that nobody else may read it."""
    if one.kind.is_key:
        return Found(f"file:{path}", where, path)
    if not (text := _read(path, where)):
        raise WrongSetting(f"{where}: {path} is empty; expected one line with the secret.")
    return Found(text, where, path)


def _read(path: Path, where: str) -> str:
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe without a writer would never open
            raise FileUnreadable(f"{where}: {path} is no regular file.")
        with path.open(encoding="utf-8") as file:
            return file.read(LONGEST).strip()
    except OSError as error:
        raise FileUnreadable(f"{where}: {path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError:  # without its text, and without the error that might show it
        raise FileUnreadable(f"{where}: {path} is no text.") from None


def nearest(name: str, known: Sequence[str]) -> str:
    """The end of a message about a name that nobody has declared."""
    close = difflib.get_close_matches(name, known, 1, cutoff=0.7)
    return f"; did you mean {close[0]}?" if close else f". Known are: {', '.join(sorted(known))}."
