/**
 * Divides the process's limit of open files. A reserve is for the database and permanently open files. The rest is for connections of
 * callers, and for what their calls open: connections to providers and files.
 */
import { readFileSync } from "node:fs";
import type { Log } from "../base/log.ts";

/** All values are numbers of open files. */
export interface DescriptorPlan {
  /** Most connections of callers, in total and from one address. */
  readonly total: number;
  readonly perAddress: number;
  /** Most connections above the total that may be open while they are refused. */
  readonly refused: number;
  /** Most connections to providers and files being sent. */
  readonly outgoing: number;
}

interface PlanInput {
  /** Undefined if the system does not report it. */
  readonly limit: number | undefined;
  /** True if the simulated vendors run in this process: a call to one needs both ends of its connection. */
  readonly sandbox: boolean;
  /** `limits.connections` of the configuration, or what the memory allows. They can lower the computed numbers, but not raise them. */
  readonly asked: { readonly total?: number | undefined; readonly perAddress?: number | undefined };
}

/** Files of the runtime, listeners, locks and logs. */
const alwaysOpen = 64;
/** The connection pool and its listener, and the embedded server's directory, output and watcher. */
const databaseFiles = 24;
/** Share of the limit for writing results, uploads, callbacks and artifacts. */
const spareShare = 0.1;
const spareMax = 512;
const refusedMax = 1_024;
export const totalDefaultMax = 20_000;
/** Assumed if there is no limit or it is unknown. */
const limitMax = 100_000;
/** With fewer, the gateway runs but can hardly serve callers. */
const totalMin = 8;

/** Divides a limit. */
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

/** The part of Node's report that is read; Node's types do not describe it. */
interface Report {
  excludeNetwork: boolean;
  getReport(): {
    readonly userLimits?: { readonly open_files?: { readonly soft: number | string } };
  };
}

/** Returns this process's limit of open files, which Node has raised as far as possible; undefined if there is none or it is unknown. */
export function openFilesLimit(): number | undefined {
  const soft = Number(limitOfLinux() ?? limitOfReport());
  return Number.isFinite(soft) && soft > 0 ? soft : undefined;
}

/** Reads the limit from Linux, which is fast; undefined on other systems. */
function limitOfLinux(): string | undefined {
  try {
    return /^Max open files +(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
  } catch {
    return undefined;
  }
}

/** Reads the limit from Node's report on the whole process, which is slow. */
function limitOfReport(): number | string | undefined {
  const report = process.report as unknown as Report;
  const { excludeNetwork } = report;
  // Without this, the report looks up the names of all addresses, which is slow.
  report.excludeNetwork = true;
  const { userLimits } = report.getReport();
  report.excludeNetwork = excludeNetwork;
  return userLimits?.open_files?.soft;
}

const comfortable = 1_024;

/** Logs the limit and the resulting connections. */
export function logDescriptors(log: Log, limit: number | undefined, plan: DescriptorPlan): void {
  const { total, perAddress } = plan;
  const fields = { open_files: limit ?? "unlimited", connections: total, per_address: perAddress };
  if (limit !== undefined && limit < comfortable)
    log.warn(fields, "few files may be open (ulimit -n): few connections are taken");
  else log.info(fields, "connections are bounded by the files that may be open, and by the memory");
}
