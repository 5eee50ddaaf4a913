/**
 * A gateway with the fast path and one without: for any bytes in any pieces, both give the same answer, except for date and ids.
 * TXT-01 to TXT-04.
 */
import * as fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { answer, useWorld, type World } from "../hostile/support.ts";
import type { Answer } from "../support/recorder.ts";
import {
  bytesOf,
  closing,
  harmless,
  oddHeads,
  oddities,
  type Parts,
} from "./fast-path-oddities.ts";
import { openClient, pause, wholeAnswers } from "./fast-path-support.ts";

const receive = { headersMs: 20_000, requestMs: 20_000, checkMs: 1_000 };
const limits = "limits: { text_body_mb: 1 }\n";
const withFastPath = useWorld({ receive }, limits);
const withoutFastPath = useWorld({ receive, fastPath: false }, limits);

const user = [{ role: "user", content: "Grüße" }];
const calls: readonly (readonly [path: string, body: object])[] = [
  ["/v1/chat/completions", { model: "acme/talk", messages: user }],
  ["/v1/chat/completions", { model: "acme/talk", messages: user, stream: true }],
  ["/v1/chat/completions", { model: "acme/talk", messages: user, stream: "yes" }],
  ["/v1/chat/completions", { model: "acme/nothing", messages: user }],
  ["/v1/chat/completions", { model: "acme/on-chat", messages: user, no_such_field: 1 }],
  ["/v1/responses", { model: "acme/talk", input: "Hi" }],
  ["/v1/messages", { model: "acme/talk", max_tokens: 16, messages: user }],
  ["/v1/messages", { model: "acme/talk", messages: user }],
  ["/v1/embeddings", { model: "acme/talk", input: "Hi" }],
  ["/v1beta/models/acme/talk:generateContent", { contents: [{ parts: [{ text: "Hi" }] }] }],
  ["/v1beta/models/acme/talk:streamGenerateContent?alt=sse", { contents: [] }],
  ["/v1beta/models/acme/talk:generateContent?key=wrong", { contents: [] }],
  ["/v1beta/models/acme/talk%:generateContent", { contents: [] }],
  ["/v1beta/models/acme/talk:countTokens", { contents: [{ parts: [{ text: "Hi" }] }] }],
  ["/v1/models/acme%2Ftalk:generateContent", { contents: [{ parts: [{ text: "Hi" }] }] }],
  ["/v1beta/models/acme/talk%3Acount%54okens", { contents: [{ parts: [{ text: "Hi" }] }] }],
  ["/v1/messages/count_tokens", { model: "acme/talk", messages: user }],
  ["/v1/message%73?a=b", { model: "acme/talk", max_tokens: 16, messages: user }],
  ["/v1/chat%2Fcompletions", { model: "acme/talk", messages: user }],
  ["/v1/models", {}],
  ["/v1/nothing", {}],
];

/** The parts of a call as a plain request. */
function partsOf(path: string, body: object, key: string, padding = 0): Parts {
  const text = Buffer.from(JSON.stringify(body)).toString("latin1") + " ".repeat(padding);
  return {
    line: `POST ${path} HTTP/1.1`,
    headers: [
      "Host: gateway",
      `Authorization: Bearer ${key}`,
      "Content-Type: application/json",
      `Content-Length: ${text.length}`,
    ],
    body: text,
  };
}

/** Cuts `bytes` at fractions of their length. */
function cut(bytes: Buffer, shares: readonly number[]): Buffer[] {
  const at = [0, ...shares.map((share) => Math.floor(share * bytes.length)), bytes.length];
  at.sort((one, other) => one - other);
  return at
    .slice(1)
    .map((end, index) => bytes.subarray(at[index], end))
    .filter(({ length }) => length > 0);
}

interface Sent {
  readonly call: (typeof calls)[number];
  readonly changes: readonly ((parts: Parts) => Parts)[];
  readonly shares: readonly number[];
  /** Number of times it is sent on the same connection, each after the last answer. */
  readonly times: number;
  /** Number of spaces after the body's JSON. */
  readonly padding?: number;
  /** `cut`: the client leaves out the body's last byte. `request`: it sends another request directly after the body. */
  readonly ending?: "cut" | "request" | undefined;
  /** Number of answers to wait for. Undefined: one, and one more for the request after it. */
  readonly answers?: number;
}

/** The bytes of a request with its ending. */
function ended(bytes: Buffer, ending: Sent["ending"]): Buffer {
  if (ending === "cut") return bytes.subarray(0, -1);
  if (ending === undefined) return bytes;
  return Buffer.concat([bytes, Buffer.from(next)]);
}
const next = "GET /healthz HTTP/1.1\r\nHost: gateway\r\n\r\n";

