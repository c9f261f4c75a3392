"""What every report is made of: typed columns, sections, filters, equalities, a registry, and what it is as of."""
