"""Files of reports: one pass over the rows writes all formats, in memory that does not grow with them."""
