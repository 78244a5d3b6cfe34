"""The log of a training in progress, or of one that has ended, and the signs in it that something goes wrong.

`find` picks the file, `read` makes a `History` of it whatever program wrote it, `signs` judges its curves and `observe`
hands them to the rules. `level` is what the probe's `StabilityGuard` uses too, so that both say the same of one run.
"""
