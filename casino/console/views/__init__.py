"""The screens, one module for each desk."""
