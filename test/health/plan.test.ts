/** The effect of health on a plan: who is left out and why, who is tried first, where sessions go. docs/routing.md. */
import { beforeEach, describe, expect, it } from "vitest";
import { manualClock } from "../support/manual-clock.ts";
import { parseUsd } from "../../src/base/money.ts";
import {
  defaultTimeouts,
  type Catalog,
  type Provider,
  type TextModel,
  type TextOffer,
} from "../../src/catalog/index.ts";
import {
  Health,
  openScope,
  parseModelId,
  plan,
  type HealthAttempt,
  type Plan,
  type PlanInput,
} from "../../src/routing/index.ts";
import { drawnScore, sessionDraw } from "../../src/routing/order.ts";

const names = ["a", "b", "c"] as const;
type Name = (typeof names)[number];

/** Offers in the order of their prices; `a` is the cheapest. */
const offers = names.map((provider, index): TextOffer => {
  const rate = parseUsd(`${index + 1}`);
  return { provider, protocol: "chat", upstreamModel: "up", price: { input: rate, output: rate } };
});
const providers = new Map(
  names.map((id): [string, Provider] => [
    id,
    {
      id,
      dialect: "openai-compatible",
      baseUrl: `http://${id}`,
      tier: "official",
      credentials: [{ id: "only", apiKey: "", weight: 1 }],
      onDisconnect: "abort",
      timeouts: defaultTimeouts,
    },
  ]),
);
const model: TextModel = {
  id: "acme/talk",
  kind: "text",
  created: 0,
  endpoints: ["chat_completions"],
  contextLength: 1000,
  maxOutputTokens: 100,
  reserveOutputTokens: 100,
  parameters: {},
  offers,
};
const catalog: Catalog = { models: new Map([[model.id, model]]), providers };
const startedMs = Date.parse("2026-11-20T08:00:00Z");

let health: Health;
let nowMs: number;
beforeEach(() => {
  nowMs = 0;
  health = new Health({ clock: manualClock(startedMs), nowMs: () => nowMs, random: () => 0 });
});

const offerOf = (name: Name) => offers[names.indexOf(name)]!;
const attemptAt = (name: Name): HealthAttempt => {
  const provider = providers.get(name)!;
  return { provider, offer: offerOf(name), credential: provider.credentials[0]!, begunMs: nowMs };
};
function breakDown(...down: Name[]) {
  for (const name of down)
    for (let count = 0; count < 5; count += 1)
      health.unanswered(attemptAt(name), { hurtsHealth: true });
}
const answer = (name: Name, firstTokenMs: number, tokensPerSecond = 100) =>
  health.succeeded(attemptAt(name), {
    stream: true,
    firstTokenMs,
    durationMs: firstTokenMs + 1_000,
    outputTokens: tokensPerSecond + 1,
  });

const planOf = (id: string, extra: Partial<PlanInput<"chat_completions">> = {}): Plan =>
  plan({
    catalog,
    entryPoint: "chat_completions",
    parsed: parseModelId(id),
    scope: { ...openScope },
    random: () => 0.5,
    health,
    stream: true,
    ...extra,
  });
const orderOf = (id: string, extra?: Partial<PlanInput<"chat_completions">>) =>
  planOf(id, extra)
    .offers.map(({ provider }) => provider)
    .join("");

