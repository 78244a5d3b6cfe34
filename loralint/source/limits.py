"""Budgets that keep hostile input cheap. The largest real training config known to us has about 2,000 nodes."""

from __future__ import annotations

# A config is some kilobytes; a file beyond this is data or a checkpoint. All of it is held in memory as text.
BYTES = 2 * 1024 * 1024
# Kept of a file that is too large, so that a caller can still say what it is.
HEAD = 64 * 1024
# Scalars, mappings and sequences as written. Bounds memory (about 300 bytes each) and every later walk.
NODES = 50_000
# Nodes counted once for every alias that reaches them: a walk by path never visits more than this.
EXPANDED = 100_000
# Nesting, through aliases too. Later layers may therefore recurse safely under Python's default limit of 1,000.
DEPTH = 100
# More digits than any float holds. Larger integers become Unknown, so that float() of an integer never overflows and
# Python's own limit of 4,300 digits is never met.
INTEGER_DIGITS = 300
# libyaml compares every %TAG directive with all before it: quadratic, so a flood of them is refused.
DIRECTIVES = 100
# TOML is read by two parsers of which one is pure Python: this keeps the worst text under a second.
TOML_LENGTH = 256 * 1024
# A program's own code. The longest training scripts known to us have 100 KiB; Python's parser needs about 30 times as
# much memory for a while.
SCRIPT_LENGTH = 256 * 1024
# Files of a program that it imports, and the length of all their texts. A large trainer of one repository has a dozen.
MODULES = 24
MODULES_LENGTH = 512 * 1024
# Trainers of one program, each of which is a run of its own. A notebook that compares methods has a handful.
TRAINERS = 50
# Steps of one program on its models and tokenizers, each of which is held against all others. Scripts have some dozen.
EVENTS = 1_000
# A notebook holds its outputs, pictures among them; these are passed over.
NOTEBOOK_BYTES = 32 * 1024 * 1024
