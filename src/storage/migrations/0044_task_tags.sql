-- What callers say of their tasks: tags and their end user, as the request log has them of calls (migration request_tags).
alter table tasks add column tags json, add column end_user text;
