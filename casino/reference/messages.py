"""The catalogues of messages: what the sources say to people, and whether every language says all of it.

Texts are found in three ways: calls of gettext and texts of templates, words of scripts, and declarations (operations,
fields, codes of errors, games, reports) that are texts without a mark. Babel reads, merges and compiles; nothing of the
system is needed. Compiled catalogues are kept beside the others, so that a clone and a wheel have them.
"""

import ast
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.utils.translation.template import templatize

from casino.core.languages import DOMAIN, ENGLISH, FOLDER, NAMES, SCRIPTS
from casino.reference import declared_messages

ROOT = Path(__file__).resolve().parents[2]
#: A message: its context or none, and its text.
Key = tuple[str | None, str]
_KEYWORDS: dict[str, Any] = {
    "gettext": None, "gettext_noop": None, "gettext_lazy": None, "pgettext": ((1, "c"), 2),
}  # fmt: skip
#: What stands in a text for something else: `{name}` or `%(name)s`.
_PLACES = re.compile(r"\{\w+\}|%\(\w+\)s|%s")
#: The same bytes whenever they are made.
_MADE = datetime(2026, 1, 1, tzinfo=UTC)
_TEMPLATED = re.compile(r"\b(?:gettext|pgettext)\(((?:u?(?:'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\")(?:, )?)+)\)")


@dataclass(frozen=True, slots=True)
class Found:
    """A message and the file, or the declaration, that says it."""

    key: Key
    where: str


@cache
def found(domain: str) -> dict[Key, list[str]]:
    """Every message of a domain, in the order of the sources, with where it is said."""
    messages: dict[Key, list[str]] = {}
    for one in _of_scripts() if domain == SCRIPTS else _of_server():
        places = messages.setdefault(one.key, [])
        if one.where not in places:
            places.append(one.where)
    return messages


def _of_server() -> Iterator[Found]:
    for path in _files("casino", "*.html"):
        yield from (Found(key, _name(path)) for key in _templated(path.read_text(encoding="utf-8")))
    for path in _files("casino", "*.py"):
        if b"gettext" in (content := path.read_bytes()):
            yield from _extracted("python", content, path)
    for context, text, where in declared_messages.every():
        yield Found((str(context), text), where)


def _of_scripts() -> Iterator[Found]:
    for path in _files("casino/console/static", "*.js"):
        if not path.name.endswith(".min.js"):
            for found_here in extract("javascript", io.BytesIO(path.read_bytes()), {"t": None}):
                yield Found((None, str(found_here[1])), _name(path))


def _files(folder: str, pattern: str) -> list[Path]:
    return sorted((ROOT / folder).rglob(pattern))


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _extracted(method: str, content: bytes, path: Path) -> Iterator[Found]:
    for _, message, _, context in extract(method, io.BytesIO(content), _KEYWORDS):
        yield Found((context, message if isinstance(message, str) else message[0]), _name(path))


def _templated(source: str) -> Iterator[Key]:
    """The messages of a template, which Django turns into calls first."""
    for call in _TEMPLATED.finditer(templatize(source)):
        given = ast.literal_eval(f"({call[1]},)")
        yield (given[0], given[1]) if len(given) == 2 else (None, given[0])


# --- Catalogues -----------------------------------------------------------------------------------------------------


def languages() -> list[str]:
    """Those that have catalogues: all but that of the sources."""
    return [name for name in NAMES if name != ENGLISH]


def path_of(language: str, domain: str, ending: str = "po", folder: Path = FOLDER) -> Path:
    """A catalogue."""
    return folder / language / "LC_MESSAGES" / f"{domain}.{ending}"


def write(folder: Path = FOLDER) -> list[str]:
    """Write every catalogue and compile it: messages that are said no longer are dropped, new ones are empty.
    Returns how many of each are not translated."""
    lacking = []
    for language in languages():
        for domain in (DOMAIN, SCRIPTS):
            path = path_of(language, domain, folder=folder)
            catalog = _merged(language, domain, path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(_written(catalog))
            path.with_suffix(".mo").write_bytes(_compiled(catalog))
            if empty := sum(not message.string for message in catalog if message.id):
                lacking.append(f"{_name(path) if path.is_relative_to(ROOT) else path}: {empty} not translated")
    return lacking


def problems(folder: Path = FOLDER) -> Iterator[str]:
    """What is wrong with the catalogues: a message that is missing, said no longer, not translated or fuzzy, or whose
    translation has other places to fill in; a compiled catalogue that is not of its source."""
    for language in languages():
        for domain in (DOMAIN, SCRIPTS):
            path = path_of(language, domain, folder=folder)
            name = f"{language}/{domain}"
            if not path.exists():
                yield f"{name}: missing"
                continue
            catalog = _read(path, language, domain)
            yield from (f"{name}: {words}" for words in _wrong(catalog, found(domain)))
            compiled = path.with_suffix(".mo")
            if not compiled.exists() or compiled.read_bytes() != _compiled(catalog):
                yield f"{name}: the compiled catalogue is out of date"


def _wrong(catalog: Catalog, said: dict[Key, list[str]]) -> Iterator[str]:
    kept = {_key(message): message for message in catalog if message.id}
    for key in said.keys() - kept.keys():
        yield f"{_shown(key)} is not in the catalogue"
    for key, message in kept.items():
        if key not in said:
            yield f"{_shown(key)} is said no longer"
        elif not message.string:
            yield f"{_shown(key)} is not translated"
        elif message.fuzzy:
            yield f"{_shown(key)} is fuzzy"
        elif sorted(_PLACES.findall(key[1])) != sorted(_PLACES.findall(str(message.string))):
            yield f"{_shown(key)} has other places to fill in"


def _key(message: Any) -> Key:
    return (message.context, str(message.id))


def _shown(key: Key) -> str:
    return f"{key[1]!r}" + (f" ({key[0]})" if key[0] else "")


def _merged(language: str, domain: str, path: Path) -> Catalog:
    kept = {_key(one): one for one in _read(path, language, domain)} if path.exists() else {}
    catalog = _empty(language, domain)
    for (context, text), places in found(domain).items():
        old = kept.get((context, text))
        said_at: list[Any] = [(where, None) for where in places]
        catalog.add(
            text, old.string if old is not None else "", said_at,
            flags=() if old is None else tuple(old.flags), context=context,
        )  # fmt: skip
    return catalog


def _empty(language: str, domain: str) -> Catalog:
    catalog = Catalog(
        locale=language, domain=domain, project="cukassza", version="0", charset="utf-8", fuzzy=False,
        creation_date=_MADE, revision_date=_MADE,
        header_comment=f"# {NAMES[language]}. `make messages` writes this file; translations are written into it.",
    )  # fmt: skip
    catalog.last_translator, catalog.language_team = "", ""
    return catalog


def _read(path: Path, language: str, domain: str) -> Catalog:
    with path.open("rb") as file:
        return read_po(file, locale=language, domain=domain)


def _written(catalog: Catalog) -> bytes:
    out = io.BytesIO()
    write_po(out, catalog, width=0, include_lineno=False)
    return out.getvalue()


def _compiled(catalog: Catalog) -> bytes:
    out = io.BytesIO()
    write_mo(out, catalog)
    return out.getvalue()
