/** The effect of health on calls: which provider is asked, with which credential, and the log. docs/routing.md. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { changeKey } from "../../src/tenancy/index.ts";
import { eventually, patiently } from "../support/patience.ts";
import { json } from "../support/recorder.ts";
import { answering } from "../rows/world.ts";
import {
  configuration,
  failing,
  takeRequestCounts,
  names,
  startTrio,
  type Name,
  type Trio,
} from "./support.ts";

const options = { prices: { a: 1, b: 2, c: 3 }, twoKeys: true, models: 20 };
let trio: Trio;
beforeAll(async () => {
  trio = await startTrio(options);
});
afterAll(() => trio.close());

/** Each test has a model of its own, so that earlier failures do not affect it. */
let number = 0;
let byPrice = { model: "" };
beforeEach(() => {
  number += 1;
  byPrice = { model: `acme/talk-${number}:@price` };
  for (const name of names) trio.up[name].answer(answering);
  takeRequestCounts(trio);
});

async function calls(count: number, asked: Parameters<Trio["call"]>[0] = byPrice) {
  const statuses: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const answer = await trio.call(asked);
    await answer.text();
    statuses.push(answer.status);
  }
  return statuses;
}

describe("a circuit", () => {
  it("opens after five failures, and the log of later calls says why the provider was excluded", async () => {
    trio.up.a.answer(failing);
    expect(await calls(20)).toEqual(Array.from({ length: 20 }, () => 200));
    expect(takeRequestCounts(trio)).toEqual({ a: 5, b: 20, c: 0 });
    const answer = await trio.call(byPrice);
    await answer.text();
    const { explanation, attempts } = await trio.row(answer);
    expect(attempts).toMatchObject([{ provider: "b", outcome: "ok" }]);
    expect(explanation.plan.order).toEqual(["b/chat", "c/chat"]);
    expect(explanation.plan.offers[0]).toMatchObject({
      provider: "a",
      excluded: expect.stringMatching(/^circuit open since 2\d{3}-.*Z$/),
    });
  });

  it("does not exclude the only provider, which answers as soon as it can", async () => {
    trio.up.a.answer(failing);
    const pinned = { model: `acme/talk-${number}:a` };
    expect(new Set(await calls(6, pinned))).toEqual(new Set([502]));
    trio.up.a.answer(answering);
    expect(await calls(1, pinned)).toEqual([200]);
  });

  it("stays closed for callers' mistakes", async () => {
    trio.up.a.answer(json({ error: { message: "not like this" } }, 400));
    expect(new Set(await calls(10))).toEqual(new Set([400]));
    expect(takeRequestCounts(trio)).toEqual({ a: 10, b: 0, c: 0 });
  });

  it("stays closed when a caller names something unknown to the vendor", async () => {
    const message = "No thread found with id 'thread_1'.";
    trio.up.a.answer(json({ error: { message, type: "invalid_request_error" } }, 404));
    expect(new Set(await calls(10))).toEqual(new Set([404]));
    expect(takeRequestCounts(trio)).toEqual({ a: 10, b: 0, c: 0 });
    trio.up.a.answer(answering);
    const answer = await trio.call(byPrice);
    await answer.text();
    expect((await trio.row(answer)).attempts).toMatchObject([{ provider: "a", outcome: "ok" }]);
  });

  it("excludes no provider when all three fail: each call tries them, and the first recovered one answers", async () => {
    for (const name of names) trio.up[name].answer(failing);
    expect(new Set(await calls(8))).toEqual(new Set([502]));
    takeRequestCounts(trio);
    expect(await calls(1)).toEqual([502]);
    expect(takeRequestCounts(trio)).toEqual({ a: 1, b: 1, c: 1 });
    trio.up.c.answer(answering);
    expect(await calls(1)).toEqual([200]);
  });
});

