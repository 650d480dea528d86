-- The tables of a store, one statement after another. Those from normalized on are new in version 6, and renewals and
-- the copies of posts in version 7.

CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL, checksum INTEGER NOT NULL) WITHOUT ROWID;

-- evidence is NULL if the post was kept
CREATE TABLE posts (
    position INTEGER PRIMARY KEY,
    id NOT NULL,
    time REAL NOT NULL,
    text TEXT NOT NULL,
    evidence TEXT,
    copies TEXT,
    checksum INTEGER NOT NULL
);

-- Normalized texts of kept posts. One that is missing is made again from the text of the post.
-- Verifying reads several hundred of them per batch, from all over the window. In a table of their own they take a
-- fifth of the pages that the posts take, so more of them are in the page cache of the system. Those that normalizing
-- does not change are there too: for a few texts, normalizing takes longer than reading.
CREATE TABLE normalized (position INTEGER PRIMARY KEY, text TEXT NOT NULL, checksum INTEGER NOT NULL);

-- Derived data of consecutive posts: hashes of their ids, and records of the kept ones, NULL = there are none
CREATE TABLE batches (
    first_position INTEGER PRIMARY KEY,
    made_with TEXT NOT NULL,
    hashes BLOB NOT NULL,
    hashes_checksum INTEGER NOT NULL,
    records BLOB,
    records_checksum INTEGER
);

-- Kept posts that were stored again: the new position and the one before
CREATE TABLE renewals (position INTEGER PRIMARY KEY, renewed INTEGER NOT NULL, checksum INTEGER NOT NULL);
