/** Whether the machine, or the container, has the memory that a gateway's limits let it take. docs/operate.md "Bodies and memory". */
import { totalmem } from "node:os";
import { counted } from "../../base/counted.ts";
import type { Settings } from "../../catalog/index.ts";
import type { Environment } from "../environment.ts";
import { workersWanted } from "../workers/count.ts";
import { shareOf } from "../workers/share.ts";
import { ok, warning, type Finding } from "./findings.ts";

const mebibyte = 1024 * 1024;
/** Of a process that does nothing, and of the embedded database. */
const idleBytes = 180 * mebibyte;
const embeddedBytes = 60 * mebibyte;
/** A body takes so many times its size until it is sent. */
const copies = 3;

/** What a container may use, else what the machine has. */
export const memoryHere = (): number =>
  Math.min(process.constrainedMemory() || Infinity, totalmem());

/** Compares what bodies under way may take at most with `bytes`, what there is of memory. */
export function checkMemory(
  environment: Pick<Environment, "workers" | "databaseUrl">,
  limits: Settings["limits"],
  bytes = memoryHere(),
): Finding {
  const count = workersWanted(environment);
  const { bodiesUnderWayBytes } = shareOf(limits, count);
  const embedded = environment.databaseUrl === undefined ? embeddedBytes : 0;
  const needed = count * (idleBytes + copies * bodiesUnderWayBytes) + embedded;
  const message = `${megabytes(bytes)}; ${counted(count, "process", "processes")} may take ${megabytes(needed)} when large bodies come together`;
  const fix =
    "give it more, run fewer workers, or lower limits.bodies_under_way_mb and the sizes of bodies; else the system may end it";
  return bytes < needed ? warning("memory", message, fix) : ok("memory", message);
}

const megabytes = (bytes: number): string => `${Math.floor(bytes / mebibyte)} MB`;
