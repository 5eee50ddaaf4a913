/** What is measured: the bare proxy, and Tollgate with everything on, on each kind of database. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { startMeasured, stop, type Started } from "./processes.ts";

export interface Subject {
  readonly name: string;
  readonly url: string;
  readonly key: string;
  readonly process: Started;
  close(): Promise<void>;
}

const run = promisify(execFile);
const main = new URL("../src/cli/main.ts", import.meta.url).pathname;
const start = new URL("../scripts/start.mjs", import.meta.url).pathname;
const bareProxy = new URL("./bare-proxy.ts", import.meta.url).pathname;

/** Starts the bare proxy in front of `upstreamUrl`. */
export async function startBareProxy(upstreamUrl: string): Promise<Subject> {
  const started = await startMeasured([bareProxy, upstreamUrl], process.env, /http:\/\/\S+/);
  const url = /http:\/\/\S+/.exec(started.output)![0];
  return { name: "bare proxy", url, key: "none", process: started, close: () => stop(started) };
}

/** Starts Tollgate in front of `upstreamUrl`: a fresh data directory, or a fresh database of a server. */
export async function startTollgate(
  name: string,
  upstreamUrl: string,
  databaseUrl?: string,
): Promise<Subject> {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-bench-"));
  const config = join(directory, "tollgate.yaml");
  writeFileSync(config, configuration(upstreamUrl));
  const env = {
    ...process.env,
    TOLLGATE_DATA_DIR: join(directory, "data"),
    TOLLGATE_CONFIG: config,
    TOLLGATE_SANDBOX: "off",
    DATABASE_URL: databaseUrl ?? "",
    PORT: "0",
  };
  const started = await startMeasured([start], env, /API key\s+gw_live_/);
  await run(process.execPath, [main, "credits", "add", "1000000"], { env });
  return {
    name,
    url: /ready at (http:\/\/\S+)/.exec(started.output)![1]!,
    key: /gw_live_\w+/.exec(started.output)![0],
    process: started,
    async close() {
      await stop(started);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

const configuration = (upstreamUrl: string): string => `
providers:
  - { id: bench, dialect: openai-compatible, base_url: ${upstreamUrl}/v1, api_key: none, tier: community }
  - { id: bench-messages, dialect: anthropic, base_url: ${upstreamUrl}/v1, api_key: none, tier: community }
  - { id: bench-videos, dialect: xai, base_url: ${upstreamUrl}/v1, api_key: none, tier: community }
limits: { queue: { global: 1000000, per_workspace: 1000000 } }
models:
  - id: bench/clip
    kind: video
    family: video-v1
    offers:
      - { provider: bench-videos, upstream_model: bench-clip,
          price: { output_second: { 480p: "0.05", 720p: "0.07" }, input_image: "0.01" } }
  - id: bench/messages
    kind: text
    endpoints: [chat_completions]
    context_length: 200000
    max_output_tokens: 32000
    offers:
      - { provider: bench-messages, protocol: messages, upstream_model: bench-large,
          price: { input: "0.50", cache_read: "0.05", cache_write: "0.625", output: "2.00" } }
  - id: bench/chat
    kind: text
    endpoints: [chat_completions]
    context_length: 200000
    max_output_tokens: 32000
    offers:
      - { provider: bench, protocol: chat, upstream_model: bench-large,
          price: { input: "0.50", cache_read: "0.05", cache_write: "0.625", output: "2.00" } }
`;
