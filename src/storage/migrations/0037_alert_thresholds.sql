-- At which percentages of a spend cap a workspace is alerted: of its own cap, its members' and its keys'. docs/callbacks.md.
alter table workspaces add column alert_thresholds integer[] not null default '{50,80,100}'
  check (cardinality(alert_thresholds) <= 5 and 1 <= all (alert_thresholds) and 100 >= all (alert_thresholds));
