"""`python -m loralint`."""

from loralint.cli import main

main()
