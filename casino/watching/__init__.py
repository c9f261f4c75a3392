"""Unknown persons, lines of the log of transactions, returns that were filed, rates of the euro."""
