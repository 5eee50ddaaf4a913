/**
 * A provider whose configuration changes counts as new: findings about the old one no longer apply. docs/routing.md "When one
 * fails".
 */
import { beforeEach, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { defaultTimeouts, type Provider } from "../../src/catalog/index.ts";
import { Health, HealthPeers, type HealthRow } from "../../src/routing/index.ts";

const offer = { provider: "up", upstreamModel: "talk" };
const before: Provider = {
  id: "up",
  dialect: "openai-compatible",
  baseUrl: "http://mistyped",
  tier: "official",
  credentials: [{ id: "only", apiKey: "sk-1", weight: 1 }],
  onDisconnect: "abort",
  timeouts: defaultTimeouts,
};
const elsewhere: Provider = { ...before, baseUrl: "http://right" };
const withKey = (apiKey: string): Provider => ({
  ...before,
  credentials: [{ id: "only", apiKey, weight: 1 }],
});

let nowMs: number;
let providers: ReadonlyMap<string, Provider>;
let health: Health;
const configure = (...all: readonly Provider[]): void => {
  providers = new Map(all.map((provider) => [provider.id, provider]));
};
beforeEach(() => {
  nowMs = 1_000;
  configure(before);
  health = new Health({ clock: systemClock, nowMs: () => nowMs, providers: () => providers });
});

const attempt = (provider: Provider, begunMs = nowMs) => ({
  provider,
  offer,
  credential: provider.credentials[0]!,
  begunMs,
});
function breakDown(provider: Provider, begunMs = nowMs): void {
  for (let count = 0; count < 5; count += 1)
    health.unanswered(attempt(provider, begunMs), { hurtsHealth: true });
}
const refuse = (provider: Provider): void =>
  health.unanswered(attempt(provider), {
    hurtsHealth: false,
    credential: { of: "credential" },
  });

it.each([
  ["another address", elsewhere],
  ["another key", withKey("sk-2")],
  ["another dialect", { ...before, dialect: "openai" } satisfies Provider],
])("an open circuit is closed by %s", (_name, after) => {
  breakDown(before);
  expect(health.availability(offer, before)).toBe("out");
  configure(after);
  expect(health.availability(offer, after)).toBe("ready");
  expect(health.admit(offer, after)).toBe(true);
});

it("a call begun before the change does not count for the new provider", () => {
  expect(health.admit(offer, before)).toBe(true);
  const begunMs = nowMs;
  nowMs += 10;
  configure(elsewhere);
  breakDown(before, begunMs);
  expect(health.availability(offer, elsewhere)).toBe("ready");
  breakDown(elsewhere);
  expect(health.availability(offer, elsewhere)).toBe("out");
});

it("an unchanged reload, another provider's change and other timeouts leave a circuit open", () => {
  breakDown(before);
  const same = { ...before, credentials: before.credentials.map((one) => ({ ...one })) };
  const patient = { ...same, timeouts: { ...defaultTimeouts, idleMs: 1 } };
  for (const after of [same, patient]) {
    configure(after, { ...elsewhere, id: "other" });
    expect(health.availability(offer, after)).toBe("out");
  }
});

it("a key refused at one address is tried at another; the state of a removed key is forgotten", () => {
  refuse(before);
  expect(health.hasCredential(offer, before)).toBe(false);
  configure(elsewhere);
  expect(health.availability(offer, elsewhere)).toBe("ready");
  configure(before);
  expect(health.availability(offer, before)).toBe("ready");
});

it("reports about a circuit or key apply only on gateways with the same provider", async () => {
  const row = {
    provider: "up",
    gateway: "gw_2",
    version: "1",
    holds: true,
    pauseMs: 60_000,
    leftMs: 60_000,
    probeLeftMs: 0,
  } as const;
  const reported: string[] = [];
  let rows: HealthRow[] = [];
  const peers = new HealthPeers({
    health,
    gateway: "gw_1",
    catalog: () => ({ providers }),
    markOf: (secret) => `<${secret}>`,
    warn: () => undefined,
    link: {
      async exchange(_gateway, changes) {
        reported.push(...changes.map(({ kind, mark }) => `${kind} ${mark}`));
        return rows;
      },
      askProbe: () => Promise.resolve(0),
      healthy: () => true,
    },
  });
  breakDown(before);
  refuse(before);
  await expect.poll(() => reported.length).toBe(2);
  expect(new Set(reported.map((one) => one.split(" ")[1])).size).toBe(2);
  const [circuit, key] = ["circuit", "credential"].map((kind) =>
    reported.find((one) => one.startsWith(`${kind} `))!.slice(kind.length + 1),
  );

  // The other gateways still report on the provider as it was.
  configure(elsewhere);
  rows = [
    { ...row, kind: "circuit", model: "talk", credential: "", mark: circuit! },
    { ...row, kind: "credential", model: "", credential: "only", mark: key! },
  ];
  await peers.start();
  expect(health.availability(offer, elsewhere)).toBe("ready");
  // The same reports apply again once the configuration is the old one.
  configure(before);
  expect(health.availability(offer, before)).toBe("ready");
  peers.wake();
  await expect.poll(() => health.availability(offer, before)).toBe("out");
  await peers.close();
});
