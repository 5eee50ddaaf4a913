/**
 * Mixed load on an installation: whole and streamed texts, pictures, and videos as tasks with callbacks. Records the result of
 * each call.
 */
import { eventually } from "../../support/patience.ts";
import type { World } from "./world.ts";

export type Kind = "whole" | "stream" | "picture";

export interface Answered {
  readonly kind: Kind;
  /** The call's id. */
  readonly id: string;
  /** The cost, from the tokens that the answer reports. */
  readonly priceNano: bigint;
}

export interface TrafficResults {
  begun: number;
  /** Calls whose answer came whole. */
  readonly answered: Answered[];
  /** Unsuccessful answers, counted by status and code. */
  readonly refused: Map<string, number>;
  /** Connections that were refused or cut, and streams without an end. */
  cut: number;
  /** Ids of the accepted tasks, by name. */
  readonly tasks: Map<string, string>;
}

/** Troubles that calls and tasks ask the sandbox to simulate. */
export interface Troubles {
  readonly call?: object;
  readonly task?: object;
}

const perSecond = 24;
const tickMs = 40;
/** Price of each text: 100 input and 50 output tokens at USD 0.50 and 2 per million. */
const textNano = 150_000n;
/** Price of a picture: USD 1 per million of all tokens. */
const pictureNano = (text: string): bigint =>
  1_000n * BigInt((JSON.parse(text) as { usage: { total_tokens: number } }).usage.total_tokens);
const usage = { input: 100, output: 50 };
let names = 0;

export interface Traffic {
  readonly seen: TrafficResults;
  /** Applies from the next call on. */
  troubles: Troubles;
  /** Resolves when as many more calls have begun as begin in `ms` milliseconds. */
  lasts(ms: number): Promise<void>;
  /** Begins no more calls, and resolves when all have ended. */
  end(): Promise<void>;
}

/** Begins calls at a steady rate: of 24 calls, 22 are texts, one is a picture and one a task. */
export function startTraffic(world: World): Traffic {
  const seen: TrafficResults = {
    begun: 0,
    answered: [],
    refused: new Map(),
    cut: 0,
    tasks: new Map(),
  };
  const pending = new Set<Promise<void>>();
  const startedMs = performance.now();
  let begun = 0;
  const traffic: Traffic = {
    seen,
    troubles: {},
    async lasts(ms) {
      const enough = begun + (ms / 1000) * perSecond;
      await eventually(() => begun >= enough, `${ms} ms of calls`, ms + 60_000);
    },
    async end() {
      clearInterval(timer);
      await Promise.all(pending);
    },
  };
  const begin = (): void => {
    const due = ((performance.now() - startedMs) / 1000) * perSecond;
    for (; begun < due; begun += 1) {
      const at = begun % 24;
      const work = at === 12 ? task(world, traffic) : call(world, traffic, kindAt(at));
      const tracked = work.finally(() => pending.delete(tracked));
      pending.add(tracked);
    }
  };
  const timer = setInterval(begin, tickMs);
  return traffic;
}

const kindAt = (at: number): Kind => (at === 0 ? "picture" : at % 2 === 1 ? "whole" : "stream");

const post = (world: World, path: string, body: object, headers: Record<string, string> = {}) =>
  fetch(`${world.url}${path}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${world.key}`,
      ...headers,
    },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(60_000),
  });

const script = (troubles: object = {}): string => `#sandbox ${JSON.stringify(troubles)}`;

function bodyOf(kind: Kind, { call: troubles }: Troubles): [path: string, body: object] {
  if (kind === "picture")
    return [
      "/v1/images/generations",
      {
        model: "acme/picture",
        prompt: `a picture\n${script(troubles)}`,
        size: "64x64",
        quality: "low",
      },
    ];
  const answer = { reply: "a short answer", delay_ms: 30, chunk_delay_ms: 5, usage, ...troubles };
  return [
    "/v1/chat/completions",
    {
      model: "acme/talk",
      stream: kind === "stream",
      messages: [{ role: "user", content: `Hello\n${script(answer)}` }],
    },
  ];
}

async function call(world: World, { seen, troubles }: Traffic, kind: Kind): Promise<void> {
  seen.begun += 1;
  try {
    const response = await post(world, ...bodyOf(kind, troubles));
    const text = await response.text();
    if (response.status !== 200) return refuse(seen, response.status, text);
    const ending = kind === "stream" ? "data: [DONE]\n\n" : "}";
    if (text.endsWith(ending))
      seen.answered.push({
        kind,
        id: response.headers.get("x-request-id")!,
        priceNano: kind === "picture" ? pictureNano(text) : textNano,
      });
    else if (text.includes('"error"'))
      refuse(seen, "in a stream", text.slice(text.indexOf('"error"')));
    else seen.cut += 1;
  } catch {
    seen.cut += 1;
  }
}

/** Submits one task until it is accepted, with one idempotency key, as clients should. */
async function task(world: World, traffic: Traffic): Promise<void> {
  const { seen } = traffic;
  const name = `task-${(names += 1)}`;
  const body = {
    model: "acme/clip",
    prompt: `${name}\n${script({ task_seconds: 0.3, ...traffic.troubles.task })}`,
    duration: 2,
    webhook_url: world.webhookUrl,
  };
  seen.begun += 1;
  const headers = { "idempotency-key": name };
  const submit = async (): Promise<true | undefined> => {
    try {
      const response = await post(world, "/v1/tasks", body, headers);
      const text = await response.text();
      const { id } = JSON.parse(text) as { id?: string };
      if (response.ok && id !== undefined) seen.tasks.set(name, id);
      else if (response.status >= 500 || response.status === 409) return undefined;
      else refuse(seen, response.status, text);
      return true;
    } catch {
      // Retried.
      return undefined;
    }
  };
  await eventually(submit, `${name} is accepted`, 120_000, 500);
}

function refuse(seen: TrafficResults, status: number | string, text: string): void {
  const name = `${status} ${/"code":\s*"(\w+)"/.exec(text)?.[1] ?? "not ours"}`;
  seen.refused.set(name, (seen.refused.get(name) ?? 0) + 1);
}
