/** Data that the system holds for clients that do not read. Linux only. */
import { readFileSync } from "node:fs";

/**
 * Counts the connections at a gateway's port with more queued data (over 100 kB) than a caller who reads leaves. Connections that
 * the gateway has closed count too: they are no longer open files of the process.
 */
export function unreadAt(url: string): number {
  const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, "0");
  const lines = readFileSync("/proc/net/tcp", "utf8").split("\n").slice(1, -1);
  return lines.filter((line) => {
    const [, local = "", , , queues = ""] = line.trim().split(/\s+/);
    return local.endsWith(`:${port}`) && Number.parseInt(queues, 16) > 100_000;
  }).length;
}
