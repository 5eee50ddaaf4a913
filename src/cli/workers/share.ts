/** A process's share of the limits of the whole gateway, and of the machine's memory. docs/operate.md "Workers", "Bodies and memory". */
import { largeShare } from "../../base/byte-budget.ts";
import type { Settings } from "../../catalog/index.ts";
import { totalDefaultMax } from "../descriptors.ts";
import { roomForBodies, roomForConnections, roomForText } from "./memory.ts";

type Limits = Settings["limits"];

/**
 * Returns the limits of one of `count` processes with this much memory each. Connections and bodies are divided; the task queue is not,
 * because all share the database's.
 */
export function shareOf(limits: Limits, count: number, memoryBytes = Infinity): Limits {
  const divided = count === 1 ? limits : dividedAmong(limits, count);
  const { total = totalDefaultMax } = divided.connections;
  const room = limits.connections.total === undefined ? roomForConnections(memoryBytes) : Infinity;
  if (room >= total) return withinMemory(divided, memoryBytes);
  const connections = { ...divided.connections, total: room };
  return withinMemory({ ...divided, connections }, memoryBytes);
}

function dividedAmong(limits: Limits, count: number): Limits {
  const part = (whole: number): number => Math.ceil(whole / count);
  const { total = totalDefaultMax, perAddress } = limits.connections;
  return {
    ...limits,
    connections: {
      ...limits.connections,
      total: part(total),
      ...(perAddress !== undefined && { perAddress: part(perAddress) }),
    },
    // Each process must be able to take the largest body.
    bodiesUnderWayBytes: Math.min(
      Math.max(part(limits.bodiesUnderWayBytes), 2 * limits.bodyBytes),
      limits.bodiesUnderWayBytes,
    ),
  };
}

/**
 * Lowers limits that the file does not set to what fits into the memory. A size that the file sets is kept and fits into the budget,
 * whatever the memory; `doctor` warns of that. An accepted body fits into the budget if nothing else is in flight.
 */
function withinMemory(limits: Limits, memoryBytes: number): Limits {
  const { isSet } = limits;
  const room = roomForBodies(memoryBytes);
  if (isSet.bodiesUnderWayBytes || room >= limits.bodiesUnderWayBytes) return limits;
  const largestSet = Math.max(
    isSet.bodyBytes ? limits.bodyBytes : 0,
    isSet.textBodyBytes ? limits.textBodyBytes : 0,
  );
  const bodiesUnderWayBytes = Math.min(
    Math.max(room, Math.ceil(largestSet / largeShare)),
    limits.bodiesUnderWayBytes,
  );
  const bodyMax = Math.floor(bodiesUnderWayBytes * largeShare);
  const bodyBytes = isSet.bodyBytes ? limits.bodyBytes : Math.min(limits.bodyBytes, bodyMax);
  const textMax = isSet.textBodyBytes ? bodyBytes : Math.min(bodyBytes, roomForText(memoryBytes));
  const textBodyBytes = Math.min(limits.textBodyBytes, textMax);
  return { ...limits, bodyBytes, textBodyBytes, bodiesUnderWayBytes };
}
