"""The live window: decides for each new post whether it repeats a post that was kept in the last few days."""

from hybriddup.window.protocols import AnyWindow as AnyWindow
from hybriddup.window.records import AuditCounts as AuditCounts
from hybriddup.window.records import Decision as Decision
from hybriddup.window.records import Evidence as Evidence
from hybriddup.window.records import Match as Match
from hybriddup.window.records import Post as Post
from hybriddup.window.records import PostList as PostList
from hybriddup.window.records import StoredPost as StoredPost
from hybriddup.window.records import WindowStats as WindowStats
from hybriddup.window.window import Window as Window
