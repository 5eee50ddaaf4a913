/** A worker's part of the limits that hold for the whole gateway. docs/operate.md "Workers". */
import type { Settings } from "../../catalog/index.ts";
import { totalDefaultMax } from "../descriptors.ts";

type Limits = Settings["limits"];

/** The limits of one of `count` workers: connections and bodies are divided, the queue of tasks is the database's. */
export function shareOf(limits: Limits, count: number): Limits {
  if (count === 1) return limits;
  const part = (whole: number): number => Math.ceil(whole / count);
  const { total = totalDefaultMax, perAddress } = limits.connections;
  return {
    ...limits,
    connections: {
      ...limits.connections,
      total: part(total),
      ...(perAddress !== undefined && { perAddress: part(perAddress) }),
    },
    // Each must be able to take the largest body.
    bodiesUnderWayBytes: Math.min(
      Math.max(part(limits.bodiesUnderWayBytes), 2 * limits.bodyBytes),
      limits.bodiesUnderWayBytes,
    ),
  };
}
