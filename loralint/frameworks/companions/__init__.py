"""What a run reads besides its config or script: files that these name, pins of packages, variables, and who wins.

Readers of companion files stand with the other readers (`readers.deepspeed`, `readers.accelerate`). Nothing is imported
here, so that a caller pays only for what it meets.
"""
