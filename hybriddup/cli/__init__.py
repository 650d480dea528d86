"""The command line, with a module for each subcommand. Functions import what they need, so that ``--help`` is fast."""
