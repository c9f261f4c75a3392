-- Every object that somebody made in this database, as (object, text), without oids and without the names of roles and
-- of the schema, which differ from one database to the next: @schema@, @owner@, and those that `roles` names.
-- Left out is what PostgreSQL brings along, and what says nothing: temporary objects, TOAST tables, constraints NOT
-- NULL (before version 18 only columns say so), the privileges of an owner.
-- Parameters: the schema of the tables; a JSON object of names of roles and the words that stand for them.
WITH home AS (
    SELECT n.oid, n.nspname AS name, c.relowner AS owner
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.oid = pg_catalog.to_regclass(pg_catalog.quote_ident(%(home)s::text) || '.ledger_entry')
), named AS (
    SELECT r.oid, coalesce(given.value, CASE WHEN r.oid = home.owner OR r.rolname = 'pg_database_owner'
        THEN '@owner@' ELSE r.rolname::text END) AS who, given.value IS NOT NULL AS ours
    FROM home, pg_catalog.pg_roles r
    LEFT JOIN pg_catalog.jsonb_each_text(%(roles)s::jsonb) given ON given.key = r.rolname
    UNION ALL SELECT 0::oid, 'PUBLIC', false
), space AS (
    SELECT n.oid, n.nspowner, n.nspacl, n.nspname, CASE WHEN n.oid = home.oid THEN '' ELSE n.nspname || '.' END AS prefix,
        n.nspname IN ('pg_catalog', 'information_schema') AS brought
    FROM pg_catalog.pg_namespace n, home
    WHERE n.nspname NOT LIKE 'pg\_toast%%' AND n.nspname NOT LIKE 'pg\_temp\_%%'
), rel AS (
    SELECT c.*, s.prefix || c.relname AS name, home.name || '.' AS own
    FROM home, pg_catalog.pg_class c JOIN space s ON s.oid = c.relnamespace
    WHERE NOT s.brought OR c.oid >= 16384
), tab AS (
    SELECT * FROM rel WHERE relkind IN ('r', 'p', 'v', 'm', 'f')
), proc AS (
    SELECT p.*, home.name AS own_schema, concat(s.prefix, p.proname, '(',
        replace(pg_catalog.pg_get_function_identity_arguments(p.oid), home.name || '.', ''), ')') AS name
    FROM home, pg_catalog.pg_proc p JOIN space s ON s.oid = p.pronamespace
    WHERE NOT s.brought OR p.oid >= 16384
), typ AS (
    -- Row types and arrays belong to what they are made of.
    SELECT t.*, s.prefix || t.typname AS name FROM pg_catalog.pg_type t JOIN space s ON s.oid = t.typnamespace
    WHERE (NOT s.brought OR t.oid >= 16384) AND t.typcategory <> 'A'
        AND NOT EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.oid = t.typrelid AND c.relkind <> 'c')
), held AS (
    SELECT concat(CASE WHEN r.relkind = 'S' THEN 'sequence ' ELSE 'table ' END, r.name) AS object, r.relowner AS owner,
        a.* FROM rel r, pg_catalog.aclexplode(r.relacl) a
    UNION ALL
    SELECT concat('column ', r.name, '.', c.attname), r.relowner, a.*
    FROM rel r JOIN pg_catalog.pg_attribute c ON c.attrelid = r.oid, pg_catalog.aclexplode(c.attacl) a
    UNION ALL
    SELECT 'function ' || p.name, p.proowner, a.*
    FROM proc p, pg_catalog.aclexplode(coalesce(p.proacl, pg_catalog.acldefault('f', p.proowner))) a
    UNION ALL
    SELECT 'schema ' || s.nspname, s.nspowner, a.* FROM space s, home, pg_catalog.aclexplode(s.nspacl) a
    WHERE NOT s.brought AND s.oid <> home.oid
    UNION ALL
    -- Of the schema's own use everybody may have; to create in it nobody but its owner.
    SELECT 'schema @schema@', s.nspowner, a.* FROM space s JOIN home USING (oid), pg_catalog.aclexplode(s.nspacl) a
    WHERE a.privilege_type <> 'USAGE'
    UNION ALL
    SELECT 'the database', d.datdba, a.* FROM pg_catalog.pg_database d, pg_catalog.aclexplode(d.datacl) a
    WHERE d.datname = pg_catalog.current_database() AND a.privilege_type = 'CREATE'
    UNION ALL
    SELECT 'type ' || t.name, t.typowner, a.* FROM typ t, pg_catalog.aclexplode(t.typacl) a
    UNION ALL
    SELECT 'language ' || l.lanname, l.lanowner, a.* FROM pg_catalog.pg_language l, pg_catalog.aclexplode(l.lanacl) a
    UNION ALL
    SELECT 'parameter ' || p.parname, 10::oid, a.*
    FROM pg_catalog.pg_parameter_acl p, pg_catalog.aclexplode(p.paracl) a
    UNION ALL
    SELECT concat('later objects of kind ', d.defaclobjtype, ' in ', s.nspname, ' by ', o.who), 0::oid, a.*
    FROM pg_catalog.pg_default_acl d JOIN named o ON o.oid = d.defaclrole LEFT JOIN space s ON s.oid = d.defaclnamespace,
        pg_catalog.aclexplode(d.defaclacl) a
), other AS (
    SELECT 'pg_catalog.pg_cast'::regclass AS class, oid FROM pg_catalog.pg_cast
    UNION ALL SELECT 'pg_catalog.pg_operator'::regclass, oid FROM pg_catalog.pg_operator
    UNION ALL SELECT 'pg_catalog.pg_opclass'::regclass, oid FROM pg_catalog.pg_opclass
    UNION ALL SELECT 'pg_catalog.pg_opfamily'::regclass, oid FROM pg_catalog.pg_opfamily
    UNION ALL SELECT 'pg_catalog.pg_am'::regclass, oid FROM pg_catalog.pg_am
    UNION ALL SELECT 'pg_catalog.pg_conversion'::regclass, oid FROM pg_catalog.pg_conversion
    UNION ALL SELECT 'pg_catalog.pg_collation'::regclass, oid FROM pg_catalog.pg_collation
    UNION ALL SELECT 'pg_catalog.pg_transform'::regclass, oid FROM pg_catalog.pg_transform
    UNION ALL SELECT 'pg_catalog.pg_statistic_ext'::regclass, oid FROM pg_catalog.pg_statistic_ext
    UNION ALL SELECT 'pg_catalog.pg_ts_config'::regclass, oid FROM pg_catalog.pg_ts_config
    UNION ALL SELECT 'pg_catalog.pg_ts_dict'::regclass, oid FROM pg_catalog.pg_ts_dict
    UNION ALL SELECT 'pg_catalog.pg_ts_parser'::regclass, oid FROM pg_catalog.pg_ts_parser
    UNION ALL SELECT 'pg_catalog.pg_ts_template'::regclass, oid FROM pg_catalog.pg_ts_template
    UNION ALL SELECT 'pg_catalog.pg_foreign_data_wrapper'::regclass, oid FROM pg_catalog.pg_foreign_data_wrapper
    UNION ALL SELECT 'pg_catalog.pg_foreign_server'::regclass, oid FROM pg_catalog.pg_foreign_server
    UNION ALL SELECT 'pg_catalog.pg_publication'::regclass, oid FROM pg_catalog.pg_publication
)
SELECT concat('schema ', CASE WHEN s.oid = home.oid THEN '@schema@' ELSE s.nspname END), 'of ' || o.who
FROM space s JOIN named o ON o.oid = s.nspowner, home WHERE NOT s.brought
UNION ALL
SELECT concat('table ', t.name),
    concat('kind ', t.relkind, ', persistence ', t.relpersistence, ', options ', t.reloptions, ', row security ',
           t.relrowsecurity, ' ', t.relforcerowsecurity, ', partition ', t.relispartition, ', of ', o.who,
           (SELECT pg_catalog.string_agg(', inherits ' || i.inhparent::regclass::text, '' ORDER BY i.inhseqno)
            FROM pg_catalog.pg_inherits i WHERE i.inhrelid = t.oid))
