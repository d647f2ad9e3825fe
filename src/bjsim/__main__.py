"""The command `bjsim`, also as `python -m bjsim`."""

import signal
import sys


def main() -> None:
    """Run the command line. While its modules are imported, Ctrl-C ends the process without a traceback."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from bjsim.errors import InputError

    try:
        from bjsim.cli.main import main as command
    except InputError as error:
        print(f"bjsim: {error}", file=sys.stderr)
        sys.exit(2)
    command()


if __name__ == "__main__":  # a spawned worker imports this module under another name
    main()
