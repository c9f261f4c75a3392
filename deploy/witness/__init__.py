"""A witness of audit logs: a small program for a machine that the card room does not run.

It speaks C2SP's tlog-witness. It cosigns a checkpoint only if the log's own key has signed it and a proof shows that
the tree has only grown since the last one that it cosigned, and remembers that before it answers. A house that shows
one history to some and another to others needs the witness to sign both; it signs one.

Nothing here is shared with the house's own code.
"""
