/**
 * Real answers of real vendors through a direct route: the caller gets the vendor's content under the canonical model id, and
 * is charged by the vendor's counts. Requirements: TXT; skipped if the recordings are not there.
 */
import { describe, expect, it } from "vitest";
import { eventually } from "../support/patience.ts";
import { createSseParser } from "../../src/base/sse.ts";
import { isLong } from "../support/long.ts";
import { countedIn, onTheWire, recordingsOf, usagesIn, type Recording } from "./recordings.ts";
import { modelOf, useBench, type Bench, type Body, type Protocol } from "./support.ts";

const question = { role: "user", content: "Hi" };

function requestFor(protocol: Protocol, stream: boolean): readonly [path: string, body: Body] {
  const model = modelOf(protocol);
  switch (protocol) {
    case "chat": {
      const options = stream ? { stream, stream_options: { include_usage: true } } : {};
      return ["/v1/chat/completions", { model, messages: [question], ...options }];
    }
    case "responses":
      return ["/v1/responses", { model, input: "Hi", stream }];
    case "messages":
      return ["/v1/messages", { model, max_tokens: 10, messages: [question], stream }];
    case "generate_content": {
      const method = stream ? "streamGenerateContent?alt=sse" : "generateContent";
      return [`/v1beta/models/${model}:${method}`, { contents: [{ parts: [{ text: "Hi" }] }] }];
    }
  }
}

/** Sends a recording through the gateway. */
async function replay(bench: Bench, recording: Recording, stream: boolean): Promise<Response> {
  const { gateway, upstream } = bench;
  upstream.answer((_request, reply) => {
    reply
      .writeHead(200, { "content-type": stream ? "text/event-stream" : "application/json" })
      .end(stream ? onTheWire(recording) : recording.events[0]);
  });
  return gateway.post(...requestFor(recording.protocol, stream));
}

/** The request-log row of an answer. */
function rowOf({ gateway }: Bench, reply: Response): Promise<Body> {
  const id = reply.headers.get("x-request-id");
  return eventually(async () => {
    const rows = await gateway.database.query<Body>("select * from request_log where id = $1", [
      id,
    ]);
    return rows[0];
  }, `the row of ${id} in the request log`);
}

const parsed = (text: string): Body => JSON.parse(text) as Body;
const isError = ({ events }: Recording): boolean =>
  "error" in parsed(events[0]!) && !("id" in parsed(events[0]!));

/** The answer that the caller must get, without the fields that `likeVendor` removes on both sides. */
function expectedWhole(protocol: Protocol, answer: Body): Body {
  if (protocol === "generate_content") return { ...answer, modelVersion: modelOf(protocol) };
  const renamed = { ...answer, model: modelOf(protocol) };
  if (protocol === "chat")
    return { ...renamed, usage: expectedChatUsage(answer["usage"] as object) };
  // Anthropic's SDKs require it.
  const isComplete = protocol !== "messages" || "stop_sequence" in answer;
  return isComplete ? renamed : { ...renamed, stop_sequence: null };
}

/** Totals as they are charged: reasoning is part of the output. */
function expectedChatUsage(usage: object): object {
  const { inputTokens, outputTokens } = countedIn("chat", [usage]);
  const total_tokens = inputTokens + outputTokens;
  return { ...usage, prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens };
}

/**
 * The gateway completes response objects to the Open Responses schema (missing fields, nulls that it does not allow). Only the
 * vendor's fields are compared, in their order. In other protocols every member is compared.
 */
function likeVendor(protocol: Protocol, answer: Body, vendor: Body): Body {
  if (protocol !== "responses") return answer;
  const names = Object.keys(answer).filter((name) => name in vendor);
  const said = names.map((name) => [name, vendor[name] === null ? null : answer[name]] as const);
  return withoutNullSecrets(Object.fromEntries(said));
}

/** `encrypted_content` is a text or absent, but some vendors send null. */
const withoutNullSecrets = (answer: Body): Body =>
  JSON.parse(JSON.stringify(answer), (name, value: unknown) =>
    name === "encrypted_content" && value === null ? undefined : value,
  ) as Body;

/** `%s` in a title is not shortened. */
const named = (recordings: readonly Recording[]) =>
  recordings.map((recording) => [recording.name, recording] as const);

/** In the short form every fourth. */
const some = (recordings: readonly Recording[]) =>
  recordings.filter((_one, index) => isLong || index % 4 === 0);

const wholes = recordingsOf("whole");
/** Three recorded streams are not plain answers, and have tests of their own. */
const unusual = ["duplicate-message-start", "spliced-message-start", "openai-error.1"];
const isUnusual = ({ name }: Recording) => unusual.some((part) => name.includes(part));
const allStreams = recordingsOf("stream");
const streams = allStreams.filter((recording) => !isUnusual(recording));

