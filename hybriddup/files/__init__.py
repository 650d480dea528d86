"""Files in and out: sources, compression, and one module a format with its reader and its writer."""
