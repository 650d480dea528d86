"""The command line for spark-submit, which only runs ``.py`` files."""

import sys

if __name__ == "__main__":
    del sys.path[0]  # this directory: its modules belong to a package
    from hybriddup.__main__ import main

    main()
