/** Gauges read at each scrape: database connections, circuits, waiting work, disk space, trace spans. docs/monitoring.md. */
import { stat, statfs } from "node:fs/promises";
import type { Clock } from "../base/clock.ts";
import type { LoadGuard } from "../base/load-guard.ts";
import { labelText, type Joined, type MetricFamily } from "../base/metric-family.ts";
import { filesDirectory, type WatchedFiles } from "../files/index.ts";
import type { RequestLog } from "../request-log/index.ts";
import type { Health } from "../routing/index.ts";
import type { Database, Replica } from "../storage/index.ts";
import type { Tracing } from "../tracing/index.ts";
import { clockAheadSeconds } from "./clock-watch.ts";
import type { OwnTls } from "./own-tls.ts";

interface Gauge {
  readonly name: string;
  readonly help: string;
  /** How the values of several workers are combined. */
  readonly joined: Joined;
  readonly type?: "gauge" | "counter";
}

type Value = readonly [labels: Readonly<Record<string, string>>, value: number];

const family = ({ type = "gauge", ...about }: Gauge, values: readonly Value[]): MetricFamily => ({
  ...about,
  type,
  lines: values.map(([labels, value]) => {
    const text = labelText(labels);
    return [text === "" ? about.name : `${about.name}{${text}}`, value] as const;
  }),
});

interface GaugeSources {
  readonly database: Database;
  /** undefined: no replica is configured. */
  readonly replica: Pick<Replica, "state"> | undefined;
  readonly health: Pick<Health, "circuits">;
  readonly tracing: Pick<Tracing, "counts"> | undefined;
  readonly environment: { readonly dataDir: string };
  readonly files: Pick<WatchedFiles, "failure">;
  readonly ownTls: Pick<OwnTls, "expiresMs">;
  readonly clock: Clock;
  readonly sharedClock: Clock;
}

/** Returns all gauges as a source for the metrics. It never rejects, and waits at most a moment. */
export function gauges(sources: GaugeSources): () => Promise<MetricFamily[]> {
  const { database, replica, health, tracing, environment, files } = sources;
  const waiting = waitingIn(database);
  return async () => [
    ...(await waiting()),
    ...(await disks(environment.dataDir)),
    filesUp(files),
    clockAhead(sources),
    certificateEnd(sources.ownTls),
    connections(database),
    ...(replica === undefined ? [] : replicaFamilies(replica)),
    circuits(health),
    ...(tracing === undefined ? [] : [spans(tracing)]),
  ];
}

function connections({ pool }: Database): MetricFamily {
  const { totalCount, idleCount, waitingCount } = pool;
  return family(
    {
      name: "tollgate_database_connections",
      help: "The pool to the database: idle and busy connections, and statements that wait for one.",
      joined: "sum",
    },
    [
      [{ state: "idle" }, idleCount],
      [{ state: "busy" }, totalCount - idleCount],
      [{ state: "waiting" }, waitingCount],
    ],
  );
}

function replicaFamilies({ state }: Pick<Replica, "state">): MetricFamily[] {
  const { isUsed, lagMs, answered } = state;
  const up = "1 while lists and usage are read from the replica, else 0.";
  const lag = "How old the state of the replica is at most, in seconds.";
  const reads = "Reads of lists, usage and exports, by the database that answered.";
  return [
    family({ name: "tollgate_replica_used", help: up, joined: "min" }, [[{}, isUsed ? 1 : 0]]),
    family({ name: "tollgate_replica_lag_seconds", help: lag, joined: "max" }, [
      [{}, lagMs / 1_000],
    ]),
    family({ name: "tollgate_database_reads_total", help: reads, joined: "sum", type: "counter" }, [
      [{ database: "replica" }, answered.replica],
      [{ database: "primary" }, answered.primary],
    ]),
  ];
}

/** The number of calls that the overload guard refused. */
export const overloadedCalls = ({ refused }: Pick<LoadGuard, "refused">): MetricFamily =>
  family(
    {
      name: "tollgate_calls_overloaded_total",
      help: "Calls refused with 503 because there were more than the gateway could take.",
      joined: "sum",
      type: "counter",
    },
    [[{}, refused]],
  );

/** The number of rows of the request log that were lost. */
export const lostLogRows = ({ lost }: Pick<RequestLog, "lost">): MetricFamily =>
  family(
    {
      name: "tollgate_request_log_rows_lost_total",
      help: "Rows of the request log that could not be written. Their calls are charged.",
      joined: "sum",
      type: "counter",
    },
    [[{}, lost]],
  );

const states = { closed: 0, due: 1, open: 2 } as const;

const circuits = (health: Pick<Health, "circuits">): MetricFamily =>
  family(
    {
      name: "tollgate_circuit_state",
      help: "A provider's model: 0 closed, 1 waiting for its probe, 2 open (no calls go there).",
      joined: "max",
    },
    health.circuits().map(([served, state]) => {
      // Provider ids contain no spaces.
      const [provider = "", ...model] = served.split(" ");
      return [{ provider, model: model.join(" ") }, states[state]];
    }),
  );

const spans = (tracing: Pick<Tracing, "counts">): MetricFamily =>
  family(
    {
      name: "tollgate_trace_spans_total",
      help: "Spans by what became of them: sent, dropped (the queue was full), refused (by the collector).",
      joined: "sum",
      type: "counter",
    },
    Object.entries(tracing.counts()).map(([result, count]) => [{ result }, count as number]),
  );