describe("the credentials of a provider", () => {
  /** The credential of each request. */
  const keysAt = (name: Name) =>
    trio.up[name].requests.map(({ headers }) => headers.authorization?.replace("Bearer ", ""));
  /** Limits the rate of the first credential that arrives. */
  function limitFirst(headers: Record<string, string>) {
    let limited: string | undefined;
    trio.up.a.answer((request, response) => {
      limited ??= request.headers.authorization;
      const isLimited = request.headers.authorization === limited;
      const answer = isLimited ? json({ error: { message: "slow" } }, 429, headers) : answering;
      return answer(request, response);
    });
  }

  it("replace one that got 429 within the same call, until that one may be used again", async () => {
    limitFirst({ "retry-after": "60" });
    const answer = await trio.call(byPrice);
    expect(answer.status).toBe(200);
    await answer.text();
    const { attempts } = await trio.row(answer);
    expect(attempts).toMatchObject([
      { provider: "a", outcome: "rate_limit_exceeded" },
      { provider: "a", outcome: "ok" },
    ]);
    const [first, second] = keysAt("a");
    expect(new Set([first, second])).toEqual(new Set(["a-one", "a-two"]));
    await calls(10);
    expect(keysAt("a").slice(2)).toEqual(Array.from({ length: 10 }, () => second));
    expect(trio.up.b.requests).toHaveLength(0);
  });

  it.each([
    ["seconds", () => "3"],
    ["a date", () => new Date(Date.now() + 3_600).toUTCString()],
  ])("are used again after the time of Retry-After, given in %s", async (_what, retryAfter) => {
    limitFirst({ "retry-after": retryAfter() });
    await calls(1);
    trio.up.a.answer(answering);
    await calls(5);
    const limited = keysAt("a")[0];
    expect(keysAt("a").slice(1)).not.toContain(limited);
    await eventually(async () => {
      await calls(1);
      return keysAt("a").slice(6).includes(limited);
    }, "a call with the key that was limited");
  });

  it("a call gets 429 with the vendor's Retry-After when every provider limits its rate", async () => {
    const limited = json({ error: { message: "slow" } }, 429, { "retry-after": "7" });
    for (const name of names) trio.up[name].answer(limited);
    const answer = await trio.call(byPrice);
    expect(answer.status).toBe(429);
    expect(answer.headers.get("retry-after")).toBe("7");
  });
});

/** Changes the configuration file and waits until the gateway lists a model that only the new file has. */
async function reload(changed: Parameters<typeof configuration>[1], marker: string) {
  const path = join(trio.gateway.directory, "tollgate.yaml");
  writeFileSync(path, configuration(trio.up, changed));
  await vi.waitFor(
    async () => expect(await (await trio.gateway.get("/v1/models")).text()).toContain(marker),
    patiently,
  );
}

it("T74: a provider whose tier leaves the key's scope during a call is not a fallback", async () => {
  const { database } = trio.gateway;
  const [{ id }] = (await database.query("select id from api_keys")) as [{ id: string }];
  const context = { database, clock: systemClock };
  await changeKey(
    context,
    { id },
    {
      routing: { mode: "custom", supplyTiers: ["official"] },
      allowRequestOverride: true,
    },
  );
  trio.up.a.answer(async (request, response) => {
    await reload({ ...options, models: 21, tiers: { b: "community" } }, "acme/talk-21");
    await failing(request, response);
  });
  const answer = await trio.call(byPrice);
  expect(answer.status).toBe(200);
  expect((await trio.row(answer)).attempts.map(({ provider }) => provider)).toEqual(["a", "c"]);
  expect(takeRequestCounts(trio)).toEqual({ a: 1, b: 0, c: 1 });
  await reload({ ...options, models: 22 }, "acme/talk-22");
});

it("T74: an only provider whose tier leaves the key's scope during a call is not asked again", async () => {
  trio.up.a.answer(async (request, response) => {
    await reload({ ...options, models: 23, tiers: { a: "community" } }, "acme/talk-23");
    await failing(request, response);
  });
  const answer = await trio.call({ model: `acme/talk-${number}:a` });
  expect(answer.status).toBe(502);
  expect(takeRequestCounts(trio)).toEqual({ a: 1, b: 0, c: 0 });
  await reload({ ...options, models: 24 }, "acme/talk-24");
});

describe("credentials that are all refused", () => {
  it.each([403, 402])("lead to the next provider for a while, with %i", async (status) => {
    trio.up.a.answer(json({ error: { message: "no" } }, status));
    expect(await calls(5)).toEqual([200, 200, 200, 200, 200]);
    expect(takeRequestCounts(trio)).toEqual({ a: 2, b: 5, c: 0 });
    const answer = await trio.call(byPrice);
    await answer.text();
    const { explanation } = await trio.row(answer);
    expect(explanation.plan.offers[0]).toMatchObject({
      excluded: expect.stringContaining("every credential is left alone until"),
    });
  });
});
