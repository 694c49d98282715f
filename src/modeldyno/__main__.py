"""`python -m modeldyno` is the same as `dyno`."""

from modeldyno.cli import main

if __name__ == "__main__":
    main()
