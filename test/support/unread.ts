/** What the system holds for clients that do not read. Linux only. */
import { readFileSync } from "node:fs";

/**
 * How many connections of a gateway's port have more waiting in the system than any caller leaves who reads; those that the
 * gateway has closed, too, which are no files of its any more.
 */
export function unreadAt(url: string): number {
  const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, "0");
  const lines = readFileSync("/proc/net/tcp", "utf8").split("\n").slice(1, -1);
  return lines.filter((line) => {
    const [, local = "", , , queues = ""] = line.trim().split(/\s+/);
    return local.endsWith(`:${port}`) && Number.parseInt(queues, 16) > 100_000;
  }).length;
}
