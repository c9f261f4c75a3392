"""Tables: games and terms, seats, and the button."""
