"""Write the labs without their solutions, as programs or as notebooks: the same as `haugmbd labs --to FOLDER [--notebooks]`."""

import sys

from haugmbd.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["labs", "--to", *sys.argv[1:]]))
