"""`python -m partita` is the command `partita`."""

from partita._command.cli import main

if __name__ == "__main__":
    main()