FROM tab t JOIN named o ON o.oid = t.relowner
UNION ALL
SELECT concat('view ', t.name), concat('enabled ', r.ev_enabled, ': ', replace(pg_catalog.pg_get_viewdef(t.oid), t.own, ''))
FROM tab t JOIN pg_catalog.pg_rewrite r ON r.ev_class = t.oid AND r.rulename = '_RETURN'
UNION ALL
SELECT concat('rule ', t.name, '.', r.rulename), concat('enabled ', r.ev_enabled, ': ', pg_catalog.pg_get_ruledef(r.oid))
FROM tab t JOIN pg_catalog.pg_rewrite r ON r.ev_class = t.oid AND r.rulename <> '_RETURN'
UNION ALL
SELECT concat('column ', t.name, '.', a.attname),
    pg_catalog.concat_ws(' ', replace(pg_catalog.format_type(a.atttypid, a.atttypmod), t.own, ''),
        CASE WHEN a.attnotnull THEN 'not null' END,
        CASE WHEN a.attidentity <> '' THEN 'identity ' || a.attidentity::text END,
        CASE WHEN a.attgenerated <> '' THEN 'generated ' || a.attgenerated::text END,
        CASE WHEN a.attcollation <> y.typcollation THEN 'collation ' || a.attcollation::regcollation::text END,
        'default ' || replace(pg_catalog.pg_get_expr(d.adbin, d.adrelid), t.own, ''))
