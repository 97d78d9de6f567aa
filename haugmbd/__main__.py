"""`python -m haugmbd`: the command."""

import sys

from haugmbd.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
