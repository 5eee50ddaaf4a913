/**
 * The gateway for the rows: four models, one per protocol, each at two recording upstreams; with helpers for calls, charges and log
 * rows.
 */
import { systemClock } from "../../src/base/clock.ts";
import type { Log } from "../../src/base/log.ts";
import { createSseParser, type SseEvent } from "../../src/base/sse.ts";
import type { HealthRules } from "../../src/routing/index.ts";
import { steadyHealthRules } from "../support/steady-health.ts";
import {
  createKey,
  openSecrets,
  type KeyInput,
  type KeyWithSecret,
  type Secrets,
} from "../../src/tenancy/index.ts";
import { forced, startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { eventually } from "../support/patience.ts";
import { preparedDataDir, temporaryDirectory } from "../support/postgres.ts";
import { json, startRecorder, type Answer, type Recorder } from "../support/recorder.ts";
import { protocols, upstreamModel, type Protocol } from "./protocols.ts";

/** The cost of an answer of protocols.ts at `first`: 60 x 1,000 + 40 x 100 + 20 x 10,000 nano-USD. */
export const costAtFirstNano = 264_000n;
/** At `second` everything costs double. */
export const costAtSecondNano = 528_000n;

export interface World {
  readonly gateway: GatewayUnderTest;
  readonly dataDir: string;
  /** The cheaper provider, of tier `official`. */
  readonly first: Recorder;
  /** The more expensive provider, of tier `community`. */
  readonly second: Recorder;
  readonly secrets: Secrets;
  /** Sets the answer of both upstreams, and clears their recorded requests. */
  answer(answer: Answer): void;
  /** POSTs a body of a protocol; the model may have any suffix. */
  call(protocol: Protocol, options?: CallOptions): Promise<Response>;
  /** Creates a key, in the first workspace by default. */
  makeKey(input?: Partial<KeyInput>): Promise<KeyWithSecret>;
  charged(workspaceId?: string): Promise<bigint>;
  /** The request log's row of an answered call. */
  row(response: Response): Promise<LogRow>;
  close(): Promise<void>;
}

interface CallOptions {
  readonly model?: string;
  readonly stream?: boolean;
  /** Fields merged into the minimal body. */
  readonly extra?: object;
  readonly key?: string;
  readonly headers?: Record<string, string>;
}

export interface LogRow {
  readonly id: string;
  readonly key_id: string;
  readonly workspace_id: string;
  readonly provider: string | null;
  readonly status: string;
  readonly http_status: number;
  readonly usage: Record<string, number> | null;
  readonly usage_source: string | null;
  readonly cost_nano: bigint;
  readonly first_token_ms: number | null;
  readonly dropped: string[];
  readonly attempts: { provider: string; status: number | null; outcome: string }[];
}

interface WorldOptions {
  readonly databaseUrl?: string;
  /** Uses the embedded database, whose server takes a second to start. Otherwise the test worker's server. */
  readonly embedded?: boolean;
  readonly keepAliveMs?: number;
  readonly log?: Log;
  /** By default, failures in one test do not affect a provider's health in the next. */
  readonly health?: HealthRules;
  /** Timeouts of both providers; YAML in flow style. */
  readonly timeouts?: string;
  /** More models, as YAML rows. */
  readonly models?: string;
  /** Base64. Gateways on one database share it. */
  readonly masterKey?: string;
  /** The world of another gateway, whose upstreams this one shares. */
  readonly beside?: World;
}

const price = (factor: number): string => {
  const usd = (rate: number) => `"${rate * factor}"`;
  return `{ input: ${usd(1)}, cache_read: ${usd(0.1)}, cache_write: ${usd(1.25)}, output: ${usd(10)} }`;
};

/** One offer as YAML. */
const offerRow = (provider: "first" | "second", protocol: string): string =>
  `      - { provider: ${provider}, protocol: ${protocol}, upstream_model: ${upstreamModel}, price: ${price(provider === "first" ? 1 : 2)} }`;

/** One model as YAML, offered by both providers by default. */
export function modelRow(
  id: string,
  protocol: Pick<Protocol, "name" | "endpoint">,
  options: { readonly extra?: string; readonly providers?: readonly ("first" | "second")[] } = {},
): string {
  const { extra = "", providers = ["first", "second"] } = options;
  return [
    `  - id: ${id}`,
    "    kind: text",
    `    endpoints: [${protocol.endpoint}]`,
    "    context_length: 100000",
    "    max_output_tokens: 8000",
    ...(extra === "" ? [] : [`    ${extra}`]),
    "    offers:",
    ...providers.map((provider) => offerRow(provider, protocol.name)),
  ].join("\n");
}

function configuration(first: string, second: string, options: WorldOptions): string {
  const timeouts = options.timeouts === undefined ? "" : `, timeouts: ${options.timeouts}`;
  const provider = (id: string, url: string, tier: string) =>
    `  - { id: ${id}, dialect: openai-compatible, base_url: "${url}/v1", api_key: ${id}-secret, tier: ${tier}${timeouts} }`;
  return [
    "providers:",
    provider("first", first, "official"),
    provider("second", second, "community"),
    "models:",
    ...protocols.map((protocol) => modelRow(protocol.model, protocol)),
    options.models ?? "",
    "",
  ].join("\n");
}

/** Starts the gateway with credit, and its two upstreams, which answer 500 until `answer` is called. */
export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const idle = json({ error: { message: "no answer was set" } }, 500);
  const { beside, masterKey, databaseUrl, keepAliveMs, log } = options;
  const first = beside?.first ?? (await startRecorder(idle));
  const second = beside?.second ?? (await startRecorder(idle));
  const dataDir = options.embedded ? await preparedDataDir() : temporaryDirectory();
  const gateway = await startTestGateway({
    config: configuration(first.url, second.url, options),
    environment: {
      ...(options.embedded ? { TOLLGATE_DATA_DIR: dataDir } : {}),
      ...(masterKey === undefined ? {} : { TOLLGATE_MASTER_KEY: masterKey }),
    },
    health: options.health ?? steadyHealthRules,
    ...(options.embedded ? {} : { dataDir }),
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
    ...(keepAliveMs === undefined ? {} : { keepAliveMs }),
    ...(log === undefined ? {} : { log }),
  });
  await gateway.credit("100.00");
  const { database, ledger, workspaceId } = gateway;
  const secrets = await openSecrets({ database, masterKey, dataDir });
  return {
    gateway,
    dataDir,
    first,
    second,
    secrets,
    answer(answer) {
      for (const upstream of [first, second]) {
        upstream.requests.length = 0;
        upstream.answer(answer);
      }
    },
    call(protocol, { model = protocol.model, stream = false, extra = {}, key, headers } = {}) {
      return gateway.post(
        protocol.path(model, stream),
        { ...protocol.body(model, stream), ...extra },
        { ...(key === undefined ? {} : { authorization: `Bearer ${key}` }), ...headers },
      );
    },
    makeKey: (input) =>
      createKey(
        { database, clock: systemClock, secrets },
        { workspaceId, name: "a key", createdBy: null, ...input },
      ),
    charged: async (of = workspaceId) => (await ledger.balance(of)).chargedNano,
    row: (answer) => logRow(gateway, answer.headers.get("x-request-id")!),
    async close() {
      await gateway.close();
      if (!beside) await Promise.all([first.close(), second.close()]);
    },
  };
}

