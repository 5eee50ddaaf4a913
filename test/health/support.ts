/** A gateway in front of three providers of one chat model, each a stub that answers as the test says. */
import { setTimeout as sleep } from "node:timers/promises";
import type { HealthRules } from "../../src/routing/index.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { eventually } from "../support/patience.ts";
import { json, startRecorder, type Answer, type Recorder } from "../support/recorder.ts";
import { chat } from "../rows/protocols.ts";
import { answering } from "../rows/world.ts";

export const names = ["a", "b", "c"] as const;
export type Name = (typeof names)[number];

export { hastyRules } from "./hasty-rules.ts";

export interface Trio {
  readonly up: Readonly<Record<Name, Recorder>>;
  readonly gateway: GatewayUnderTest;
  call(options?: { model?: string; stream?: boolean; extra?: object }): Promise<Response>;
  /** The request-log row of an answered call. */
  row(answer: Response): Promise<Row>;
  close(): Promise<void>;
}

export interface Row {
  readonly provider: string | null;
  readonly attempts: { provider: string; credential: string; outcome: string }[];
  readonly explanation: { plan: { order: string[]; offers: Record<string, string>[] } };
}

interface TrioOptions {
  readonly databaseUrl?: string;
  readonly health?: HealthRules;
  /** The upstreams of another node, to share them. */
  readonly up?: Trio["up"];
  /** Prices in USD per million tokens; by default all 1. */
  readonly prices?: Readonly<Record<Name, number>>;
  /** True for two credentials each, `one` and `two`. */
  readonly twoKeys?: boolean;
  /** By default 5. */
  readonly firstByteSeconds?: number;
  /** The number of further models, `acme/talk-1` and so on, beside `acme/talk`. Failures of one model do not affect the others. */
  readonly models?: number;
  readonly tiers?: Partial<Readonly<Record<Name, "official" | "community">>>;
  /** The protocol of each provider, by default chat completions. */
  readonly protocols?: Partial<Readonly<Record<Name, "chat" | "responses" | "messages">>>;
}

/** The configuration file. */
export function configuration(up: Trio["up"], options: TrioOptions): string {
  const { prices, twoKeys, tiers, protocols, models = 0, firstByteSeconds = 5 } = options;
  const keys = (name: Name) =>
    twoKeys
      ? `credentials: [{ id: one, api_key: ${name}-one }, { id: two, api_key: ${name}-two }]`
      : `api_key: ${name}-key`;
  const provider = (name: Name) =>
    `  - { id: ${name}, dialect: openai-compatible, base_url: "${up[name].url}/v1", ${keys(name)}, tier: ${tiers?.[name] ?? "official"}, timeouts: { first_byte_s: ${firstByteSeconds}, idle_s: ${firstByteSeconds} } }`;
  const model = (suffix: string) => [
    `  - id: acme/talk${suffix}`,
    "    kind: text",
    "    endpoints: [chat_completions, messages]",
    "    context_length: 100000",
    "    max_output_tokens: 8000",
    "    offers:",
    ...names.map((name) => {
      const usd = prices?.[name] ?? 1;
      return `      - { provider: ${name}, protocol: ${protocols?.[name] ?? "chat"}, upstream_model: talk${suffix}, price: { input: "${usd}", output: "${usd}" } }`;
    }),
  ];
  const suffixes = ["", ...Array.from({ length: models }, (_one, index) => `-${index + 1}`)];
  return ["providers:", ...names.map(provider), "models:", ...suffixes.flatMap(model), ""].join(
    "\n",
  );
}

/** Settings that nodes of one database share. */
export const nodeEnvironment = {
  TOLLGATE_MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
  TOLLGATE_ADMIN_TOKEN: "test-admin-token-of-some-length",
};

/** Starts the gateway, with credit. All three upstreams answer well. */
export async function startTrio(options: TrioOptions = {}): Promise<Trio> {
  const up = options.up ?? {
    a: await startRecorder(answering),
    b: await startRecorder(answering),
    c: await startRecorder(answering),
  };
  const { databaseUrl, health } = options;
  const gateway = await startTestGateway({
    config: configuration(up, options),
    // Nodes of one database share these settings.
    ...(databaseUrl === undefined ? {} : { environment: nodeEnvironment }),
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
    ...(health === undefined ? {} : { health }),
  });
  await gateway.credit("100");
  return {
    up,
    gateway,
    call: ({ model = "acme/talk", stream = false, extra = {} } = {}) =>
      gateway.post(chat.path(model, stream), { ...chat.body(model, stream), ...extra }),
    row: (answer) => rowOf(gateway, answer.headers.get("x-request-id")!),
    async close() {
      await gateway.close();
      if (options.up === undefined) await Promise.all(names.map((name) => up[name].close()));
    },
  };
}

async function rowOf({ database }: GatewayUnderTest, id: string): Promise<Row> {
  return eventually(async () => {
    const [row] = await database.query<Row>("select * from request_log where id = $1", [id]);
    return row;
  }, `the row of ${id} in the request log`);
}

/** The number of calls that each provider has received since the last call of this function. */
export function takeRequestCounts({ up }: Pick<Trio, "up">): Record<Name, number> {
  const counts = { a: 0, b: 0, c: 0 };
  for (const name of names) {
    counts[name] = up[name].requests.length;
    up[name].requests.length = 0;
  }
  return counts;
}

export const failing: Answer = json({ error: { message: "down" } }, 500);
export const silent: Answer = () => undefined;
/** Breaks off after the first frame. Its caller sees the error, because failover has ended then. */
export const breakingOff: Answer = (request, response) => {
  if (request.body["stream"] !== true) return failing(request, response);
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(chat.frames[0]);
  setTimeout(() => response.destroy(), 5);
};
/** Answers like `answering`, after `ms`. */
export const delayed =
  (ms: number): Answer =>
  async (request, response) => {
    await sleep(ms);
    await answering(request, response);
  };