describe("a failing provider", () => {
  it("is excluded, and the explanation says since when", () => {
    breakDown("a");
    const { offers: left, explanation } = planOf("acme/talk:@price");
    expect(left.map(({ provider }) => provider)).toEqual(["b", "c"]);
    expect(explanation.offers).toMatchObject([
      { provider: "a", excluded: "circuit open since 2026-11-20T08:00:00.000Z" },
      { provider: "b" },
      { provider: "c" },
    ]);
    expect(explanation.offers[1]).not.toHaveProperty("excluded");
  });

  it("stays a candidate if no other is left", () => {
    breakDown("a", "b", "c");
    expect(orderOf("acme/talk:@price")).toBe("abc");
    expect(orderOf("acme/talk:b")).toBe("b");
    const { explanation } = planOf("acme/talk:@price");
    expect(explanation.offers.every(({ excluded }) => excluded === undefined)).toBe(true);
  });

  it("comes last while it is probed, and is excluded again if the probe fails", () => {
    breakDown("a");
    nowMs = 5_000;
    expect(orderOf("acme/talk:@price")).toBe("abc");
    expect(health.admit(offerOf("a"), providers.get("a")!)).toBe(true);
    expect(orderOf("acme/talk:@price")).toBe("bca");
    breakDown("b");
    expect(orderOf("acme/talk:@price")).toBe("ca");
    health.unanswered(attemptAt("a"), { hurtsHealth: true });
    expect(orderOf("acme/talk:@price")).toBe("c");
  });

  it("T74: never brings in a provider outside of the scope", () => {
    breakDown("a");
    expect(orderOf("acme/talk", { scope: { ...openScope, pinnedProviders: [["a"]] } })).toBe("a");
  });

  it("is excluded until a credential is ready, if all were refused", () => {
    health.unanswered(attemptAt("a"), {
      hurtsHealth: false,
      credential: { of: "model", retryAfterMs: 7_000 },
    });
    const { explanation } = planOf("acme/talk:@price");
    expect(explanation.order).toEqual(["b/chat", "c/chat"]);
    expect(explanation.offers[0]).toMatchObject({
      excluded: "every credential is left alone until 2026-11-20T08:00:07.000Z",
    });
    nowMs = 7_000;
    expect(orderOf("acme/talk:@price")).toBe("abc");
  });

  it("is planned anew for each call, so that the next call sees its recovery", () => {
    breakDown("a", "b");
    const scope = { ...openScope };
    expect(orderOf("acme/talk:@price", { scope })).toBe("c");
    nowMs += 60_000;
    expect(orderOf("acme/talk:@price", { scope })).toBe("acb");
  });

  it("402 and callers' mistakes leave a provider in the plan", () => {
    for (let count = 0; count < 50; count += 1)
      health.unanswered(attemptAt("a"), { hurtsHealth: false });
    expect(orderOf("acme/talk:@price")).toBe("abc");
  });
});

describe("a provider whose pause is over", () => {
  beforeEach(() => breakDown("a"));

  it("is tried first where it would serve, and comes last during its probe", () => {
    nowMs = 5_000;
    expect(orderOf("acme/talk:@price")).toBe("abc");
    // The probe is in flight.
    expect(health.admit(offerOf("a"), providers.get("a")!)).toBe(true);
    expect(health.admit(offerOf("a"), providers.get("a")!)).toBe(false);
    expect(orderOf("acme/talk:@price")).toBe("bca");
  });

  it("is a last resort where it would not be tried first", () => {
    breakDown("c");
    nowMs = 5_000;
    expect(
      orderOf("acme/talk:@price", { scope: { ...openScope, preferredProviders: ["b"] } }),
    ).toBe("bac");
  });

  it("comes before excluded providers, which stay excluded, while it recovers", () => {
    breakDown("b", "c");
    nowMs = 5_000;
    health.succeeded(attemptAt("a"));
    breakDown("b", "c");
    expect(orderOf("acme/talk:@price", { random: () => 0.99 })).toBe("a");
  });

  it("gets a growing share of its calls while it recovers", () => {
    nowMs = 5_000;
    health.succeeded(attemptAt("a"));
    const share = () =>
      Array.from({ length: 100 }, (_one, index) =>
        orderOf("acme/talk:@price", { random: () => index / 100 }),
      ).filter((order) => order.startsWith("a")).length;
    expect(share()).toBe(10);
    nowMs += 10_000;
    expect(share()).toBe(50);
    expect(orderOf("acme/talk:@price", { random: () => 0.99 })).toBe("bca");
    nowMs += 10_000;
    expect(share()).toBe(100);
  });
});

