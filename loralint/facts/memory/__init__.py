"""Peak memory of one GPU in training: pure formulas over a Plan, what a config says of one, and the facts for rules.

`docs/memory.md` says how each formula was found and what it was held against.
"""
