"""Readers: one module per framework, imported only when a file of that framework is met."""
