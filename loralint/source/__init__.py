"""Bytes to documents: values with their text, type and exact place. This layer knows no LoRA.

Nothing is imported here, so that a caller pays only for the format it meets.
"""
