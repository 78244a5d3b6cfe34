"""The language server: findings, fixes and explanations while a config is being written."""
