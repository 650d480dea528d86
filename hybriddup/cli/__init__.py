"""The command line, one module per subcommand. Most imports are inside functions, so that ``--help`` is fast."""
