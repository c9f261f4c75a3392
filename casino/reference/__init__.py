"""The generated pages of `docs/reference/`, made from the declarations of the code."""