describe.skipIf(wholes.length === 0)("recorded answers (beside the repository only)", () => {
  const bench = useBench();

  it.each(named(some(wholes.filter((recording) => !isError(recording)))))(
    "TXT-10 TXT-11: reach the caller unchanged and are counted correctly: %s",
    async (_name, recording) => {
      const { protocol } = recording;
      const vendor = parsed(recording.events[0]!);
      const reply = await replay(bench, recording, false);
      expect(reply.status).toBe(200);
      const answer = (await reply.json()) as Body;
      const expected = expectedWhole(protocol, vendor);
      const compared = protocol === "responses" ? withoutNullSecrets(expected) : expected;
      // The text also shows the order of the members.
      expect(JSON.stringify(likeVendor(protocol, answer, vendor))).toBe(JSON.stringify(compared));
      const row = await rowOf(bench, reply);
      expect(row).toMatchObject({
        status: "succeeded",
        usage_source: "upstream",
        usage: countedIn(protocol, usagesIn(vendor)),
      });
    },
  );

  /** True if the vendor refuses our account, not the request: the caller must not read that. */
  const isOfAccount = ({ events: [text] }: Recording) => text!.includes("insufficient_quota");

  it.each(named(wholes.filter((one) => isError(one) && isOfAccount(one))))(
    "do not show the vendor's words if the vendor refuses our account: %s",
    async (_name, recording) => {
      bench.upstream.answer((_request, reply) => {
        reply.writeHead(429, { "content-type": "application/json" }).end(recording.events[0]);
      });
      const reply = await bench.gateway.post(...requestFor(recording.protocol, false));
      expect(reply.status).toBe(502);
      expect(await reply.text()).not.toMatch(/quota|billing/);
    },
  );

  it.each(named(wholes.filter((one) => isError(one) && !isOfAccount(one))))(
    "TXT-20: pass a refusal on unchanged: %s",
    async (_name, recording) => {
      const { gateway, upstream } = bench;
      const refusal = parsed(recording.events[0]!);
      upstream.answer((_request, reply) => {
        reply.writeHead(400, { "content-type": "application/json" }).end(recording.events[0]);
      });
      const reply = await gateway.post(...requestFor(recording.protocol, false));
      expect(reply.status).toBe(400);
      expect(await reply.json()).toEqual(refusal);
      expect(await rowOf(bench, reply)).toMatchObject({ status: "failed", cost_nano: 0n });
    },
  );
});

interface Frame {
  readonly event: string | undefined;
  readonly data: string;
}

async function framesOf(reply: Response): Promise<readonly Frame[]> {
  const parser = createSseParser();
  const bytes = new Uint8Array(await reply.arrayBuffer());
  return [...parser.push(bytes), ...parser.end()].map(({ event, data }) => ({ event, data }));
}

/** The frames that a caller must get of a recorded stream. */
function expectedFrames({ protocol, events }: Recording): Frame[] {
  switch (protocol) {
    case "chat":
      return expectedChunks(events.map(parsed));
    case "responses":
      return [...events.map(expectedNamed("responses")), { event: undefined, data: "[DONE]" }];
    case "messages":
      return events.map(expectedNamed("messages"));
    case "generate_content":
      return events.map((event) => ({
        event: undefined,
        data: JSON.stringify({ ...parsed(event), modelVersion: modelOf(protocol) }),
      }));
  }
}

const expectedNamed =
  (protocol: Protocol) =>
  (event: string): Frame => {
    const data = parsed(event);
    const { response, message, content_block: block } = data as Record<string, Body | undefined>;
    const model = modelOf(protocol);
    if (response) data["response"] = withoutNullSecrets({ ...response, model });
    if (message) data["message"] = { ...message, model };
    if (block?.["type"] === "thinking")
      data["content_block"] = { ...block, signature: block["signature"] ?? "" };
    return { event: data["type"] as string, data: JSON.stringify(data) };
  };

/** Usage comes once, in a chunk of its own at the end, whichever chunk the vendor had it in. */
function expectedChunks(chunks: readonly Body[]): Frame[] {
  const model = modelOf("chat");
  const toFrame = (chunk: Body): Frame => ({ event: undefined, data: JSON.stringify(chunk) });
  const isUsageOnly = (chunk: Body) =>
    isList(chunk["choices"]) && chunk["choices"].length === 0 && isSet(chunk["usage"]);
  const frames = chunks
    .filter((chunk) => !isUsageOnly(chunk))
    .map(({ usage: _told, ...chunk }) => toFrame({ ...chunk, model }))
    .map(numberingCalls());
  const last = chunks.findLast(({ usage }) => isSet(usage));
  if (last) frames.push(toFrame({ usage: expectedChatUsage(last["usage"] as object) }));
  return [...frames, { event: undefined, data: "[DONE]" }];
}

