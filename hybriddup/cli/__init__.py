"""The command line: one module a subcommand, each of which imports what it needs only when it runs."""