const filesUp = ({ failure }: Pick<WatchedFiles, "failure">): MetricFamily =>
  family(
    {
      name: "tollgate_files_up",
      help: "1 while results and uploads can be kept, else 0.",
      joined: "min",
    },
    [[{}, failure === undefined ? 1 : 0]],
  );

const clockAhead = (clocks: Parameters<typeof clockAheadSeconds>[0]): MetricFamily =>
  family(
    {
      name: "tollgate_database_clock_ahead_seconds",
      help: "How far the database's clock is ahead of this machine's; negative: behind.",
      joined: "max",
    },
    [[{}, clockAheadSeconds(clocks)]],
  );

/** Without TLS the gauge has no value. */
function certificateEnd({ expiresMs }: Pick<OwnTls, "expiresMs">): MetricFamily {
  const endMs = expiresMs();
  return family(
    {
      name: "tollgate_tls_certificate_expiry_timestamp_seconds",
      help: "When the gateway's own certificate expires, in seconds since 1970.",
      joined: "min",
    },
    endMs === undefined ? [] : [[{}, endMs / 1_000]],
  );
}

const diskGauges = [
  { name: "tollgate_disk_free_bytes", help: "Bytes that are free on a volume.", joined: "min" },
  { name: "tollgate_disk_size_bytes", help: "Bytes of a volume.", joined: "max" },
  { name: "tollgate_disk_free_inodes", help: "Files that a volume has room for.", joined: "min" },
  { name: "tollgate_disk_inodes", help: "Files that a volume can have.", joined: "max" },
] as const satisfies readonly Gauge[];

/** The volume of the data directory, and the one of local files if that is another. */
async function disks(dataDir: string): Promise<MetricFamily[]> {
  const found = await Promise.all([
    volumeOf("data", dataDir),
    volumeOf("files", filesDirectory(dataDir)),
  ]);
  const volumes = found.filter((volume) => volume !== undefined);
  const own = volumes.filter(({ device }, place) => place === 0 || device !== volumes[0]?.device);
  if (own.length === 0) return [];
  return diskGauges.map((gauge, place) =>
    family(
      gauge,
      own.map(({ directory, values }) => [{ directory }, values[place]!]),
    ),
  );
}

/** Undefined if the directory does not exist: a gateway on a database server may have none. */
async function volumeOf(directory: string, path: string) {
  try {
    const [{ bavail, blocks, bsize, ffree, files }, { dev: device }] = await Promise.all([
      statfs(path),
      stat(path),
    ]);
    return { directory, device, values: [bavail * bsize, blocks * bsize, ffree, files] };
  } catch {
    return undefined;
  }
}

/** A supervisor waits half a second for its workers. */
const waitMs = 300;
/** The limits of `/readyz`: a database that takes longer for one statement counts as down; one that takes less is slow. */
const awayMs = 2_000;
const freshMs = 2_000;

const waitingSql = `select
  not current_setting('transaction_read_only')::boolean as writable,
  (select count(*) from tasks where due_at is not null and status = 'queued')::int as queued,
  (select count(*) from tasks where due_at is not null and status = 'running')::int as running,
  (select count(*) from webhook_deliveries where due_at is not null)::int as callbacks,
  (select coalesce(extract(epoch from now() - min(created_at)), 0) from webhook_deliveries
    where due_at is not null)::float8 as oldest`;

interface Waiting {
  readonly writable: boolean;
  readonly queued: number;
  readonly running: number;
  readonly callbacks: number;
  readonly oldest: number;
}

/** Reads the waiting work, and whether the database is usable; the last known values if it is slow. */
function waitingIn(database: Pick<Database, "query">): () => Promise<MetricFamily[]> {
  let known: Waiting | undefined;
  let isUp = false;
  let readMs = -Infinity;
  let beganMs = 0;
  let underWay: Promise<void> | undefined;
  const read = async (): Promise<void> => {
    beganMs = performance.now();
    try {
      const rows = await database.query<Waiting & Record<string, unknown>>(waitingSql);
      [known] = rows;
      isUp = known!.writable && performance.now() - beganMs < awayMs;
    } catch {
      isUp = false;
    }
    readMs = performance.now();
    underWay = undefined;
  };
  return async () => {
    if (performance.now() - readMs > freshMs) {
      const late = new Promise<"late">((resume) => setTimeout(resume, waitMs, "late").unref());
      underWay ??= read();
      const isLate = (await Promise.race([underWay, late])) === "late";
      if (isLate && performance.now() - beganMs >= awayMs) isUp = false;
    }
    return waitingFamilies(known, isUp);
  };
}

function waitingFamilies(known: Waiting | undefined, isUp: boolean): MetricFamily[] {
  const up = "1 while the database answers and can be written, else 0.";
  const all = [
    family({ name: "tollgate_database_up", help: up, joined: "min" }, [[{}, isUp ? 1 : 0]]),
  ];
  if (known === undefined) return all;
  const { queued, running, callbacks, oldest } = known;
  const tasks = "Tasks that have not ended, of all gateways on this database.";
  const waiting = "Callbacks that are to be tried (again), of all gateways on this database.";
  const age = "How long ago the oldest callback was made that is still to be tried, in seconds.";
  return [
    ...all,
    family({ name: "tollgate_tasks_in_progress", help: tasks, joined: "max" }, [
      [{ status: "queued" }, queued],
      [{ status: "running" }, running],
    ]),
    family({ name: "tollgate_callbacks_waiting", help: waiting, joined: "max" }, [[{}, callbacks]]),
    family({ name: "tollgate_callbacks_oldest_seconds", help: age, joined: "max" }, [[{}, oldest]]),
  ];
}
