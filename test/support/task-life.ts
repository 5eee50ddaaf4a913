/** Gateways of one configuration, each as its own process (crashing-gateway.ts), and a stand-in video vendor that counts requests. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { TaskPoint } from "../../src/tasks/index.ts";
import { startTestGateway } from "./gateway.ts";
import { hastyTasks } from "./hasty-tasks.ts";
import { startRecorder, type Recorder } from "./recorder.ts";

const script = new URL("crashing-gateway.ts", import.meta.url).pathname;

export interface Life {
  readonly child: ChildProcess;
  readonly url: string;
  /** The API key of the first start of a database; null at later starts. */
  readonly key: string | null;
  readonly gone: Promise<unknown>;
  /** Kills the process, or stops it with `SIGSTOP`, once a task reaches the point. */
  arm(point: TaskPoint, signal?: "SIGKILL" | "SIGSTOP"): Promise<void>;
  /** SIGTERM; resolves when the process has ended. */
  end(): Promise<void>;
}

const living = new Set<ChildProcess>();

/** Kills processes that a failed test left running; for `afterEach`. */
export function endAll(): void {
  for (const child of living) child.kill("SIGKILL");
}

/** Starts a gateway process. */
export async function live(environment: Record<string, string>): Promise<Life> {
  const child = spawn(process.execPath, [script], {
    env: { ...process.env, PORT: "0", ...environment },
    stdio: ["pipe", "pipe", "inherit"],
  });
  living.add(child);
  const gone = once(child, "exit").finally(() => living.delete(child));
  const lines = createInterface({ input: child.stdout });
  const [line] = (await Promise.race([
    once(lines, "line"),
    gone.then(() => {
      throw new Error("the gateway ended before it was ready");
    }),
  ])) as [string];
  const { url, key } = JSON.parse(line) as { url: string; key: string | null };
  return {
    child,
    url,
    key,
    gone,
    async arm(point, signal = "SIGKILL") {
      child.stdin.write(`${point} ${signal}\n`);
      await once(lines, "line");
    },
    async end() {
      child.kill("SIGTERM");
      await gone;
    },
  };
}

/** The same gateway in the test's process, if no test kills or stops it: it starts in a tenth of the time. */
export async function liveHere(
  environment: Record<string, string>,
): Promise<Pick<Life, "url" | "key" | "end">> {
  const gateway = await startTestGateway({ environment, ...hastyTasks(environment) });
  return { url: gateway.url, key: gateway.key, end: () => gateway.close() };
}

/** A configuration with one video model, `acme/clip`, at a vendor that speaks xAI's dialect. */
export const clipConfiguration = (baseUrl: string, more = ""): string => `
providers:
  - { id: xai, dialect: xai, base_url: "${baseUrl}", api_key: sandbox, tier: official }
models:
  - id: acme/clip
    kind: video
    family: video-v1
    offers:
      - { provider: xai, upstream_model: video-model-v1, price: { output_second: { 480p: "0.05", 720p: "0.07" }, input_image: "0.01" } }
${more}`;

/** The first bytes of an MP4 file, by which the gateway recognises a result. */
export const mp4 = Buffer.concat([
  Buffer.from("0000001c667479706d703432", "hex"),
  Buffer.alloc(64),
]);

export interface VideoVendor {
  readonly recorder: Recorder;
  /** How often each prompt was submitted. */
  readonly submitted: Map<string, number>;
  /** How often each job was reported as done. */
  readonly done: Map<string, number>;
}

/** Starts a vendor that accepts every job and reports it as done at the first poll. */
export async function startVideoVendor(): Promise<VideoVendor> {
  const submitted = new Map<string, number>();
  const done = new Map<string, number>();
  const count = (counts: Map<string, number>, name: string) =>
    counts.set(name, (counts.get(name) ?? 0) + 1);
  const recorder = await startRecorder((request, response) => {
    const send = (body: object) => {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    if (request.method === "POST") {
      const prompt = String(request.body["prompt"]);
      count(submitted, prompt);
      return send({ request_id: `job-${prompt}` });
    }
    if (request.path.endsWith(".mp4")) {
      response.writeHead(200, { "content-type": "video/mp4", "content-length": mp4.length });
      return void response.end(mp4);
    }
    const job = request.path.split("/").at(-1)!;
    count(done, job);
    return send({ status: "done", video: { url: `${recorder.url}/${job}.mp4`, duration: 2 } });
  });
  return { recorder, submitted, done };
}
