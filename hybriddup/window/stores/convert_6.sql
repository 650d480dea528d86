-- Turns the tables of version 6 into those of version 7. Copies are counted afterwards.

ALTER TABLE posts ADD COLUMN copies TEXT;
