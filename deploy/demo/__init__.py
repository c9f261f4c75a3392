"""The demo house: seeded once, then played through HTTP like any other."""