/** Calls are numbered from 0 in the order in which they begin; no recording has several choices with calls. */
function numberingCalls(): (frame: Frame) => Frame {
  const places = new Map<string, number>();
  const place = (told: string): number => {
    const known = places.get(told) ?? places.size;
    places.set(told, known);
    return known;
  };
  return ({ event, data }) => ({
    event,
    data: data.replace(/(?<="tool_calls":\[\{"index":)\d+/g, (told) => String(place(told))),
  });
}

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);
const isSet = (value: unknown): boolean => value !== null && value !== undefined;

/** A frame without the fields that the gateway adds to the vendor's. */
function comparable(protocol: Protocol, { event, data }: Frame, vendor: Body | undefined): Frame {
  if (data === "[DONE]") return { event, data };
  const body = parsed(data);
  if (protocol === "chat") {
    const { usage, ...chunk } = body;
    // The last chunk is there for its usage; elsewhere the key is null.
    return { event, data: JSON.stringify(isSet(usage) ? { usage } : chunk) };
  }
  if (vendor && !("sequence_number" in vendor)) delete body["sequence_number"];
  const { response } = body as { response?: Body };
  const said = vendor?.["response"] as Body | undefined;
  if (response && said) body["response"] = likeVendor(protocol, response, said);
  return { event, data: JSON.stringify(body) };
}

/** The first difference of two streams, because a diff of whole streams would be unreadable. */
function firstDifference(got: readonly Frame[], wanted: readonly Frame[]): object | undefined {
  const length = Math.max(got.length, wanted.length);
  for (let at = 0; at < length; at += 1) {
    const same = got[at]?.event === wanted[at]?.event && got[at]?.data === wanted[at]?.data;
    if (!same) return { at, got: got[at], wanted: wanted[at] };
  }
  return undefined;
}

describe.skipIf(streams.length === 0)("recorded streams (beside the repository only)", () => {
  const bench = useBench();

  it.each(named(some(streams)))(
    "TXT-10 TXT-11: reach the caller frame by frame and are counted correctly: %s",
    async (_name, recording) => {
      const { protocol, events } = recording;
      const reply = await replay(bench, recording, true);
      expect(reply.status).toBe(200);
      const frames = await framesOf(reply);
      const compared = frames.map((frame, at) =>
        comparable(
          protocol,
          frame,
          protocol === "responses" && events[at] ? parsed(events[at]) : undefined,
        ),
      );
      expect(firstDifference(compared, expectedFrames(recording))).toBeUndefined();
      const usages = events.map(parsed).flatMap(usagesIn);
      expect(await rowOf(bench, reply)).toMatchObject({
        status: "succeeded",
        ...(usages.length === 0
          ? { usage_source: "estimated" }
          : { usage_source: "upstream", usage: countedIn(protocol, usages) }),
      });
    },
  );

  const one = (part: string) => allStreams.find(({ name }) => name.includes(part))!;

  it("pass on once a start that a retrying proxy repeats", async () => {
    const recording = one("duplicate-message-start");
    const reply = await replay(bench, recording, true);
    const [start, , ...rest] = expectedFrames(recording);
    expect(await framesOf(reply)).toEqual([start, ...rest]);
    expect(await rowOf(bench, reply)).toMatchObject({
      status: "succeeded",
      usage: { inputTokens: 17, outputTokens: 227 },
    });
  });

  it("T16: end as an error and are not charged if the answer starts again in the middle", async () => {
    const recording = one("spliced-message-start");
    const reply = await replay(bench, recording, true);
    const frames = await framesOf(reply);
    expect(frames.slice(0, -1)).toEqual(expectedFrames(recording).slice(0, 7));
    expect(frames.at(-1)!.event).toBe("error");
    expect(await rowOf(bench, reply)).toMatchObject({ status: "failed", cost_nano: 0n });
  });

  it("T16 BILL-22: become an error with its status, and are not charged, if the response fails before it says anything", async () => {
    const recording = one("openai-error.1");
    const reply = await replay(bench, recording, true);
    // The account without money is the operator's, not the caller's.
    expect(reply.status).toBe(502);
    expect(await reply.json()).toMatchObject({ error: { code: "upstream_error" } });
    expect(await rowOf(bench, reply)).toMatchObject({ status: "failed", cost_nano: 0n });
  });
});
