"""The reports themselves, one module each: query, columns, equalities, text. `REPORT` is what the registry takes."""
