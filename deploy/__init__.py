"""Everything about running the project: embedded services, process supervisor, demo."""
