"""The screens in a real Chromium (`make browser`)."""
