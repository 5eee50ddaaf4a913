/**
 * How the open files that the process may have are shared out: a reserve for the database and for what is always open, the
 * connections of callers, and what their calls open, which are connections to providers and files.
 */
import { readFileSync } from "node:fs";
import type { Log } from "../base/log.ts";

/** Everything counts open files. */
export interface DescriptorPlan {
  /** Connections of callers, and those of one address. */
  readonly total: number;
  readonly perAddress: number;
  /** Connections above the total that are being refused. */
  readonly refused: number;
  /** Connections to providers, and files that are sent. */
  readonly outgoing: number;
}

interface PlanInput {
  /** Undefined where the system does not tell. */
  readonly limit: number | undefined;
  /** The simulated vendors run in this process: a call to one takes both ends of its connection. */
  readonly sandbox: boolean;
  /** `limits.connections` of the configuration; they can lower what fits, and not raise it. */
  readonly asked: { readonly total?: number | undefined; readonly perAddress?: number | undefined };
}

/** The runtime's own, listeners, locks, logs. */
const alwaysOpen = 64;
/** The pool and the listener, and what the embedded server is held by: its directory, its output, its watcher. */
const databaseFiles = 24;
/** Writing results, uploads, callbacks, artifacts: a share of the limit. */
const spareShare = 0.1;
const spareMax = 512;
const refusedMax = 1_024;
export const totalDefaultMax = 20_000;
/** No limit, or none that is known: as if it were this. */
const limitMax = 100_000;
/** With fewer the gateway runs, but serves hardly anybody. */
const totalMin = 8;

/** Shares a limit out. */
export function planDescriptors({ limit, sandbox, asked }: PlanInput): DescriptorPlan {
  const known = Math.min(limit ?? limitMax, limitMax);
  const reserve = alwaysOpen + databaseFiles + Math.min(Math.floor(known * spareShare), spareMax);
  const free = Math.max(known - reserve, 0);
  const refused = Math.min(Math.floor(free / 5), refusedMax);
  const perCall = sandbox ? 3 : 2;
  const fits = Math.max(Math.floor((free - refused) / perCall), totalMin);
  const total = Math.min(asked.total ?? totalDefaultMax, fits);
  return {
    total,
    perAddress: Math.min(asked.perAddress ?? Math.ceil(total / 4), total),
    refused,
    outgoing: Math.max(free - refused - total, totalMin * (perCall - 1)),
  };
}

/** What of Node's report is read; its types tell none of it. */
interface Report {
  excludeNetwork: boolean;
  getReport(): {
    readonly userLimits?: { readonly open_files?: { readonly soft: number | string } };
  };
}

/** The limit of open files of this process, which Node has raised as far as it may; undefined where there is none to know. */
export function openFilesLimit(): number | undefined {
  const soft = Number(limitOfLinux() ?? limitOfReport());
  return Number.isFinite(soft) && soft > 0 ? soft : undefined;
}

/** As Linux tells it, at once; undefined elsewhere. */
function limitOfLinux(): string | undefined {
  try {
    return /^Max open files +(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
  } catch {
    return undefined;
  }
}

/** As Node tells it among all else that it knows of the process, which takes a while. */
function limitOfReport(): number | string | undefined {
  const report = process.report as unknown as Report;
  const { excludeNetwork } = report;
  // Looking up the names of all addresses would take its time.
  report.excludeNetwork = true;
  const { userLimits } = report.getReport();
  report.excludeNetwork = excludeNetwork;
  return userLimits?.open_files?.soft;
}

const comfortable = 1_024;

/** Tells what came of the limit. */
export function logDescriptors(log: Log, limit: number | undefined, plan: DescriptorPlan): void {
  const { total, perAddress } = plan;
  const fields = { open_files: limit ?? "unlimited", connections: total, per_address: perAddress };
  if (limit !== undefined && limit < comfortable)
    log.warn(fields, "few files may be open (ulimit -n): few connections are taken");
  else log.info(fields, "connections are bounded by the files that may be open");
}
