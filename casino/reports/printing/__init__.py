"""Paper for players and for the house: receipts with their proofs, statements, slips; counted copies."""
