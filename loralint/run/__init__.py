"""One run: all that one training start reads, and who wins."""
