-- What synchronous image calls need beside their hold. Spec: "POST /v1/images/generations", "POST /v1/images/edits".

-- An idempotency key stands for a task (task_id), or for a call whose answer is kept as a file. While neither is there the
-- call is under way, as long as its hold is open: it ends in the transaction that writes the answer.
alter table idempotency_keys
  add column call_id text,
  add column answer text;

-- The kept answer of a call: not served under /files, and not bound to a task.
alter table files drop constraint files_purpose_check;
alter table files add constraint files_purpose_check check (purpose in ('input', 'result', 'answer'));
