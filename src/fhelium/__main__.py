"""Run the command line: ``python -m fhelium``."""

from fhelium.cli import main

if __name__ == "__main__":
    main()
