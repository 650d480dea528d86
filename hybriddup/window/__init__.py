"""The live window: decides for each new post whether it repeats a post that was kept in the last few days."""

from hybriddup.window.protocols import AnyWindow
from hybriddup.window.records import AuditCounts, Decision, Evidence, Match, Post, PostList, StoredPost, WindowStats
from hybriddup.window.window import Window

__all__ = [
    "AnyWindow",
    "AuditCounts",
    "Decision",
    "Evidence",
    "Match",
    "Post",
    "PostList",
    "StoredPost",
    "Window",
    "WindowStats",
]
