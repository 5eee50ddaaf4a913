/** Configuration of the embedded PostgreSQL: durable, small and quiet. An operator's `custom.conf` is read after it. */

/** The operator's own settings, beside the directories of the versions; read after ours. */
export const customFile = "custom.conf";

export const customTemplate = `# Settings of your own for the embedded PostgreSQL, read after Tollgate's. Takes effect with the next start.
# shared_buffers = 128MB
`;

/** The text of `postgresql.conf`, rewritten at each start. */
export const configuration = `# Written by Tollgate at each start: put settings of your own into ../${customFile}.
# What was acknowledged is on the disk.
fsync = on
full_page_writes = on
synchronous_commit = on

# One gateway's database on a small machine.
max_connections = 100
shared_buffers = 32MB
work_mem = 4MB
maintenance_work_mem = 32MB
max_wal_size = 256MB
min_wal_size = 64MB
max_parallel_workers_per_gather = 0
jit = off
wal_level = minimal
max_wal_senders = 0
max_logical_replication_workers = 0

# A few rows are rewritten with every call.
autovacuum_naptime = 15s
autovacuum_vacuum_cost_delay = 1ms

timezone = 'UTC'
log_timezone = 'UTC'
datestyle = 'iso, ymd'
log_destination = 'stderr'
log_line_prefix = '%m [%p] '
log_min_messages = warning
# Errors of statements reach the gateway, which tells of them; texts of statements hold what callers sent.
log_min_error_statement = panic
# Details of an error name the row that it was about.
log_error_verbosity = terse
log_checkpoints = off

include_if_exists '../${customFile}'

# The gateway starts the server again when one of its processes has failed. PostgreSQL's own way once stopped halfway on a full
# disk: it then refused connections for ever, although there was room again.
restart_after_crash = off
`;
