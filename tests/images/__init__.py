"""`make image`: the image is built as the page says, and a house runs of it as `compose.yaml` says."""
