/** Shared by the operation tests: temporary directories, and processes whose output is kept. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { spawnGateway, type GatewayProcess } from "../support/process.ts";

/** A directory that is removed after the tests of the file. */
export function useDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-operation-"));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export interface KeptProcess extends GatewayProcess {
  /** Milliseconds from the process's start until it was ready. */
  readonly startMs: number;
  /** All output since its banner, of both streams. */
  printed(): string;
}

/** Starts a gateway process; its output is kept after the banner too. */
export async function start(
  environment: Record<string, string>,
  options?: Parameters<typeof spawnGateway>[1],
): Promise<KeptProcess> {
  const gateway = await spawnGateway(environment, options);
  const tookMs = startMs(gateway.readyMs, gateway.child.pid!);
  let text = "";
  for (const stream of [gateway.child.stdout!, gateway.child.stderr!])
    stream.on("data", (chunk: Buffer) => (text += chunk.toString()));
  return { ...gateway, startMs: tookMs, printed: () => text };
}

/** The API key that a first start printed. */
export const keyOf = (gateway: GatewayProcess): string => /gw_live_\w+/.exec(gateway.banner)![0];

/** The status of a chat call to `model`, with its error's code if there is one. */
export async function chat(url: string, key: string, model: string, text = "Hi"): Promise<string> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify({ model, messages: [{ role: "user", content: text }] }),
  });
  const { error } = (await response.json()) as { error?: { code: string } };
  return `${response.status} ${error?.code ?? "ok"}`;
}

/** Processor time of the process, in milliseconds over all its threads; undefined if the system does not report it. */
function workedMs(pid: number): number | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
    // User and system time, in ticks of a hundredth of a second.
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return undefined;
  }
}

/**
 * Duration of a start. On an idle machine it is elapsed time. On a busy machine, where the clock would measure other processes,
 * it is the processor time of the process.
 */
function startMs(readyMs: number, pid: number): number {
  const crowded = loadavg()[0]! > availableParallelism();
  return crowded ? Math.min(readyMs, workedMs(pid) ?? readyMs) : readyMs;
}
