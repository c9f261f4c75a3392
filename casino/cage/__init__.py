"""The cage: cashiers' drawers, buy-ins and cash-outs, counting, the vault."""
