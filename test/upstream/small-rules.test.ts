/** Small rules for requests to vendors that usual answers do not trigger. docs/routing.md; HOOK-07. */
import { describe, expect, it } from "vitest";
import { Slots } from "../../src/base/slots.ts";
import type { BodyConsumer, Exchange } from "../../src/upstream/exchange.ts";
import { checkAddress } from "../../src/upstream/guarded-address.ts";
import { brokenBy } from "../../src/upstream/http1/failures.ts";
import { IdleList } from "../../src/upstream/idle-list.ts";
import { awsHeaders, awsKeys } from "../../src/upstream/identity/aws.ts";
import {
  maskAnswer,
  BadAnswerError,
  ExchangeError,
  outcomeOfFailure,
  outcomeOfStatus,
  withoutCredentials,
} from "../../src/upstream/index.ts";
import { maskSecret } from "../../src/upstream/masking.ts";
import { createRooms } from "../../src/upstream/room.ts";
import { textTarget } from "../../src/upstream/target.ts";
import type { TextAsk } from "../../src/upstream/vendors/types.ts";
import {
  loadPackets,
  packetsAsEvents,
  streamType,
} from "../../src/upstream/vendors/bedrock-stream.ts";
import { bedrock } from "../../src/upstream/vendors/bedrock.ts";
import { costMs } from "../support/cost.ts";
import { asker, startRaw, resultOf, until, usePools } from "./http1-support.ts";
import { provider } from "./media-support.ts";

const key = "sk-proj-Ab3dEfGh1jKlMn0pQrStUvWxYz4567";
const withKey = () => ({
  ...provider("openai", "https://api.openai.com/v1"),
  credentials: [{ id: "one", apiKey: key, weight: 1 }],
});

describe("the masking of credentials", () => {
  it("finds starred and whole keys in any order", () => {
    const starred = `sk-proj-${"*".repeat(20)}4567`;
    expect(withoutCredentials(withKey(), `${starred}, not ${key}, nor ${starred}!`)).toBe(
      "[credential], not [credential], nor [credential]!",
    );
  });

  it("replaces adjacent pieces by one mark", () => {
    const pieces = `${key.slice(0, 8)}${key.slice(20, 28)}`;
    expect(withoutCredentials(withKey(), `key ${pieces} is wrong`)).toBe(
      "key [credential] is wrong",
    );
  });

  it("keeps the last four tokens of a provider, without duplicates", () => {
    const known = withKey();
    const token = (number: number) => `token-of-an-hour-${String(number).repeat(12)}`;
    maskSecret(known, token(1));
    for (let count = 0; count < 5; count += 1) maskSecret(known, token(2));
    expect(withoutCredentials(known, `${token(1)} ${token(2)}`)).toBe("[credential] [credential]");
    for (const number of [3, 4, 5]) maskSecret(known, token(number));
    expect(withoutCredentials(known, token(5))).toBe("[credential]");
  });

  it("returns an answer that is not a refusal unchanged", () => {
    const read = { state: "pending" } as const;
    expect(maskAnswer(withKey(), read as never)).toBe(read);
    const failed = { state: "failed", code: "x", message: `${key} is wrong` } as const;
    expect(maskAnswer(withKey(), failed)).toMatchObject({ message: "[credential] is wrong" });
  });
});

