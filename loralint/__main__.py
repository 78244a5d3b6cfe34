"""`python -m loralint`, for where the command is not on the path."""

from loralint.cli import main

main(prog_name="loralint")
