"""The card room: the thin Django shell around the engine, the ledger and the audit trail."""

from casino.celery import app as celery_app

__version__ = "0.1.0"

__all__ = ["__version__", "celery_app"]
