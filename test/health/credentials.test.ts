/** Which of a provider's keys is used, and when a refused one is used again. docs/routing.md. */
import { beforeEach, describe, expect, it } from "vitest";
import { defaultTimeouts, type Credential, type Provider } from "../../src/catalog/index.ts";
import {
  Credentials,
  defaultCredentialRules,
  type CredentialRefusal,
} from "../../src/routing/credentials.ts";
import { Health } from "../../src/routing/health.ts";

function providerOf(weights: Record<string, number>): Provider {
  const credentials = Object.entries(weights).map(([id, weight]): Credential => ({
    id,
    apiKey: `${id}-key`,
    weight,
  }));
  return {
    id: "up",
    dialect: "openai",
    baseUrl: "http://up",
    tier: "official",
    credentials,
    onDisconnect: "abort",
    timeouts: defaultTimeouts,
  };
}

const provider = providerOf({ a: 1, b: 3 });
const use = { provider, model: "talk" };
const other = { provider, model: "other" };
let keys: Credentials;
let drawn: number;
beforeEach(() => {
  drawn = 0;
  keys = new Credentials(defaultCredentialRules, () => drawn);
});

const pick = (nowMs: number, of = use) => keys.pick(of, nowMs).id;
const limited = (id: string, nowMs: number, retryAfterMs?: number) =>
  keys.refused(use, id, { of: "model", retryAfterMs }, nowMs);

it("keys share calls by weight", () => {
  const picked = Array.from({ length: 100 }, (_one, index) => {
    drawn = index / 100;
    return pick(0);
  });
  expect(picked.filter((id) => id === "a")).toHaveLength(25);
});

it("a credential that this gateway cannot get is tried again each half minute: nothing tells when it can", () => {
  const lacking = { of: "credential", isOwn: true } as const;
  let nowMs = 0;
  for (let count = 0; count < 6; count += 1) {
    keys.refused(use, "a", lacking, nowMs);
    expect(pick(nowMs + 29_999)).toBe("b");
    nowMs += 30_000;
    expect(pick(nowMs)).toBe("a");
  }
  // A vendor's refusal does not begin with the pause of the earlier ones.
  keys.refused(use, "a", { of: "credential" }, nowMs);
  expect(pick(nowMs + 60_000)).toBe("a");
});

describe("a rate limit of a key", () => {
  it("pauses the key for the vendor's time, at this model only", () => {
    limited("a", 0, 7_000);
    expect(pick(6_999)).toBe("b");
    expect(pick(7_000)).toBe("a");
    expect(pick(0, other)).toBe("a");
  });

  it("pauses the key for growing times if the vendor gives none", () => {
    let nowMs = 0;
    for (const pauseMs of [2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
      limited("a", nowMs);
      expect(pick(nowMs + pauseMs - 1)).toBe("b");
      nowMs += pauseMs;
      expect(pick(nowMs)).toBe("a");
    }
  });

  it("counts once for several calls refused at the same time", () => {
    for (let count = 0; count < 20; count += 1) limited("a", 0);
    expect(pick(2_000)).toBe("a");
  });

  it("pauses the key for at most an hour", () => {
    limited("a", 0, 86_400_000);
    expect(pick(3_600_000)).toBe("a");
  });
});

it("pauses no key under rules without a pause, whatever the vendor says", () => {
  const limited = { firstPauseMs: 0, pauseMsMax: 0 };
  const steady = new Credentials({ limited, refused: limited }, () => 0);
  steady.refused(use, "a", { of: "model", retryAfterMs: 7_000 }, 0);
  expect(steady.pick(use, 0).id).toBe("a");
});

it("a refused key is paused at every model of its provider", () => {
  keys.refused(use, "a", { of: "credential" }, 0);
  expect(pick(29_999)).toBe("b");
  expect(pick(29_999, other)).toBe("b");
  expect(pick(30_000, other)).toBe("a");
});

it("if all keys are paused, the one that is ready first is used, and the provider is not ready", () => {
  limited("a", 0, 9_000);
  limited("b", 0, 5_000);
  expect(keys.ready(use, 4_999)).toBe(false);
  expect(keys.readyAtMs(use, 0)).toBe(5_000);
  expect(pick(0)).toBe("b");
  expect(keys.ready(use, 5_000)).toBe(true);
});

it("a success of a call that began after the refusal ends the pause; an earlier one does not", () => {
  limited("a", 1_000, 9_000);
  keys.worked(use, "a", 999);
  expect(pick(2_000)).toBe("b");
  keys.worked(use, "a", 1_000);
  expect(pick(2_000)).toBe("a");
});

it("a pause does not apply to a new key under the same id", () => {
  const withKey = (id: string, apiKey: string) => ({
    provider: {
      ...provider,
      credentials: provider.credentials.map((one) => (one.id === id ? { ...one, apiKey } : one)),
    },
    model: "talk",
  });
  keys.refused(use, "b", { of: "credential" }, 0);
  const free = (of: typeof use) => keys.coolDown(of, "b", 0) === undefined;
  expect([free(use), free(withKey("b", "new")), free(withKey("a", "new"))]).toEqual([
    false,
    true,
    false,
  ]);
});

it("the end and the scope of a pause are reported while it lasts", () => {
  expect(keys.coolDown(use, "a", 0)).toBeUndefined();
  limited("a", 0, 7_000);
  expect(keys.coolDown(use, "a", 6_999)).toEqual({ endMs: 7_000, of: "model" });
  expect([keys.coolDown(use, "a", 7_000), keys.coolDown(other, "a", 0)]).toEqual([
    undefined,
    undefined,
  ]);
  keys.refused(use, "a", { of: "credential" }, 0);
  expect(keys.coolDown(use, "a", 0)).toEqual({ endMs: 30_000, of: "credential" });
});

it("health reports the longest pause of each key over the models, and nothing for keys in use", () => {
  let nowMs = 0;
  const health = new Health({ clock: { now: () => 1_000_000 + nowMs }, nowMs: () => nowMs });
  const refuse = (id: string, upstreamModel: string, credential: CredentialRefusal) =>
    health.unanswered(
      {
        provider,
        offer: { provider: "up", upstreamModel },
        credential: provider.credentials.find((one) => one.id === id)!,
        begunMs: 0,
      },
      { hurtsHealth: false, credential },
    );
  refuse("a", "talk", { of: "model", retryAfterMs: 5_000 });
  refuse("a", "other", { of: "model", retryAfterMs: 9_000 });
  expect(health.coolDowns(provider, ["talk", "other"])).toEqual(
    new Map([["a", { until: new Date(1_009_000).toISOString(), reason: "limited for other" }]]),
  );
  nowMs = 9_000;
  expect(health.coolDowns(provider, ["talk", "other"]).size).toBe(0);
  refuse("b", "talk", { of: "credential" });
  expect(health.coolDowns(provider, ["talk"]).get("b")).toMatchObject({ reason: "refused" });
});

it("a report of another gateway causes no pause where the rules have none", () => {
  const none = { firstPauseMs: 0, pauseMsMax: 0 };
  keys = new Credentials({ ...defaultCredentialRules, limited: none }, () => drawn);
  const report = { pauseMs: 60_000, endMs: 60_000 };
  keys.applyReport(use, "a", "model", { report, nowMs: 0 });
  expect(pick(0)).toBe("a");
  keys.applyReport(use, "a", "credential", { report, nowMs: 0 });
  expect(pick(0)).toBe("b");
});
