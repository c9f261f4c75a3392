"""`manage.py doctor`: whether an installation is as a house needs it, and what to do where it is not."""