describe("a refusal or a failure", () => {
  it.each([
    [undefined, 5],
    [0, 5],
    [-7, 5],
    [7, 7],
  ])("with %s seconds in its body has a Retry-After of %i", (retryAfterSeconds, expected) => {
    const wire = { message: "Slow down.", retryAfterSeconds };
    const outcome = outcomeOfStatus({ status: 429, wire, headers: {} }, 0);
    expect(outcome.error.retryAfterSeconds).toBe(expected);
  });

  it("says why an answer cannot be used, but not how a connection broke", () => {
    const messageOf = (failure: "unreadable" | "too_large" | "broken") =>
      outcomeOfFailure(new ExchangeError(failure, "it is odd")).error.message;
    expect(messageOf("unreadable")).toBe("The provider's answer cannot be used: it is odd.");
    expect(messageOf("too_large")).toBe("The provider's answer cannot be used: it is odd.");
    expect(messageOf("broken")).toBe("The connection to the provider failed.");
  });

  it("T60: because of a model's output does not count against the provider's health", () => {
    const hurts = (isModels: boolean) => {
      const { fault, hurtsHealth } = outcomeOfFailure(
        new BadAnswerError("it is none", { isModels }),
      );
      return [fault, hurtsHealth];
    };
    expect(hurts(true)).toEqual(["provider", false]);
    expect(hurts(false)).toEqual(["provider", true]);
  });

  it("with its own message keeps it", () => {
    const error = new ExchangeError("idle_timeout", "silent for too long");
    expect(brokenBy(error, "api.example.com")).toBe(error);
    expect(brokenBy(new Error("x"), "api.example.com").failure).toBe("broken");
  });
});

describe("the target of a call", () => {
  const ask = (more: Partial<TextAsk>): TextAsk => ({
    provider: provider("google", "https://generativelanguage.googleapis.com/v1beta"),
    protocol: "generate_content",
    model: "gemini",
    stream: false,
    apiKey: "k",
    caller: {},
    ...more,
  });

  it("requests events from generateContent only if the call streams", () => {
    expect(textTarget(ask({}), {}).path).toMatch(/\/models\/gemini:generateContent$/);
    expect(textTarget(ask({ stream: true }), {}).path).toMatch(
      /\/models\/gemini:streamGenerateContent\?alt=sse$/,
    );
  });

  it("requests the right stream type for each protocol of Bedrock", () => {
    const { headers } = bedrock as { headers: (ask: TextAsk) => Record<string, string> };
    const amazon = provider("bedrock", "https://bedrock-runtime.us-east-1.amazonaws.com");
    const accepted = (more: Partial<TextAsk>) => headers(ask({ provider: amazon, ...more }));
    expect(accepted({ protocol: "converse", stream: true })).toEqual({
      accept: "application/vnd.amazon.eventstream",
    });
    expect(accepted({ protocol: "converse" })).toEqual({});
    expect(accepted({ protocol: "messages", stream: true })).toEqual({
      accept: "application/json",
    });
  });

  it("HOOK-07: may be a private address where these are allowed, and is parsed", async () => {
    const rule = { param: "base_url", allowPrivate: true } as Parameters<typeof checkAddress>[1];
    const { url, addresses } = await checkAddress("http://10.0.0.7:8080/v1", rule);
    expect([url.href, addresses]).toEqual(["http://10.0.0.7:8080/v1", []]);
  });
});

it("temporary keys of AWS send their session token in every request, and it is masked", async () => {
  const auth = {
    type: "aws",
    region: "us-east-1",
    service: "bedrock",
    accessKeyId: "AKIDEXAMPLE",
    secretAccessKey: "wJalrXUtnFEMI/K7MDENG",
  } as const;
  const dialRoutes = { dialRoute: () => ({ name: "" }) };
  const target = { origin: "https://bedrock.example.com", path: "/model/x/converse", headers: {} };
  const temporary = await awsKeys({ ...auth, sessionToken: "session-of-an-hour" }, dialRoutes);
  expect(temporary.value.secrets).toEqual([auth.secretAccessKey, "session-of-an-hour"]);
  expect(await awsHeaders(temporary.value, target, "{}")).toMatchObject({
    "x-amz-security-token": "session-of-an-hour",
  });
  const own = await awsKeys(auth, dialRoutes);
  expect(own.value.secrets).toEqual([auth.secretAccessKey]);
  expect(await awsHeaders(own.value, target, "{}")).not.toHaveProperty("x-amz-security-token");
});

