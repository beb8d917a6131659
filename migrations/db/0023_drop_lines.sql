-- 0014_cheapen_writes.sql moved the numbers of this table into `sessions`, and nothing has read or written it since.
DROP TRIGGER stale_trees_deleted;
DROP TABLE lines;
