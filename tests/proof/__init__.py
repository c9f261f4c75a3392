"""The audit trail's proofs: the verifier, what it finds, and how fast it is."""
