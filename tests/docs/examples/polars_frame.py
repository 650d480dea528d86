"""Remove duplicates from a data frame of polars, and add to each kept post how often it was repeated.

Run it with: python polars_frame.py posts.parquet
"""

import sys

import polars

import hybriddup


def without_repeats(frame: polars.DataFrame) -> polars.DataFrame:
    """Return the kept posts, with the number of posts that were removed as duplicates of each."""
    result = hybriddup.dedupe(frame)
    return result.filter(frame).with_columns(n_copies=polars.Series(result.n_copies))


if __name__ == "__main__":
    print(without_repeats(polars.read_parquet(sys.argv[1])))
