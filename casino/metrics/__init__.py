"""What Prometheus is shown: what the web processes count, and the state of the installation when it is asked for."""
