-- The request log is written a thousand times for each time it is read: json keeps the text it was given, which costs the
-- database half of what jsonb does. Its ids sort by time, so the primary key serves lists by time as well.
drop index requests_by_time;
alter table requests
  alter column usage type json,
  alter column dropped type json,
  alter column notes type json,
  alter column attempts type json,
  alter column explanation type json;
