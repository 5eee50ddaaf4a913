/** Limits of a key, its member and its workspace: which calls are refused, the messages, and the headers of every answer. LIM-17. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import {
  changeKey,
  changeMember,
  changeWorkspace,
  type RateLimits,
} from "../../src/tenancy/index.ts";
import { eventually } from "../support/patience.ts";
import { json } from "../support/recorder.ts";
import { chat, eachProtocol } from "../rows/protocols.ts";
import { answering, startWorld, type World } from "../rows/world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());
beforeEach(() => world.answer(answering));

async function limitedKey(limits: Partial<RateLimits>) {
  return world.makeKey({ rateLimits: limits });
}

/** The rate limit headers, without their prefix. */
const rateHeaders = (answer: Response): Record<string, string> =>
  Object.fromEntries(
    [...answer.headers]
      .filter(([name]) => name.startsWith("x-ratelimit-"))
      .map(([name, value]) => [name.slice("x-ratelimit-".length), value]),
  );
/** The refusal in each protocol. */
const refusalIn = {
  chat: { type: "rate_limit_error", code: "rate_limit_exceeded" },
  responses: { code: "rate_limit_exceeded" },
  messages: { type: "rate_limit_error" },
  generate_content: { code: 429, status: "RESOURCE_EXHAUSTED" },
};
const upstreamCalls = () => world.first.requests.length + world.second.requests.length;

describe("a limit of requests a minute", () => {
  it.each(eachProtocol)(
    "LIM-17: the first request above it gets 429 in its protocol's error format, and no provider is called (%s)",
    async (_name, protocol) => {
      const { key } = await limitedKey({ requestsPerMinute: 3 });
      for (const stream of [false, true, false]) {
        const answer = await world.call(protocol, { key, stream });
        expect(answer.status).toBe(200);
        await answer.text();
      }
      const before = upstreamCalls();
      const answer = await world.call(protocol, { key });
      expect(answer.status).toBe(429);
      const seconds = Number(answer.headers.get("retry-after"));
      expect(seconds).toBeGreaterThan(50);
      expect(seconds).toBeLessThanOrEqual(61);
      expect(rateHeaders(answer)).toMatchObject({
        "limit-requests": "3",
        "remaining-requests": "0",
      });
      const { error } = (await answer.json()) as { error: Record<string, unknown> };
      expect(error["message"]).toContain("3 requests a minute");
      expect(error).toMatchObject(refusalIn[protocol.name]);
      expect(upstreamCalls()).toBe(before);
    },
  );

  it("LIM-17: every answer, also an error, reports the limit, what remains and the reset time", async () => {
    const { key } = await limitedKey({ requestsPerMinute: 5 });
    const first = await world.call(chat, { key });
    await first.text();
    expect(rateHeaders(first)).toEqual({
      "limit-requests": "5",
      "remaining-requests": "4",
      "reset-requests": expect.stringMatching(/^(1m[01]s|5\ds)$/),
    });
    const streamed = await world.call(chat, { key, stream: true });
    await streamed.text();
    expect(rateHeaders(streamed)).toMatchObject({ "remaining-requests": "3" });
    const missing = await world.call(chat, { key, model: "acme/none" });
    expect(missing.status).toBe(404);
    expect(rateHeaders(missing)).toMatchObject({ "remaining-requests": "2" });
    world.answer(json({ error: { message: "down" } }, 500));
    const failed = await world.call(chat, { key });
    expect(failed.status).toBe(502);
    expect(rateHeaders(failed)).toMatchObject({ "remaining-requests": "1" });
  });

  it("a key without limits gets no rate limit headers, and another key's limit does not apply to it", async () => {
    const { key } = await limitedKey({ requestsPerMinute: 1 });
    await (await world.call(chat, { key })).text();
    expect((await world.call(chat, { key })).status).toBe(429);
    const answer = await world.call(chat);
    expect(answer.status).toBe(200);
    expect(rateHeaders(answer)).toEqual({});
  });

  it("a changed limit applies to the next request, and earlier use still counts", async () => {
    const { key, record } = await limitedKey({ requestsPerMinute: 1 });
    await (await world.call(chat, { key })).text();
    expect((await world.call(chat, { key })).status).toBe(429);
    const context = { database: world.gateway.database, clock: systemClock };
    await changeKey(context, { id: record.id }, { rateLimits: { requestsPerMinute: 2 } });
    const raised = await world.call(chat, { key });
    expect(raised.status).toBe(200);
    expect(rateHeaders(raised)).toMatchObject({ "limit-requests": "2", "remaining-requests": "0" });
    await changeKey(context, { id: record.id }, { rateLimits: null });
    expect((await world.call(chat, { key })).status).toBe(200);
  });

  it("a hundred concurrent requests: exactly as many as the limit are admitted", async () => {
    const { key } = await limitedKey({ requestsPerMinute: 20 });
    const answers = await Promise.all(
      Array.from({ length: 100 }, async () => {
        const answer = await world.call(chat, { key });
        await answer.text();
        return answer.status;
      }),
    );
    expect(answers.filter((status) => status === 200)).toHaveLength(20);
    expect(answers.filter((status) => status === 429)).toHaveLength(80);
  });

  it("task, image and video requests count too, even if they fail", async () => {
    const { key } = await limitedKey({ requestsPerMinute: 2 });
    const headers = { authorization: `Bearer ${key}` };
    const paths = ["/v1/tasks", "/v1/images/generations", "/v1/videos/generations"];
    const [first, second, third] = await Promise.all(
      paths.map((path) => world.gateway.post(path, { model: "acme/none", prompt: "x" }, headers)),
    );
    expect(rateHeaders(first!)).toMatchObject({ "limit-requests": "2" });
    const statuses = [first!, second!, third!].map(({ status }) => status);
    expect(statuses.filter((status) => status === 429)).toHaveLength(1);
  });
});