FROM tab t JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_catalog.pg_type y ON y.oid = a.atttypid
LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = t.oid AND d.adnum = a.attnum
UNION ALL
SELECT concat('constraint ', coalesce(t.name, y.name), '.', c.conname),
    concat(replace(pg_catalog.pg_get_constraintdef(c.oid), coalesce(t.own, ''), ''),
           CASE WHEN NOT c.convalidated THEN ' not validated' END)
FROM pg_catalog.pg_constraint c LEFT JOIN tab t ON t.oid = c.conrelid LEFT JOIN typ y ON y.oid = c.contypid
WHERE c.contype NOT IN ('n', 't') AND coalesce(t.oid, y.oid) IS NOT NULL
UNION ALL
SELECT concat('index ', t.name, '.', i.relname),
    concat(replace(pg_catalog.pg_get_indexdef(i.oid), t.own, ''), ' options ', i.reloptions,
           CASE WHEN NOT (x.indisvalid AND x.indisready AND x.indislive) THEN ' not valid' END)
FROM tab t JOIN pg_catalog.pg_index x ON x.indrelid = t.oid JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid
UNION ALL
SELECT concat('sequence ', r.name),
    concat(s.seqtypid::regtype, ' from ', s.seqstart, ' by ', s.seqincrement, ' in ', s.seqmin, '..', s.seqmax, ' cache ',
           s.seqcache, ' cycle ', s.seqcycle, ', of ', o.who, (SELECT concat(', for ', t.name, '.', a.attname)
               FROM pg_catalog.pg_depend d JOIN tab t ON t.oid = d.refobjid
               JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid AND a.attnum = d.refobjsubid
               WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = r.oid AND d.deptype IN ('a', 'i')))
FROM rel r JOIN pg_catalog.pg_sequence s ON s.seqrelid = r.oid JOIN named o ON o.oid = r.relowner
UNION ALL
SELECT concat('trigger ', t.name, '.', g.tgname),
    concat(CASE g.tgenabled WHEN 'A' THEN 'always' WHEN 'D' THEN 'disabled' WHEN 'O' THEN 'not in replica mode'
           ELSE 'in replica mode only' END, ': ', replace(pg_catalog.pg_get_triggerdef(g.oid), t.own, ''))
FROM tab t JOIN pg_catalog.pg_trigger g ON g.tgrelid = t.oid AND NOT g.tgisinternal
UNION ALL
-- PostgreSQL's own triggers, which check foreign keys and deferred constraints: their numbers are in their names.
SELECT concat('triggers of constraint ', t.name, '.', c.conname),
    pg_catalog.string_agg(concat(g.tgfoid::regproc, ' enabled ', g.tgenabled), ', ' ORDER BY g.tgfoid)
FROM tab t JOIN pg_catalog.pg_trigger g ON g.tgrelid = t.oid AND g.tgisinternal
JOIN pg_catalog.pg_constraint c ON c.oid = g.tgconstraint
WHERE g.tgenabled <> 'O' GROUP BY t.name, c.conname
UNION ALL
SELECT concat('policy ', t.name, '.', p.polname),
    concat('for ', p.polcmd, ' permissive ', p.polpermissive, ' to ',
           (SELECT pg_catalog.string_agg(n.who, ', ' ORDER BY n.who COLLATE "C") FROM named n WHERE n.oid = ANY (p.polroles)),
           ' using ', pg_catalog.pg_get_expr(p.polqual, p.polrelid), ' check ',
           pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid))
FROM tab t JOIN pg_catalog.pg_policy p ON p.polrelid = t.oid
UNION ALL
SELECT 'function ' || p.name,
    concat('of ', o.who, ', with text ', pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(pg_catalog.concat_ws(
        '|', l.lanname, p.prosecdef, p.provolatile, p.proisstrict, p.proleakproof, p.proparallel, p.prokind, p.prosupport,
        replace(pg_catalog.pg_get_function_arguments(p.oid), p.own_schema || '.', ''),
        replace(pg_catalog.pg_get_function_result(p.oid), p.own_schema || '.', ''),
        replace(pg_catalog.array_to_string(p.proconfig, ','), pg_catalog.quote_ident(p.own_schema) || ',', '@schema@,'),
        p.prosrc, replace(pg_catalog.pg_get_function_sqlbody(p.oid), p.own_schema || '.', '')), 'UTF8')), 'hex'))
