// A hook behind an address, which answers as the test says, and a gateway that asks it.
import { verifyLedger } from "../../src/verification/index.ts";
import { eventually } from "../support/patience.ts";
import {
  json,
  startRecorder,
  type Answer,
  type Recorded,
  type Recorder,
} from "../support/recorder.ts";
import { startBench, type Bench } from "../task-http/support.ts";

export const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

export interface Event extends Record<string, unknown> {
  readonly type: string;
  readonly id: string;
  readonly endpoint: string;
  readonly model: string;
  readonly body: Record<string, unknown>;
}

export const eventOf = ({ body }: Recorded): Event => body as unknown as Event;

/** Answers each event with what `by` returns. */
export const decide =
  (by: (event: Event) => object): Answer =>
  (request, response) =>
    json(by(eventOf(request)))(request, response);

export const allow = decide(() => ({ action: "allow" }));

export interface HookBench {
  readonly bench: Bench;
  readonly hook: Recorder;
  close(): Promise<void>;
}

/** A gateway in front of the sandbox, with these hooks in its file. `URL` in them is the recorder's address. */
export async function startHooked(
  hooks: (url: string) => string,
  options: Parameters<typeof startBench>[0] = {},
): Promise<HookBench> {
  const hook = await startRecorder(allow);
  const bench = await startBench({
    ...options,
    sandbox: "on",
    config: `hooks:\n${hooks(hook.url)}`,
  });
  await bench.credit("10");
  return {
    bench,
    hook,
    async close() {
      await bench.close();
      await hook.close();
    },
  };
}

/** The four text protocols and embeddings: an endpoint, a path, and a body with `text`. */
export const calls: readonly (readonly [
  endpoint: string,
  path: string,
  body: (text: string, more?: object) => object,
])[] = [
  [
    "chat_completions",
    "/v1/chat/completions",
    (text, more) => ({
      model: "sandbox/chat",
      messages: [{ role: "user", content: text }],
      ...more,
    }),
  ],
  ["responses", "/v1/responses", (text, more) => ({ model: "sandbox/chat", input: text, ...more })],
  [
    "messages",
    "/v1/messages",
    (text, more) => ({
      model: "sandbox/chat",
      max_tokens: 50,
      messages: [{ role: "user", content: text }],
      ...more,
    }),
  ],
  [
    "generate_content",
    "/v1beta/models/sandbox/chat:generateContent",
    (text, more) => ({ contents: [{ role: "user", parts: [{ text }] }], ...more }),
  ],
  [
    "embeddings",
    "/v1/embeddings",
    (text, more) => ({ model: "sandbox/embedding", input: text, ...more }),
  ],
];

/** A call of each text protocol with `text`, whole and streamed. */
export const inBothForms = (text: string) =>
  calls
    .filter(([endpoint]) => endpoint !== "embeddings")
    .flatMap(([endpoint, path, body]) => [
      { endpoint, path, body: body(text), stream: false },
      path.includes("generateContent")
        ? {
            endpoint,
            path: path.replace("generateContent", "streamGenerateContent?alt=sse"),
            body: body(text),
            stream: true,
          }
        : { endpoint, path, body: body(text, { stream: true }), stream: true },
    ]);

/** The same body with the secret words replaced. */
export const redacted = (body: object): object =>
  JSON.parse(JSON.stringify(body).replaceAll("secret words", "[gone]")) as object;

/** The log row of a call, once it is written. */
export const logged = (bench: Bench, id: string) =>
  eventually(
    async () =>
      (
        await bench.database.query<Record<string, unknown>>(
          "select * from request_log where id = $1",
          [id],
        )
      )[0],
    `the log's row of ${id}`,
  );

/** Throws if the ledger has differences. */
export async function expectBooks({ database }: Bench): Promise<void> {
  const differences = await verifyLedger(database);
  if (differences.length > 0) throw new Error(JSON.stringify(differences));
}

/** The number of charges in the ledger. */
export async function charges({ database }: Bench): Promise<number> {
  const [row] = await database.query<{ count: bigint }>(
    "select count(*) as count from ledger_entries where kind = 'charge'",
  );
  return Number(row!.count);
}