describe("a limit of tokens a minute", () => {
  it("LIM-17: once its tokens are used up, the next call is refused; failed calls use no tokens", async () => {
    const { key } = await limitedKey({ tokensPerMinute: 300 });
    // Each answer used 120 tokens.
    for (const left of [180, 60]) {
      const answer = await world.call(chat, { key });
      expect(answer.status).toBe(200);
      await answer.text();
      const next = await world.call(chat, { key, model: "acme/none" });
      expect(rateHeaders(next)).toMatchObject({
        "limit-tokens": "300",
        "remaining-tokens": String(left),
      });
    }
    world.answer(json({ error: { message: "down" } }, 500));
    expect((await world.call(chat, { key })).status).toBe(502);
    world.answer(answering);
    const last = await world.call(chat, { key });
    expect(last.status).toBe(200);
    await last.text();
    const refused = await world.call(chat, { key });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(rateHeaders(refused)).toMatchObject({ "remaining-tokens": "0" });
    expect(rateHeaders(refused)["reset-tokens"]).toMatch(/^(1m[01]s|\d+s)$/);
    expect(((await refused.json()) as { error: { message: string } }).error.message).toContain(
      "300 tokens a minute",
    );
  });

  it("a request that alone exceeds it is refused with `x-should-retry: false`, and no provider is called", async () => {
    const { key } = await limitedKey({ tokensPerMinute: 50 });
    const content = "word ".repeat(1_000);
    const answer = await world.call(chat, {
      key,
      extra: { messages: [{ role: "user", content }] },
    });
    expect(answer.status).toBe(429);
    expect(answer.headers.get("x-should-retry")).toBe("false");
    expect(upstreamCalls()).toBe(0);
  });
});