/** Waits for a call's log row, which may be written a moment after the answer. */
export async function logRow({ database }: GatewayUnderTest, id: string): Promise<LogRow> {
  return eventually(async () => {
    const rows = await database.query<LogRow>("select * from request_log where id = $1", [id]);
    return rows[0];
  }, `the row of ${id} in the request log`);
}

/** The events of a streamed answer, parsed from its bytes. */
export async function readEvents(answer: Response): Promise<SseEvent[]> {
  const parser = createSseParser();
  const text = withoutOwnIds(await answer.text());
  return [...parser.push(new TextEncoder().encode(text)), ...parser.end()];
}

/** Removes ids and times from converted answers, which name their own call, so that answers can be compared. */
export const withoutOwnIds = (text: string): string =>
  forced
    ? text
        .replaceAll(/req_[0-9a-z]{26}/g, "req_own")
        .replaceAll(/"(created|created_at)":\d+/g, '"$1":0')
    : text;

/** Streams frames, and then calls `rest`; without `rest` it ends the stream. */
export const stream =
  (frames: readonly string[], rest?: (response: Parameters<Answer>[1]) => void): Answer =>
  (_request, upstream) => {
    upstream.writeHead(200, { "content-type": "text/event-stream" });
    upstream.write(frames.join(""));
    if (rest) rest(upstream);
    else upstream.end();
  };

/** Answers in the protocol of the path, whole or streamed as requested. */
export const answering: Answer = (request, upstream) => {
  const protocol = protocolOf(request.path);
  const streamed = request.body["stream"] === true || request.path.includes(":stream");
  const answer = streamed ? stream(protocol.frames) : json(protocol.whole());
  return answer(request, upstream);
};

/** The protocol of an upstream's path. */
export function protocolOf(path: string): Protocol {
  const [chat, responses, messages, generateContent] = protocols as [
    Protocol,
    Protocol,
    Protocol,
    Protocol,
  ];
  if (path.endsWith("/chat/completions")) return chat;
  if (path.endsWith("/responses")) return responses;
  return path.endsWith("/messages") ? messages : generateContent;
}
