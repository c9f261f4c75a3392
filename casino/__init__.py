"""The card room: the thin Django shell around the engine, the ledger and the audit trail."""

from casino.celery import app as celery_app

__all__ = ["celery_app"]
