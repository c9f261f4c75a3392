"""A Python package for programs that speak to a house: made from the description of the API, with what every program
needs besides."""
