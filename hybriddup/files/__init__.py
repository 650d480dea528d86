"""Input and output files: sources, compression, and one module per format with its reader and writer."""