describe("sessions", () => {
  const sessions = Array.from({ length: 200 }, (_one, index) => `session ${index}`);
  const placed = () =>
    new Map(sessions.map((session) => [session, orderOf("acme/talk", { session })[0]!]));
  const moved = (before: Map<string, string>, after: Map<string, string>) =>
    sessions.filter((session) => before.get(session) !== after.get(session));

  it("move only from a failed provider, each to one other provider, whatever the random draw", () => {
    const before = placed();
    breakDown("b");
    const after = placed();
    const ofB = sessions.filter((session) => before.get(session) === "b");
    expect(ofB.length).toBeGreaterThan(30);
    expect(moved(before, after)).toEqual(ofB);
    for (const random of [() => 0.01, () => 0.99])
      for (const session of ofB)
        expect(orderOf("acme/talk", { session, random })[0]).toBe(after.get(session));
  });

  it("go back one by one as the provider's share grows, each once and all of them", () => {
    const before = placed();
    breakDown("b");
    const away = placed();
    nowMs = 5_000;
    health.succeeded(attemptAt("b"));
    let out = moved(before, placed());
    expect(out.length).toBeLessThan(moved(before, away).length);
    for (; nowMs <= 25_000; nowMs += 1_000) {
      const still = moved(before, placed());
      expect(still.filter((session) => !out.includes(session))).toEqual([]);
      out = still;
    }
    expect(out).toEqual([]);
  });

  it("go back evenly, half of them by half of the provider's share", () => {
    const draws = sessions.map((session) => sessionDraw(session, "b"));
    for (const share of [0.25, 0.5, 0.75])
      expect(draws.filter((draw) => draw < share).length / draws.length).toBeCloseTo(share, 1);
  });

  it("stay at their new provider while the old one is probed", () => {
    breakDown("b");
    const away = placed();
    nowMs = 5_000;
    expect(health.admit(offerOf("b"), providers.get("b")!)).toBe(true);
    expect(moved(away, placed())).toEqual([]);
  });

  it("are placed the same by another node and by a restarted one", () => {
    const before = placed();
    health = new Health({ clock: manualClock(startedMs) });
    expect(moved(before, placed())).toEqual([]);
  });
});

describe("the strategies that use measurements", () => {
  it("order by the first token for latency, and by writing speed for throughput", () => {
    answer("a", 900, 300);
    answer("b", 100, 50);
    answer("c", 400, 100);
    expect(orderOf("acme/talk:@latency")).toBe("bca");
    expect(orderOf("acme/talk:@throughput")).toBe("acb");
    // There are no measurements of whole answers.
    expect(orderOf("acme/talk:@latency", { stream: false })).toBe("abc");
  });

  it("weigh newer calls more", () => {
    answer("a", 100);
    answer("b", 200);
    expect(orderOf("acme/talk:@latency")).toBe("abc");
    nowMs += 120_000;
    for (let count = 0; count < 3; count += 1) answer("a", 900);
    answer("b", 200);
    expect(orderOf("acme/talk:@latency")).toBe("bac");
  });

  it("try a provider without measurements first now and then, and otherwise last (latency)", () => {
    answer("a", 500);
    answer("c", 100);
    expect(orderOf("acme/talk:@latency")).toBe("cab");
    expect(orderOf("acme/talk:@latency", { random: () => 0.05 })).toBe("bca");
    // Old measurements are discarded.
    nowMs += 300_000;
    answer("c", 100);
    expect(orderOf("acme/talk:@latency")[0]).toBe("c");
    expect(orderOf("acme/talk:@latency", { random: () => 0.05 })[0]).not.toBe("c");
  });

  it("put a provider without measurements last (throughput)", () => {
    answer("b", 500, 50);
    answer("c", 100, 100);
    expect(orderOf("acme/talk:@throughput")).toBe("cba");
    expect(orderOf("acme/talk:@throughput", { random: () => 0.05 })).toBe("acb");
  });

  it("put a weight of 0 last, whatever the random draw", () => {
    const offer = { ...offerOf("a"), weight: 0 };
    const drawn = { offer, among: [offer], price: 1n, health: undefined };
    for (const draw of [0, 0.5])
      expect(drawnScore({ ...drawn, random: () => draw })).toBe(Infinity);
  });

  it("still respect preferred providers and constraints", () => {
    answer("a", 100);
    answer("b", 500);
    answer("c", 900);
    const scope = { ...openScope, preferredProviders: ["c"], pinnedProviders: [["b", "c"]] };
    expect(orderOf("acme/talk:@latency", { scope })).toBe("cb");
  });

  it("prefer cheaper providers, less so if they sometimes fail (balanced)", () => {
    // A uniform sequence, the same in each run.
    const firsts = () => {
      let state = 1;
      const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
      return Array.from({ length: 1_000 }, () => orderOf("acme/talk", { random })).filter(
        ([first]) => first === "a",
      ).length;
    };
    // The weights are 1, 1/4 and 1/9.
    expect(firsts()).toBeGreaterThan(690);
    for (let count = 0; count < 20; count += 1) {
      health.unanswered(attemptAt("a"), { hurtsHealth: true });
      for (let good = 0; good < 2; good += 1) health.succeeded(attemptAt("a"));
    }
    // The weights are 4/9, 1/4 and 1/9.
    expect(firsts()).toBeGreaterThan(480);
    expect(firsts()).toBeLessThan(620);
  });
});
