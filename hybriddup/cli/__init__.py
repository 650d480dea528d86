"""The command line: one module per subcommand, with imports inside the functions, so that ``--help`` is fast."""