describe("a limit of concurrent calls", () => {
  it("refuses calls above it, and admits a call again once a client has disconnected", async () => {
    const { key } = await limitedKey({ concurrency: 2 });
    const waiting: (() => void)[] = [];
    world.answer((request, response) => {
      waiting.push(() => void answering(request, response));
    });
    const leaving = new AbortController();
    const first = world.call(chat, { key });
    const second = fetch(new URL(chat.path(chat.model, false), world.gateway.url), {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(chat.body(chat.model, false)),
      signal: leaving.signal,
    });
    second.catch(() => undefined);
    await eventually(() => (waiting.length === 2 ? true : undefined), "two under way");
    const refused = await world.call(chat, { key });
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(await refused.text()).toContain("2 calls at once");
    leaving.abort();
    world.answer(answering);
    await eventually(async () => {
      const answer = await world.call(chat, { key });
      await answer.text();
      return answer.status === 200 ? true : undefined;
    }, "a place");
    for (const release of waiting) release();
    expect((await first).status).toBe(200);
  });

  it("admits every one of several sequential calls, streamed or not", async () => {
    const { key } = await limitedKey({ concurrency: 1 });
    world.answer(answering);
    for (let count = 0; count < 6; count += 1) {
      const answer = await world.call(chat, { key, stream: count % 2 === 1 });
      expect(answer.status).toBe(200);
      await answer.text();
    }
  });

  it("a call that it refuses takes nothing from the key's other limits", async () => {
    const { key } = await limitedKey({ concurrency: 1, requestsPerMinute: 10 });
    let release = (): void => undefined;
    world.answer((request, response) => {
      release = () => void answering(request, response);
    });
    const running = world.call(chat, { key });
    await eventually(() => (upstreamCalls() === 1 ? true : undefined), "one under way");
    for (let count = 0; count < 5; count += 1)
      expect((await world.call(chat, { key })).status).toBe(429);
    release();
    await (await running).text();
    world.answer(answering);
    const next = await eventually(async () => {
      const answer = await world.call(chat, { key });
      return answer.status === 200 ? answer : undefined;
    }, "a place");
    expect(rateHeaders(next)).toMatchObject({ "remaining-requests": "8" });
  });
});

describe("the limits of a member and of a workspace", () => {
  const context = () => ({ database: world.gateway.database, clock: systemClock });

  it("a member's limit counts the use of all the member's keys; the headers report the limit with the least left", async () => {
    const { workspaceId, database } = world.gateway;
    const [member] = await database.query<{ user_id: string }>("select user_id from members");
    const createdBy = member!.user_id;
    const own = await world.makeKey({ createdBy, rateLimits: { requestsPerMinute: 100 } });
    const other = await world.makeKey({ createdBy });
    const reference = { workspaceId, userId: createdBy };
    await changeMember(context(), reference, { rateLimits: { requestsPerMinute: 3 } });
    const first = await world.call(chat, { key: own.key });
    expect(rateHeaders(first)).toMatchObject({ "limit-requests": "3", "remaining-requests": "2" });
    expect((await world.call(chat, { key: other.key })).status).toBe(200);
    expect((await world.call(chat, { key: other.key })).status).toBe(200);
    const refused = await world.call(chat, { key: own.key });
    expect(refused.status).toBe(429);
    expect(await refused.text()).toContain("The member's limit of 3 requests a minute");
    await changeMember(context(), reference, { rateLimits: null });
    // A call that the member's limit refused does not count against the key.
    const answer = await world.call(chat, { key: own.key });
    expect(rateHeaders(answer)).toMatchObject({
      "limit-requests": "100",
      "remaining-requests": "98",
    });
  });

  it("a workspace's token limit applies to keys without an owner too", async () => {
    const { key, record } = await world.makeKey({ createdBy: null });
    await changeWorkspace(context(), record.workspaceId, { rateLimits: { tokensPerMinute: 200 } });
    const statuses: number[] = [];
    for (let count = 0; count < 3; count += 1) {
      const answer = await world.call(chat, { key });
      statuses.push(answer.status);
      await answer.text();
    }
    // Each answer used 120 tokens.
    expect(statuses).toEqual([200, 200, 429]);
    await changeWorkspace(context(), record.workspaceId, { rateLimits: null });
    expect((await world.call(chat, { key })).status).toBe(200);
  });
});
