-- The history of one object, newest first: without it a page of a key reads the whole log of its workspace.
create index audit_entries_by_object on audit_entries (object_id, id desc);
