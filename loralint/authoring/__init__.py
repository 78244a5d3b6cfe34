"""From authored YAML (rules/, golden/) to the compiled data that the rest reads: models, schemas, compiler.

Needs the `authoring` extra; only tests and `python -m loralint.authoring` import it.
"""
