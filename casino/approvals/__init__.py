"""Approvals: what one person asks for and another one decides, and the house's control points that ask for them."""
