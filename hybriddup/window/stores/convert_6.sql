-- Turns the tables of version 6 into those of version 7.

ALTER TABLE posts ADD COLUMN copies TEXT;

-- Kept posts that were stored again: the new position and the one before
CREATE TABLE renewals (position INTEGER PRIMARY KEY, renewed INTEGER NOT NULL, checksum INTEGER NOT NULL);
