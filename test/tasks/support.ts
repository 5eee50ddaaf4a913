// Vendors that a test controls: a vendor with Ark's API, and configurations with several of them.
import type { ServerResponse } from "node:http";
import { startRecorder, type Recorded, type Recorder } from "../support/recorder.ts";
import { mp4 } from "../support/task-life.ts";

export type Reply = (response: ServerResponse, request: Recorded) => void;

const send =
  (status: number, body: unknown): Reply =>
  (response) =>
    void response
      .writeHead(status, { "content-type": "application/json" })
      .end(JSON.stringify(body));

/** Answers of a vendor, in Ark's format. */
export const says = {
  taken: (id: string) => send(200, { id }),
  running: send(200, { status: "running" }),
  canceled: send(200, {}),
  /** Answers a cancellation with 200, although the job was not canceled. */
  notCanceled: send(200, { error: { code: "InvalidAction", message: "It runs." } }),
  refused: (status: number, code = "Trouble", more: object = {}) =>
    send(status, { ...more, error: { code, message: "no" } }),
  /** Refuses with a Retry-After header. */
  throttled:
    (retryAfter: string, status = 429): Reply =>
    (response) =>
      void response
        .writeHead(status, { "content-type": "application/json", "retry-after": retryAfter })
        .end('{"error":{"code":"RateLimitExceeded","message":"no"}}'),
  /** Cuts the connection in the middle of an answer. */
  brokenOff: ((response) => {
    response.writeHead(200, { "content-length": 1000 });
    response.write("{", () => response.destroy());
  }) satisfies Reply,
  closed: ((response) => void response.destroy()) satisfies Reply,
  page: ((response) => void response.end("<html>")) satisfies Reply,
  nothing: (() => undefined) satisfies Reply,
} as const;

/** Accepts each job under a new id, as vendors do. */
export function saysTakenAnew(): Reply {
  let jobs = 0;
  return (response, request) => {
    jobs += 1;
    says.taken(`cgt-${jobs}`)(response, request);
  };
}

export interface ArkVendor extends Recorder {
  /** Answers that the job is done, with a video at this vendor. */
  readonly done: Reply;
  /** Sets the next answers to calls of this method, in order; the last one repeats. */
  plan(method: "POST" | "GET" | "DELETE", ...replies: Reply[]): void;
  /** Calls of this method so far, without downloads of videos. */
  calls(method: string): Recorded[];
  /** Forgets all calls and restores the default answers. */
  reset(): void;
}

/** A vendor that accepts every job, and reports it first as running, then as done. */
export async function startArkVendor(): Promise<ArkVendor> {
  const plans = new Map<string, Reply[]>();
  const takesAnew = saysTakenAnew();
  const recorder = await startRecorder((request, response) => {
    if (request.path.endsWith(".mp4")) {
      response.writeHead(200, { "content-type": "video/mp4", "content-length": mp4.length });
      return void response.end(mp4);
    }
    const replies = plans.get(request.method) ?? [];
    const reply = replies.length > 1 ? replies.shift() : replies[0];
    (reply ?? says.refused(500))(response, request);
  });
  const done = send(200, {
    status: "succeeded",
    content: { video_url: `${recorder.url}/made.mp4` },
    usage: { completion_tokens: 1000, total_tokens: 1000 },
    duration: 2,
  });
  const vendor: ArkVendor = {
    ...recorder,
    done,
    plan: (method, ...replies) => void plans.set(method, replies),
    calls: (method) =>
      recorder.requests.filter((one) => one.method === method && !one.path.endsWith(".mp4")),
    reset() {
      recorder.requests.length = 0;
      vendor.plan("POST", takesAnew);
      vendor.plan("GET", says.running, done);
      vendor.plan("DELETE", says.canceled);
    },
  };
  vendor.reset();
  return vendor;
}

/** A provider with one key, as a line of a configuration. */
export const oneKey = (id: string, vendor: Recorder): string =>
  `  - { id: ${id}, dialect: ark, base_url: "${vendor.url}/api/v3", api_key: key-of-${id} }`;

/** A video model at these providers, at 1 USD per thousand tokens; `:@price` uses them in this order. */
export const clipModel = (id: string, providers: readonly string[]): string => `
  - id: ${id}
    kind: video
    family: video-tokens
    offers:
${providers
  .map(
    (provider, index) =>
      `      - { provider: ${provider}, upstream_model: clip, price: { output_video_token: "${1000 + index}" } }`,
  )
  .join("\n")}`;

/** A configuration with these provider lines and models. */
export const configurationOf = (providers: readonly string[], models: readonly string[]): string =>
  `providers:\n${providers.join("\n")}\nmodels:${models.join("")}\n`;
