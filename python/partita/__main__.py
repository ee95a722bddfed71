"""`python -m partita` is the command `partita`."""

from partita._cli import main

main()
