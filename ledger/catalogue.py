"""The database objects of the ledger: tables, columns, constraints, indexes, triggers, functions and rights.

`catalogue.json` declares it, an entry for each object, as the migrations make it; `differences` compares it with
PostgreSQL's own catalogues. Functions are declared by the SHA-256 of everything that they are, the rest in words.
`python -m django ledger_catalogue` writes the file again after a change of the migrations.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections

from ledger.findings import Finding
from ledger.roles import app_role

FILE = Path(__file__).with_name("catalogue.json")

# Of PostgreSQL's constraints those that say NOT NULL are left out: before version 18 only columns say so. Rights are
# those of PUBLIC and of the application's role; of other roles' rights all but SELECT. @schema@
# and @app@ stand for the names that differ from one database to the next.
_CATALOGUE = """
WITH home AS (
    SELECT relnamespace AS oid, nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.oid = to_regclass('ledger_entry')
), tab AS (
    SELECT c.* FROM pg_class c JOIN home h ON h.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p') AND starts_with(c.relname, 'ledger_')
), proc AS (
    SELECT p.*, format('%%s(%%s)', p.proname,
                       replace(pg_get_function_identity_arguments(p.oid), h.nspname || '.', '')) AS signature, h.nspname
    FROM pg_proc p JOIN home h ON h.oid = p.pronamespace WHERE starts_with(p.proname, 'ledger_')
), held AS (
    SELECT 'table ' || t.relname AS object, a.grantee, a.privilege_type, t.relowner AS owner
    FROM tab t, aclexplode(t.relacl) a
    UNION ALL
    SELECT format('column %%s.%%s', t.relname, c.attname), a.grantee, a.privilege_type, t.relowner
    FROM tab t JOIN pg_attribute c ON c.attrelid = t.oid, aclexplode(c.attacl) a
    UNION ALL
    SELECT 'function ' || p.signature, a.grantee, a.privilege_type, p.proowner
    FROM proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
)
SELECT 'table ' || relname,
       format('persistence %%s, options %%s, row security %%s, rules %%s, of the application %%s', relpersistence,
              reloptions, relrowsecurity, relhasrules, pg_get_userbyid(relowner) = %(app)s)
FROM tab
UNION ALL
SELECT format('column %%s.%%s', t.relname, a.attname),
       concat_ws(' ', format_type(a.atttypid, a.atttypmod), CASE WHEN a.attnotnull THEN 'not null' END,
                 CASE WHEN a.attidentity <> '' THEN 'identity ' || a.attidentity::text END,
                 'default ' || pg_get_expr(d.adbin, d.adrelid))
FROM tab t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_attrdef d ON d.adrelid = t.oid AND d.adnum = a.attnum
UNION ALL
SELECT format('constraint %%s.%%s', t.relname, c.conname),
       pg_get_constraintdef(c.oid) || CASE WHEN c.convalidated THEN '' ELSE ' not validated' END
FROM tab t JOIN pg_constraint c ON c.conrelid = t.oid AND c.contype NOT IN ('n', 't')
UNION ALL
SELECT format('index %%s.%%s', t.relname, i.relname),
       replace(pg_get_indexdef(i.oid), h.nspname || '.', '') || CASE WHEN x.indisvalid THEN '' ELSE ' not valid' END
FROM home h, tab t JOIN pg_index x ON x.indrelid = t.oid JOIN pg_class i ON i.oid = x.indexrelid
UNION ALL
SELECT format('trigger %%s.%%s', t.relname, g.tgname),
       CASE g.tgenabled WHEN 'A' THEN 'always' WHEN 'D' THEN 'disabled' WHEN 'O' THEN 'not in replica mode'
       ELSE 'in replica mode only' END || ': ' || replace(pg_get_triggerdef(g.oid), h.nspname || '.', '')
FROM home h, tab t JOIN pg_trigger g ON g.tgrelid = t.oid AND NOT g.tgisinternal
WHERE format('%%s.%%s', t.relname, g.tgname) <> ALL (%(others)s)
UNION ALL
SELECT 'function ' || signature,
       encode(sha256(convert_to(concat_ws(
           '|', l.lanname, prosecdef, provolatile, proisstrict, prokind, prosupport,
           replace(pg_get_function_arguments(p.oid), nspname || '.', ''),
           replace(pg_get_function_result(p.oid), nspname || '.', ''),
           replace(array_to_string(proconfig, ','), quote_ident(nspname) || ',', '@schema@,'),
           prosrc, replace(pg_get_function_sqlbody(p.oid), nspname || '.', '')), 'UTF8')), 'hex')
FROM proc p JOIN pg_language l ON l.oid = p.prolang
UNION ALL
SELECT 'rights on ' || object, string_agg(who || ' ' || privilege_type, ', ' ORDER BY who, privilege_type)
FROM (SELECT DISTINCT object, privilege_type, CASE WHEN grantee = 0 THEN 'PUBLIC'
             WHEN pg_get_userbyid(grantee) = %(app)s THEN '@app@' ELSE pg_get_userbyid(grantee)::text END AS who
      FROM held WHERE grantee <> owner) r
WHERE who IN ('PUBLIC', '@app@') OR privilege_type <> 'SELECT'
GROUP BY object
"""


def found(*, using: str = DEFAULT_DB_ALIAS) -> dict[str, str]:
    """What the database has, by object: "trigger TABLE.NAME", "function NAME(TYPES)", "rights on ...".

    Triggers that a project adds to the ledger's tables (`settings.LEDGER_OTHER_TRIGGERS`, "TABLE.NAME" each) are left
    to the project.
    """
    others = list(getattr(settings, "LEDGER_OTHER_TRIGGERS", ()))
    with connections[using].cursor() as cursor:
        cursor.execute(_CATALOGUE, {"app": app_role(), "others": others})
        return dict(cursor.fetchall())


@cache
def declared() -> Mapping[str, str]:
    """The declared objects, from the file that is shipped with the code."""
    objects: dict[str, str] = json.loads(FILE.read_text(encoding="utf-8"))
    return objects


def differences(*, using: str = DEFAULT_DB_ALIAS) -> list[Finding]:
    """The differences between database and declaration: missing, additional and changed objects."""
    there, wanted = found(using=using), declared()
    return [
        Finding("catalogue", name, _difference(wanted.get(name), there.get(name)))
        for name in sorted(there.keys() | wanted.keys())
        if there.get(name) != wanted.get(name)
    ]


def _difference(wanted: str | None, there: str | None) -> str:
    """The difference of an object in words."""
    if there is None:
        return "is missing"
    if wanted is None:
        return f"does not belong to the ledger: {there}"
    return f"is {there}, not {wanted}"
