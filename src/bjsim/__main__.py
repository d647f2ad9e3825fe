"""`python -m bjsim` is the command `bjsim`."""

from bjsim.cli.main import main

if __name__ == "__main__":  # a spawned worker imports this module under another name
    main()