/** A gateway's answers on one connection, without parts that vary. */
async function answerOf({ gateway }: World, sent: Sent): Promise<string> {
  const client = openClient(Number(new URL(gateway.url).port));
  const parts = partsOf(...sent.call, gateway.key, sent.padding);
  const whole = bytesOf(sent.changes.reduce((changed, change) => change(changed), parts));
  const bytes = ended(whole, sent.ending);
  for (let time = 1; time <= sent.times && !client.socket.destroyed; time += 1) {
    for (const piece of cut(bytes, sent.shares)) {
      if (client.socket.writable) client.socket.write(piece);
      if (sent.shares.length > 0) await pause(4);
    }
    if (sent.ending === "cut") break;
    const timer = setTimeout(() => client.socket.end(), 2_000);
    await client.until(
      (text) => wholeAnswers(text) >= time * (sent.answers ?? (sent.ending === "request" ? 2 : 1)),
    );
    clearTimeout(timer);
  }
  client.socket.end();
  const text = (await client.closed)
    .replaceAll(/^Date: .*$/gm, "Date")
    .replaceAll(/req_[0-9a-z]{26}/g, `req_${"0".repeat(26)}`);
  return sent.ending === "cut" ? withoutEarlyRefusal(text) : text;
}

/** Removes refusals before the last answer: only timing decides whether they are sent before a later fault is seen. */
function withoutEarlyRefusal(text: string): string {
  const answers = text.split(/(?=HTTP\/1\.1 )/);
  return answers.filter((one, at) => one.includes(" 200 ") || at === answers.length - 1).join("");
}

/** Compares both gateways' answers. Retries, because a broken connection may lose an answer. */
async function expectSame(sent: Sent): Promise<string> {
  const both = () => Promise.all([answerOf(withFastPath, sent), answerOf(withoutFastPath, sent)]);
  let [one, other] = await both();
  for (let more = 2; one !== other && more > 0; more -= 1) [one, other] = await both();
  expect(one).toBe(other);
  return one;
}

/** Answers streaming requests with a stream in one write. */
const streamed: Answer = (request, response) => {
  if (request.body["stream"] !== true) return answer(request, response);
  const frames = ["Grü", "ße"].map((content) => ({ choices: [{ index: 0, delta: { content } }] }));
  const end = { choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage };
  const data = [...frames, end].map((frame) => `data: ${JSON.stringify(frame)}\n\n`);
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(`${data.join("")}data: [DONE]\n\n`);
};
const usage = { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 };

beforeAll(() => {
  for (const { upstream } of [withFastPath, withoutFastPath]) upstream.answer(streamed);
});

describe("the fast path makes no difference", () => {
  it.each(calls)("to POST %s %j", async (...call) => {
    const text = await expectSame({ call, changes: [], shares: [], times: 3 });
    expect(wholeAnswers(text)).toBe(3);
  });

  it.each([...oddities, ...harmless, ...closing])("to a request with %s", async (_name, change) => {
    await expectSame({ call: calls[0]!, changes: [change], shares: [], times: 1 });
  });

  it.each(closing)("to %s with a request after it: only one answer", async (_name, change) => {
    const sent: Sent = {
      call: calls[0]!,
      changes: [change],
      shares: [],
      times: 1,
      ending: "request",
    };
    const text = await expectSame(sent);
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200"]);
  });

  it.each(["noise\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX : y\r\n\r\n"])(
    "to a request with malformed bytes after it: its answer, and then the refusal (%j)",
    async (behind) => {
      const text = await expectSame({
        call: calls[0]!,
        changes: [({ body, ...rest }) => ({ ...rest, body: body + behind })],
        shares: [],
        times: 1,
        answers: 2,
      });
      expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 400"]);
    },
  );

  it("to random combinations of these requests, cut into random pieces", async () => {
    const named = fc.constantFrom(...harmless, ...harmless, ...closing, ...oddHeads);
    const change = named.map(([, make]) => make);
    const whole = fc.record({
      call: fc.constantFrom(...calls),
      changes: fc.array(change, { maxLength: 2 }),
      shares: fc.constant([]),
      times: fc.integer({ min: 1, max: 2 }),
    });
    // Bodies larger than one read, than the limit of text bodies, and than a socket's buffers. A wrong key is refused early.
    const large = fc.record({
      call: fc.constantFrom(...calls),
      changes: fc.array(
        fc.constantFrom(...harmless, ...closing).map(([, make]) => make),
        { maxLength: 2 },
      ),
      padding: fc.constantFrom(1, 1_000, 70_000, 400_000, 1_200_000),
      shares: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 4 }),
      times: fc.integer({ min: 1, max: 2 }),
      ending: fc.constantFrom(undefined, undefined, "cut", "request"),
    });
    const inPieces = fc.record({
      call: fc.constantFrom(...calls),
      changes: fc.array(
        fc.constantFrom(...harmless, ...closing).map(([, make]) => make),
        { maxLength: 2 },
      ),
      shares: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 4 }),
      times: fc.integer({ min: 1, max: 2 }),
    });
    const eight = fc.array(fc.oneof(whole, inPieces, large), { minLength: 8, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(eight, async (all) => void (await Promise.all(all.map(expectSame)))),
      { numRuns: 25 },
    );
  });
});
