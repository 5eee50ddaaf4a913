/** Ctrl-C under `npm start`, as a terminal sends it: to npm and the gateway at once, and npm also passes it on to the gateway. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isLong } from "../support/long.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { useDirectory } from "./support.ts";

const root = new URL("../..", import.meta.url).pathname;
const directory = useDirectory();

interface Started {
  readonly child: ChildProcess;
  readonly url: string;
  readonly key: string;
  interrupt(): void;
  readonly gone: Promise<unknown>;
}

/** Starts it in its own process group, so that the test can signal the group as a terminal does. */
async function start(terminal: boolean, dataDir: string): Promise<Started> {
  const [command, args] = terminal
    ? (["script", ["-qfec", "npm start", "/dev/null"]] as const)
    : (["npm", ["start"]] as const);
  const child = spawn(command, args, {
    cwd: root,
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
    env: {
      ...process.env,
      PORT: "0",
      DATABASE_URL: await (await sharedPostgres()).createMigrated(),
      TOLLGATE_DATA_DIR: dataDir,
      TOLLGATE_SANDBOX: "on",
    },
  });
  let text = "";
  const failed = new Promise<never>((_, reject) =>
    child.once("exit", (code) => reject(new Error(`it ended with code ${code}: ${text}`))),
  );
  failed.catch(() => undefined);
  const ready = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (bytes: Buffer) => {
        text += bytes.toString();
        if (text.includes("Try it")) resolve();
      });
  });
  await Promise.race([ready, failed]);
  return {
    child,
    url: /ready at (http:\/\/\S+)/.exec(text)![1]!,
    key: /gw_live_\w+/.exec(text)![0],
    interrupt() {
      if (terminal) child.stdin.write("\u0003");
      else process.kill(-child.pid!, "SIGINT");
    },
    gone: once(child, "close"),
  };
}

/** Opens a stream of seven pieces, `pauseMs` apart; resolves when its first event has arrived. */
async function stream({ url, key }: Started, pauseMs: number) {
  const script = { reply: "one two three four five six", chunk_chars: 4, chunk_delay_ms: pauseMs };
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify({
      model: "sandbox/chat",
      stream: true,
      messages: [{ role: "user", content: `#sandbox ${JSON.stringify(script)}` }],
    }),
  });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = (await reader.read()).value ?? "";
  const readOn = async (): Promise<string> => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text;
      text += value;
    }
  };
  return { whole: readOn().catch((): string => `${text} (cut)`) };
}

const hasTerminal = process.platform === "linux" && existsSync("/usr/bin/script");

/** A terminal signals the process group of `npm start`. In the short form, one press is tested with a terminal and two with a group. */
const isTested = (terminal: boolean, presses: 1 | 2): boolean =>
  terminal ? hasTerminal && (isLong || presses === 1) : isLong || presses === 2 || !hasTerminal;

describe.each([
  ["a process group", false],
  ["a terminal", true],
])("Ctrl-C to %s under npm start", (name, terminal) => {
  it.skipIf(!isTested(terminal, 1))(
    "ends the gateway after a running stream is complete",
    async () => {
      const started = await start(terminal, join(directory, `${name}-once`));
      const { whole } = await stream(started, 150);
      started.interrupt();
      expect(await whole).toMatch(/data: \[DONE\]\s*$/);
      await started.gone;
      expect(await listening(started.url)).toBe(false);
    },
  );

  it.skipIf(!isTested(terminal, 2))(
    "stops the gateway at once if it is pressed twice",
    async () => {
      const started = await start(terminal, join(directory, `${name}-twice`));
      const { whole } = await stream(started, 30_000);
      started.interrupt();
      // Long enough for a person's second press; a sooner signal counts as the first one, passed on by npm.
      await new Promise((resolve) => setTimeout(resolve, 900));
      started.interrupt();
      expect(await whole).toMatch(/\(cut\)$/);
      await started.gone;
      expect(await listening(started.url)).toBe(false);
    },
  );
});

const listening = (url: string): Promise<boolean> =>
  fetch(`${url}/healthz`).then(
    () => true,
    () => false,
  );
