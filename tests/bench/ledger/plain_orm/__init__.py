"""A ledger as it is usually written in Django: the models of one of the references."""
