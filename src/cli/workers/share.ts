/** A process's part of the limits that hold for the whole gateway, and of the machine's memory. docs/operate.md "Workers", "Bodies and memory". */
import { largeShare } from "../../base/byte-budget.ts";
import type { Settings } from "../../catalog/index.ts";
import { totalDefaultMax } from "../descriptors.ts";
import { roomForBodies, roomForText } from "./memory.ts";

type Limits = Settings["limits"];

/** The limits of one of `count` processes, each with so many bytes of memory: connections and bodies are divided, the queue of tasks is the database's. */
export function shareOf(limits: Limits, count: number, memoryBytes = Infinity): Limits {
  const divided = count === 1 ? limits : dividedAmong(limits, count);
  return withinMemory(divided, memoryBytes);
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
    // Each must be able to take the largest body.
    bodiesUnderWayBytes: Math.min(
      Math.max(part(limits.bodiesUnderWayBytes), 2 * limits.bodyBytes),
      limits.bodiesUnderWayBytes,
    ),
  };
}

/**
 * Lowers what the file does not set to what the memory has room for. A size that it sets holds, and has room in the budget whatever
 * the memory; `doctor` warns of that. A body that is let in fits into the budget where nothing else is under way.
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
