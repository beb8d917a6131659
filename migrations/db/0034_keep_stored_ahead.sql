-- Contents that are stored ahead of the batch that refers to them. A run of Python may change more files than one batch
-- can hold, so their contents are stored first, in batches of their own (src/files/draft.rs).
--
-- Such contents are in the sweep's queue from the beginning, so that they are deleted if the commit never comes. The
-- sweep leaves them alone until `keep_until`, so that the commit finds them. NULL: the sweep may look at the blob at once.
ALTER TABLE stale_blobs ADD COLUMN keep_until TEXT;
