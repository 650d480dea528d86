"""The built-in components, registered through the same hook as the components of plugins.

They are registered by import path, so that listing them loads neither numba nor jieba.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hybriddup.plugin.spec import hookimpl

if TYPE_CHECKING:
    from hybriddup.plugin.registry import Registry


@hookimpl
def hybriddup_register(registry: Registry) -> None:
    """Register every built-in component, in the order of the pipeline."""
    registry.add_normalizer("none", "hybriddup.steps.normalizers:NoNormalizer")
    registry.add_normalizer("microblog", "hybriddup.steps.normalizers.microblog:MicroblogNormalizer")
    registry.add_normalizer("chat", "hybriddup.steps.normalizers.chat:Chat")
    registry.add_tokenizer("char_ngrams", "hybriddup.steps.tokenizers.char_ngrams:CharNgrams")
    registry.add_tokenizer("words", "hybriddup.steps.tokenizers.words:Words")
    registry.add_tokenizer("jieba", "hybriddup.steps.tokenizers.jieba:Jieba")
    registry.add_weighter("uniform", "hybriddup.steps.weighters:Uniform")
    registry.add_weighter("tf", "hybriddup.steps.weighters:TermFrequency")
    registry.add_weighter("tfidf", "hybriddup.steps.weighters:TfIdf")
    registry.add_weighter("levels", "hybriddup.steps.weighters:Levels")
    registry.add_hasher("xxh3", "hybriddup.steps.hashers:Xxh3")
    registry.add_hasher("md5", "hybriddup.steps.hashers:Md5")
    registry.add_hasher("polynomial", "hybriddup.steps.hashers:Polynomial")
    registry.add_block_index("scan", "hybriddup.steps.blocks.pigeonhole:Scan")
    registry.add_block_index("blocks", "hybriddup.steps.blocks.pigeonhole:Blocks")
    registry.add_block_index("probing", "hybriddup.steps.blocks.pigeonhole:Probing")
    registry.add_block_index("shingles", "hybriddup.steps.blocks.shingles:Shingles")
    registry.add_verifier("edit", "hybriddup.steps.verifiers.edit:Edit")
    registry.add_verifier("lcs", "hybriddup.steps.verifiers.edit:Lcs")
    registry.add_verifier("cosine", "hybriddup.steps.verifiers.cosine:Cosine")
    registry.add_verifier("jaccard", "hybriddup.steps.verifiers.features:Jaccard")
    registry.add_verifier("post", "hybriddup.steps.verifiers.post.verifier:Post")
    registry.add_verifier("hamming", "hybriddup.steps.verifiers.hamming:Hamming")
    registry.add_guard("numbers", "hybriddup.steps.guards.numbers:Numbers")
    registry.add_guard("negation", "hybriddup.steps.guards.negation:Negation")
    registry.add_guard("opposites", "hybriddup.steps.guards.opposites:Opposites")
    registry.add_guard("names", "hybriddup.steps.guards.names:Names")
    registry.add_guard("links", "hybriddup.steps.guards.marks:Links")
    registry.add_guard("mentions", "hybriddup.steps.guards.marks:Mentions")
    registry.add_guard("emoji", "hybriddup.steps.guards.marks:Emoji")
    registry.add_guard("words", "hybriddup.steps.guards.words:Words")
    registry.add_reader("lines", "hybriddup.files.lines:LinesReader")
    registry.add_reader("jsonl", "hybriddup.files.jsonl:JsonlReader")
    registry.add_reader("json", "hybriddup.files.json_array:JsonArrayReader")
    registry.add_reader("csv", "hybriddup.files.delimited:CsvReader")
    registry.add_reader("tsv", "hybriddup.files.delimited:TsvReader")
    registry.add_reader("parquet", "hybriddup.files.parquet:ParquetReader")
    registry.add_reader("sqlite", "hybriddup.files.sqlite:SqliteReader")
    registry.add_writer("lines", "hybriddup.files.lines:LinesWriter")
    registry.add_writer("jsonl", "hybriddup.files.jsonl:JsonlWriter")
    registry.add_writer("json", "hybriddup.files.json_array:JsonArrayWriter")
    registry.add_writer("csv", "hybriddup.files.delimited:CsvWriter")
    registry.add_writer("tsv", "hybriddup.files.delimited:TsvWriter")
    registry.add_writer("parquet", "hybriddup.files.parquet:ParquetWriter")
    registry.add_writer("sqlite", "hybriddup.files.sqlite:SqliteWriter")
    registry.add_window("memory", "hybriddup.window.openers:MemoryWindows")
    registry.add_window("file", "hybriddup.window.openers:FileWindows")
