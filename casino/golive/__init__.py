"""The stages of a house: rehearsed in a sandbox copy, signed by three people, live, suspended, closed."""