FROM proc p JOIN pg_catalog.pg_language l ON l.oid = p.prolang JOIN named o ON o.oid = p.proowner
UNION ALL
SELECT 'type ' || t.name,
    concat('kind ', t.typtype, ', of ', o.who, ' ', pg_catalog.format_type(t.typbasetype, t.typtypmod), ' ', t.typdefault,
           (SELECT pg_catalog.string_agg(e.enumlabel, ', ' ORDER BY e.enumsortorder)
            FROM pg_catalog.pg_enum e WHERE e.enumtypid = t.oid))
FROM typ t JOIN named o ON o.oid = t.typowner
UNION ALL
SELECT 'extension ' || e.extname, concat('in ', n.nspname, ', of ', o.who)
FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace
JOIN named o ON o.oid = e.extowner WHERE e.oid >= 16384
UNION ALL
SELECT 'language ' || l.lanname, concat('trusted ', l.lanpltrusted, ', handler ', l.lanplcallfoid::regproc)
FROM pg_catalog.pg_language l
UNION ALL
SELECT 'event trigger ' || e.evtname,
    concat('on ', e.evtevent, ' ', e.evttags, ' calls ', e.evtfoid::regproc, ', enabled ', e.evtenabled)
FROM pg_catalog.pg_event_trigger e
UNION ALL
SELECT 'subscription ' || s.subname, concat('enabled ', s.subenabled) FROM pg_catalog.pg_subscription s
JOIN pg_catalog.pg_database d ON d.oid = s.subdbid AND d.datname = pg_catalog.current_database()
UNION ALL
SELECT pg_catalog.pg_describe_object(class, oid, 0), 'made by hand' FROM other WHERE oid >= 16384
UNION ALL
SELECT 'role ' || n.who,
    concat('superuser ', r.rolsuper, ', creates roles ', r.rolcreaterole, ', creates databases ', r.rolcreatedb,
           ', replication ', r.rolreplication, ', passes row security ', r.rolbypassrls,
           (SELECT pg_catalog.string_agg(', member of ' || g.rolname, '' ORDER BY g.rolname COLLATE "C")
            FROM pg_catalog.pg_auth_members m JOIN pg_catalog.pg_roles g ON g.oid = m.roleid WHERE m.member = r.oid))
FROM pg_catalog.pg_roles r JOIN named n ON n.oid = r.oid AND n.ours
UNION ALL
-- Settings that change what statements mean or read; those of waiting, logging, memory and plans do not.
SELECT concat('setting ', pg_catalog.split_part(setting, '=', 1), ' of ', n.who,
              CASE WHEN s.setdatabase = 0 THEN ' in every database' END), setting
FROM home, pg_catalog.pg_db_role_setting s JOIN named n ON n.oid = s.setrole
LEFT JOIN pg_catalog.pg_database d ON d.oid = s.setdatabase, pg_catalog.unnest(s.setconfig) setting
WHERE (s.setdatabase = 0 OR d.datname = pg_catalog.current_database())
    AND (n.oid = 0 OR n.ours OR s.setdatabase <> 0)
    AND setting !~* '^(timezone|synchronous_commit|application_name|[a-z_]*timeout|log_[a-z_]+|track_[a-z_]+|[a-z_]*mem|temp_buffers|jit[a-z_]*|enable_[a-z_]+|[a-z_]+_cost|max_parallel_[a-z_]+|lc_[a-z_]+|client_min_messages)='
UNION ALL
SELECT 'rights on ' || object, pg_catalog.string_agg(what, ', ' ORDER BY what COLLATE "C")
FROM (SELECT DISTINCT h.object, concat(n.who, ' ', h.privilege_type,
          CASE WHEN h.is_grantable THEN ' and may pass it on' END) AS what
      FROM held h JOIN named n ON n.oid = h.grantee
      WHERE h.grantee <> h.owner AND NOT (h.object LIKE 'language %%' AND h.grantee = 0)) given
GROUP BY object
UNION ALL
-- The functions that PostgreSQL brings along, which a superuser may have replaced; they belong to its major version.
-- Some of their oids are given out when a server is set up, and differ.
SELECT concat('functions of PostgreSQL ', pg_catalog.current_setting('server_version_num')::int / 10000),
    pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(pg_catalog.string_agg(text, ';' ORDER BY text COLLATE "C"),
        'UTF8')), 'hex')
FROM (SELECT pg_catalog.concat_ws('|', p.proname, p.proargtypes, l.lanname, p.prosecdef, p.prosrc, p.probin, p.proconfig,
          pg_catalog.pg_get_function_sqlbody(p.oid)) AS text
      FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_language l ON l.oid = p.prolang
      WHERE p.oid < 16384 AND p.pronamespace = 'pg_catalog'::regnamespace) brought
