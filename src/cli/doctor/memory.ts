/** Checks that the machine or container has the memory that the gateway's limits allow. docs/load.md "Bodies and memory". */
import { counted } from "../../base/counted.ts";
import type { Settings } from "../../catalog/index.ts";
import type { Environment } from "../environment.ts";
import { workersWanted } from "../workers/count.ts";
import { memoryHere, memoryNeeded, memoryOfEach } from "../workers/memory.ts";
import { shareOf } from "../workers/share.ts";
import { ok, warning, type Finding } from "./findings.ts";

const mebibyte = 1024 * 1024;

/** Compares the most memory that bodies in flight may take with `bytes`, the available memory. */
export function checkMemory(
  environment: Pick<Environment, "workers" | "databaseUrl">,
  limits: Settings["limits"],
  bytes = memoryHere(),
): Finding {
  const count = workersWanted(environment, bytes);
  const sharing = { count, databaseUrl: environment.databaseUrl };
  const { bodyBytes, bodiesUnderWayBytes } = shareOf(limits, count, memoryOfEach(sharing, bytes));
  const needed = memoryNeeded(sharing, bodiesUnderWayBytes);
  const sizes = `bodies up to ${megabytes(bodyBytes)}, ${megabytes(bodiesUnderWayBytes)} of them at once in each`;
  const message = `${megabytes(bytes)}; ${counted(count, "process", "processes")} may take ${megabytes(needed)} when large bodies come together (${sizes})`;
  const fix =
    "give it more, run fewer workers, or leave out or lower limits.bodies_under_way_mb and the sizes of bodies; else the system may end it";
  return bytes < needed ? warning("memory", message, fix) : ok("memory", message);
}

const megabytes = (bytes: number): string => `${Math.floor(bytes / mebibyte)} MB`;
