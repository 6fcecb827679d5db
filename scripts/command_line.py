"""What the Python scripts share: how arguments are read, exit codes, errors in one line."""

import argparse
import errno
import os
import sys

import tsv


class Parser(argparse.ArgumentParser):
    """Options of a script, whose description is printed as it is. What is wrong is one line."""

    def __init__(self, **options):
        super().__init__(allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter,
                         **options)

    def error(self, message):
        self.exit(2, f"{self.prog}: {message} (try --help)\n")

    def add_simulated(self):
        self.add_argument("--simulated", action="store_true", help="read rows of the simulated "
                          "GPU of the tests; all that is shown of them says so")


def main(work, program):
    """Runs work(), which returns the exit code, as the whole of a script: a tsv.TsvError is a
    line on stderr and 2, as is bad usage; output that cannot be written is 1."""
    try:
        if sys.stdout is None:
            raise OSError(errno.EBADF, "standard output is closed")
        try:
            code = work()
        except SystemExit as ended:  # --help and bad usage
            code = ended.code
        sys.stdout.flush()
    except tsv.TsvError as error:
        print(f"{program}: {error}", file=sys.stderr)
        code = 2
    except OSError as error:
        # Python would flush once more at its end and fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        code = 1
        if not isinstance(error, BrokenPipeError):  # a reader such as head has seen enough
            print(f"{program}: cannot write: {error.strerror}", file=sys.stderr)
    sys.exit(code)


def print_folder(lines, description):
    """Prints lines(tsv.Run) of the one folder that the script is given."""
    parser = Parser(description=description)
    parser.add_argument("folder", metavar="DIR", help="a results folder")
    parser.add_simulated()
    options = parser.parse_args()
    run = tsv.Run(options.folder, options.simulated)
    print("\n".join(lines(run)))  # all of it or nothing
    return 0


def main_of_folder(lines, description, program):
    """The whole of a script that prints lines(tsv.Run) of the one folder it is given."""
    main(lambda: print_folder(lines, description), program)
