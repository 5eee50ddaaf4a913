/**
 * Measures for every attack how long another caller of the gateway had to wait, and how much memory the gateway took. The gateway
 * runs as a process of its own.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { shortOrLong } from "../support/long.ts";

export interface Figures {
  /** The longest answer to the other caller, minus the longest that an idle program needed in the same time. */
  readonly stallMs: number;
  /** The other caller's calls, and how many of them did not get 200. */
  readonly calls: number;
  readonly failed: number;
  /** How many of those were refused for overload: 503 with Retry-After. */
  readonly refused: number;
  /** The peak memory of the gateway's process, in bytes. */
  readonly memoryMax: number;
}

export interface Target {
  readonly url: string;
  readonly pid: number;
  /** A key of the other caller, who does not attack. */
  readonly key: string;
}

/** In the short form stalls count from seconds on, so ten calls a second find them. */
const everyMs = shortOrLong(100, 20);
/**
 * An attack may not make other callers wait longer than this. In `npm test` other files share the processors, and the machine may
 * be slow. There it finds only waits of seconds.
 */
export const stallMsMax = shortOrLong(5_000, 250);

/** A program that only answers: if it has to wait, the machine is slow. */
const idleProgram = `
  const server = require("node:http").createServer((_, response) => response.end("{}"));
  server.listen(0, "127.0.0.1", () => console.log(server.address().port));`;

/**
 * Runs `attack` on `target` while another caller makes a small call every 20 ms (100 in the short form). Prints and returns the
 * figures.
 */
export async function measure(
  name: string,
  target: Target,
  attack: () => Promise<unknown>,
): Promise<Figures> {
  const idle = spawn(process.execPath, ["-e", idleProgram], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [port] = (await once(createInterface({ input: idle.stdout }), "line")) as [string];
  const over = new AbortController();
  const victim = callAgain(over.signal, () => call(target));
  const control = callAgain(over.signal, () => get(`http://127.0.0.1:${port}/`));
  let memoryMax = memoryOf(target.pid);
  const sampler = setInterval(() => (memoryMax = Math.max(memoryMax, memoryOf(target.pid))), 25);
  try {
    await sleep(300);
    await attack();
    await sleep(300);
  } finally {
    clearInterval(sampler);
    over.abort();
    idle.kill("SIGKILL");
  }
  const [calls, pauses] = await Promise.all([victim, control]);
  const figures = {
    stallMs: Math.max(0, calls.longestMs - pauses.longestMs),
    calls: calls.count,
    failed: calls.failed,
    refused: calls.refused,
    memoryMax,
  };
  console.log(
    `attack: ${name}: stall ${figures.stallMs.toFixed(0)} ms (machine ${pauses.longestMs.toFixed(0)} ms), ` +
      `${figures.failed} of ${figures.calls} other calls failed (${figures.refused} with 503), memory ${(memoryMax / 2 ** 20).toFixed(0)} MB`,
  );
  return figures;
}

const pauseTickMs = 10;

/** Measures the longest time in which this process did not run, from now until `stop`. */
export function watchPauses(): { longestMs(): number; stop(): void } {
  let longestMs = 0;
  let lastMs = performance.now();
  const tick = (): void => {
    const nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
  };
  const ticking = setInterval(tick, pauseTickMs);
  return {
    longestMs() {
      tick();
      return longestMs;
    },
    stop: () => clearInterval(ticking),
  };
}

const triesMax = 3;

/**
 * Measures an attack again, at most twice, if the other caller waited too long: a stall of the machine does not recur, one by the
 * attack does. The other figures cover all tries.
 */
export async function measureAgain(
  name: string,
  target: Target,
  attack: () => Promise<unknown>,
): Promise<Figures> {
  const all: Figures[] = [];
  for (let tries = 1; tries <= triesMax; tries += 1) {
    all.push(await measure(name, target, attack));
    if (all.at(-1)!.stallMs < stallMsMax) break;
  }
  const sum = (of: (figures: Figures) => number): number =>
    all.reduce((total, figures) => total + of(figures), 0);
  return {
    stallMs: Math.min(...all.map(({ stallMs }) => stallMs)),
    calls: sum(({ calls }) => calls),
    failed: sum(({ failed }) => failed),
    refused: sum(({ refused }) => refused),
    memoryMax: Math.max(...all.map(({ memoryMax }) => memoryMax)),
  };
}

/** The resident memory of a process, in bytes. */
function memoryOf(pid: number): number {
  try {
    const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
    return Number(line?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

interface Calls {
  longestMs: number;
  count: number;
  failed: number;
  refused: number;
}

interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
}

/** Calls at a steady rate, on time even if an earlier call still waits, until the signal aborts. */
async function callAgain(signal: AbortSignal, once: () => Promise<Answer>): Promise<Calls> {
  const calls: Calls = { longestMs: 0, count: 0, failed: 0, refused: 0 };
  const open = new Set<Promise<void>>();
  while (!signal.aborted) {
    const started = performance.now();
    const done = once().then(
      ({ status, retryAfter }) => {
        if (status === 200) return;
        calls.failed += 1;
        if (status === 503 && Number(retryAfter) > 0) calls.refused += 1;
      },
      () => void (calls.failed += 1),
    );
    const one = done.then(() => {
      calls.count += 1;
      calls.longestMs = Math.max(calls.longestMs, performance.now() - started);
      open.delete(one);
    });
    open.add(one);
    await sleep(everyMs);
  }
  await Promise.all(open);
  return calls;
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

function call({ url, key }: Target): Promise<Answer> {
  const body = JSON.stringify({
    model: "sandbox/chat",
    messages: [{ role: "user", content: "Hello" }],
  });
  return send(`${url}/v1/chat/completions`, body, {
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
  });
}

const get = (url: string): Promise<Answer> => send(url, undefined, {});

function send(
  url: string,
  body: string | undefined,
  headers: Record<string, string>,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? "GET" : "POST";
    const outgoing = request(url, { agent, method, headers, timeout: 60_000 }, (response) => {
      response.resume();
      response.once("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          retryAfter: response.headers["retry-after"],
        }),
      );
      response.once("error", reject);
    });
    outgoing.once("error", (error: NodeJS.ErrnoException) => {
      // The gateway closed a connection that had been idle, as it may at any time. Clients retry then.
      if (outgoing.reusedSocket && error.code === "ECONNRESET") resolve(send(url, body, headers));
      else reject(error);
    });
    outgoing.once("timeout", () => outgoing.destroy(new Error("no answer within 60 s")));
    outgoing.end(body);
  });
}
