"""Training data: what a run will make of the rows of the files that it is given, as observations for the rules.

Nothing here is imported by a check without `--data`. Rows are streamed, nothing of theirs is kept but counts, hashes
and the numbers of a few rows, and no text of a row leaves this package.
"""
