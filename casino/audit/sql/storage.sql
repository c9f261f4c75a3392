-- Events stand in their rows up to 4 KB, not beside them: every read of `doc` would otherwise look it up in a table of its
-- own and put it together, and every write would write there too. Longer ones are compressed and stored beside, as ever.
ALTER TABLE audit_event SET (toast_tuple_target = 4080);