it("a connection that breaks during its quiet time is not reused", () => {
  const list = new IdleList<string>(100);
  list.release("broken", 0);
  list.release("well", 0);
  list.remove("broken");
  expect([list.take(1_000), list.take(1_000)]).toEqual(["well", undefined]);
});

it("pausing, resuming and aborting a framed stream is passed to its connection", async () => {
  const calls: string[] = [];
  const below = {
    status: 200,
    headers: { "content-type": streamType },
    pause: () => calls.push("pause"),
    resume: () => calls.push("resume"),
    abort: () => calls.push("abort"),
  } as unknown as Exchange;
  const events = await packetsAsEvents(below);
  expect(events).not.toBe(below);
  events.pause();
  events.resume();
  events.abort();
  expect(calls).toEqual(["pause", "resume", "abort"]);
});

it("a frame in many reads takes linear time, and its waiting bytes are reported", async () => {
  const { EventStreamCodec } = await loadPackets();
  const codec = new EventStreamCodec(
    (bytes) => Buffer.from(bytes as Uint8Array).toString("utf8"),
    (text) => Buffer.from(text, "utf8"),
  );
  const body = Buffer.from(JSON.stringify({ text: "x".repeat(8_000_000) }));
  const value = (text: string) => ({ type: "string", value: text }) as const;
  const frame = Buffer.from(
    codec.encode({
      headers: { ":message-type": value("event"), ":event-type": value("said") },
      body,
    }),
  );
  let length = 0;
  let waiting: number[] = [];
  const consumer = {
    data: (chunk: Buffer) => (length += chunk.length),
    onPartialFrame: (bytes: number) => void waiting.push(bytes),
    end() {},
    fail() {},
  };
  const read = async (): Promise<void> => {
    waiting = [];
    const below = {
      headers: { "content-type": streamType },
      consume(reader: BodyConsumer) {
        for (let at = 0; at < frame.length; at += 1_000)
          reader.data(frame.subarray(at, at + 1_000));
        reader.end();
      },
    } as unknown as Exchange;
    (await packetsAsEvents(below)).consume(consumer);
  };
  // An earlier version joined the buffers at each read, and copied 32 GB.
  expect(await costMs(read)).toBeLessThan(2_000);
  expect(length).toBeGreaterThan(8_000_000);
  expect(waiting.slice(0, 2)).toEqual([1_000, 2_000]);
  expect(Math.max(...waiting)).toBeGreaterThan(frame.length - 1_000);
  expect(waiting.at(-1)).toBe(0);
});

describe("the limit on connections", () => {
  it("counts a connection to this process twice, because both ends are here", () => {
    const slots = new Slots(4);
    const roomOf = createRooms({ slots, ownOrigin: "http://own" }, () => false);
    const [own, other] = [roomOf("http://own"), roomOf("http://other")];
    expect([own.take(), slots.taken]).toEqual([true, 2]);
    expect([other.take(), slots.taken]).toEqual([true, 3]);
    expect([own.take(), slots.taken]).toEqual([false, 3]);
    own.give();
    expect(slots.taken).toBe(1);
  });

  it("closes an idle connection of another origin to make room, but not one in use", async () => {
    const answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi";
    const [one, other] = [
      await startRaw((socket) => socket.write(answer)),
      await startRaw(() => undefined),
    ];
    const slots = new Slots(1);
    const pools = usePools({ quietMs: 0, slots });
    expect(await resultOf(asker(one.url, pools)())).toMatchObject({ body: "hi" });
    const waiting = resultOf(asker(other.url, pools)());
    await until(() => other.requests.length === 1);
    expect(slots.taken).toBe(1);
    expect(await resultOf(asker(one.url, pools)())).toMatchObject({ failure: "shortage" });
    expect(one.requests).toHaveLength(1);
    await pools.close();
    expect(await waiting).toMatchObject({ failure: "broken" });
  });
});
