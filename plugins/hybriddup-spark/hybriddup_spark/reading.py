"""Reading the posts of files without cutting or misinterpreting lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, DataFrameReader, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import StringType, StructField, StructType

from hybriddup.errors import InputError
from hybriddup_spark.fields import corrupt_column, is_case_sensitive, name_faults, named

FORMATS = {"parquet": "parquet", "jsonl": "json", "json": "json", "csv": "csv"}
COMPRESSIONS = "gz", "zst", "bz2", "snappy"
TWICE = (
    "Two fields have one name, or names that differ only in case. Rename one; if they differ in case, this setting "
    "distinguishes them: "
    "PYSPARK_SUBMIT_ARGS='--conf spark.sql.caseSensitive=true pyspark-shell' hybriddup spark dedupe ..."
)
OTHER_HEADER = "CSV header does not conform to the schema"
"""Beginning of Spark's message about a CSV file whose columns differ from the first file's."""


def read(session: SparkSession, inputs: Sequence[str], format_name: str | None, text_field: str) -> DataFrame:
    """Read the posts of files, whose format is ``format_name`` or, without it, the suffix of the first name.

    Raises
    ------
    InputError
        The files cannot be read, or their format is unknown.
    """
    chosen = format_name or format_of(inputs[0])
    if chosen not in FORMATS:
        raise InputError(f"{inputs[0]}: format {chosen!r} is unknown; give --format parquet, jsonl or csv.")
    try:
        if chosen == "csv":
            return read_csv(session, inputs, text_field)
        return session.read.format(FORMATS[chosen]).load(list(inputs))
    except AnalysisException as error:
        advice = f" {TWICE}" if error.getCondition() == "COLUMN_ALREADY_EXISTS" else ""
        raise InputError(f"{', '.join(inputs)}: cannot be read: {error}.{advice}") from error


def format_of(name: str) -> str:
    """Return the last suffix of a file name, not counting a suffix for compression; empty if there is none."""
    parts = [part for part in name.rstrip("/").split("/")[-1].split(".")[1:] if part not in COMPRESSIONS]
    return parts[-1] if parts else ""


def read_csv(session: SparkSession, inputs: Sequence[str], text_field: str) -> DataFrame:
    """Read the posts of CSV files as text columns, with the original line of records with too few or too many fields.

    Spark keeps such lines only if the schema has a column for them; otherwise it cuts them.
    """
    names, corrupt = header(session, inputs), corrupt_column(session)
    if not names:
        raise InputError(f"{', '.join(inputs)}: is empty; a CSV file begins with the names of its columns.")
    faults = list(name_faults([name for name in names if name], case_sensitive=is_case_sensitive(session)))
    if corrupt in names:
        faults.append(f"column {corrupt!r} has the name of the column in which Spark keeps broken lines. Rename it.")
    if faults:
        raise InputError("\n".join(f"{', '.join(inputs)}: {fault}" for fault in faults))
    columns = [name or f"_c{place}" for place, name in enumerate(names)]
    schema = StructType([StructField(name, StringType()) for name in (*columns, corrupt)])
    reader = table_reader(session).schema(schema).option("header", True).option("columnPruning", False)
    posts = reader.option("enforceSchema", "" in names).csv(list(inputs))  # Spark's own names match no header
    is_whole_without_text = named(corrupt).isNull() & named(text_field).isNull()
    text = sf.when(~is_whole_without_text, named(text_field)).otherwise("")
    return posts.withColumn(text_field, text) if text_field in columns else posts


def header(session: SparkSession, inputs: Sequence[str]) -> list[str]:
    """Return the column names in the first line as they are; Spark itself would rename duplicates."""
    first = table_reader(session).csv(list(inputs)).first()
    return [name or "" for name in first] if first else []


def table_reader(session: SparkSession) -> DataFrameReader:
    """Return a reader of CSV with quotes as in RFC 4180."""
    return session.read.option("multiLine", True).option("escape", '"')


def other_header(error: Exception) -> InputError | None:
    """Convert Spark's error about a CSV file with other columns to an InputError; return None for any other error."""
    found = re.search(rf"{OTHER_HEADER}\.\s+(.*?)\n\s*at ", str(error), re.DOTALL)
    if found is None:
        return None
    where = " ".join(found[1].split())
    return InputError(f"files with different columns: {where}. Give them the same columns in the same order.")
