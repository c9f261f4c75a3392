"""Tables: what is played there, who sits where, who deals next."""
