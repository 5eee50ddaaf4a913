/** How much gateways exchange, and the effect on calls when the other gateways cannot be reached. docs/routing.md. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { defaultTimeouts, type Provider } from "../../src/catalog/index.ts";
import {
  defaultHealthRules,
  Health,
  HealthPeers,
  type HealthChange,
  type HealthRow,
  type PeerLink,
} from "../../src/routing/index.ts";
import { ExchangeError, outcomeOfFailure, outcomeOfStatus } from "../../src/upstream/index.ts";
import { eventually, patienceMs } from "../support/patience.ts";

const provider: Provider = {
  id: "a",
  dialect: "openai-compatible",
  baseUrl: "http://a",
  tier: "official",
  credentials: [{ id: "only", apiKey: "", weight: 1 }],
  onDisconnect: "abort",
  timeouts: defaultTimeouts,
};
const providers = new Map([[provider.id, provider]]);
const offerOf = (index: number) => ({ provider: "a", upstreamModel: `m${index}` });

/** A gateway with a link that the test makes. Its circuits' pauses end at once. */
function gatewayWith(link: Partial<PeerLink>) {
  const circuit = { ...defaultHealthRules.circuit, firstPauseMs: 1, pauseMsMax: 1 };
  const health = new Health({ clock: systemClock, rules: { ...defaultHealthRules, circuit } });
  const warnings: string[] = [];
  const peers = new HealthPeers({
    health,
    gateway: "gw_1",
    catalog: () => ({ providers }),
    markOf: (key) => key,
    warn: (_error, message) => warnings.push(message),
    link: {
      exchange: () => Promise.resolve([]),
      askProbe: () => Promise.resolve(0),
      healthy: () => true,
      ...link,
    },
  });
  const attempt = (index: number) => ({
    provider,
    offer: offerOf(index),
    credential: provider.credentials[0]!,
    begunMs: health.nowMs(),
  });
  const breakDown = (index = 0) => {
    for (let count = 0; count < 5; count += 1)
      health.unanswered(attempt(index), { hurtsHealth: true });
  };
  return { health, peers, warnings, attempt, breakDown };
}

const noReports = () => Promise.resolve<HealthRow[]>([]);

it("a flood of changes is sent in a few exchanges a second of at most 200 changes, ending with the latest state", async () => {
  const sent: (readonly HealthChange[])[] = [];
  const gateway = gatewayWith({
    exchange: (_name, changes) => {
      sent.push(changes);
      return noReports();
    },
  });
  const begunMs = performance.now();
  const flap = () => {
    for (let index = 0; index < 300; index += 1) {
      gateway.breakDown(index);
      gateway.health.succeeded(gateway.attempt(index));
    }
    return sent.length >= 4;
  };
  await eventually(flap, "four exchanges");
  gateway.breakDown(7);
  const last = () => sent.flat().findLast(({ model }) => model === "m7");
  await eventually(() => last()?.holds, "the last word");
  const tookMs = performance.now() - begunMs;
  expect(sent.length).toBeLessThanOrEqual(2 + tookMs / 200);
  expect(Math.max(...sent.map(({ length }) => length))).toBeLessThanOrEqual(200);
  await gateway.peers.close();
});

it("a start reads the shared state at once, without the pause between exchanges", async () => {
  const gateway = gatewayWith({});
  let isStarted = false;
  const started = gateway.peers.start().then(() => (isStarted = true));
  // No timer can have fired by then.
  await nextTurn();
  expect(isStarted).toBe(true);
  await started;
  await gateway.peers.close();
});

it("nothing is exchanged while calls succeed or fail without changing any state", async () => {
  let exchanges = 0;
  const gateway = gatewayWith({ exchange: () => ((exchanges += 1), noReports()) });
  await gateway.peers.start();
  for (let count = 0; count < 1_000; count += 1) {
    gateway.health.succeeded(gateway.attempt(0));
    if (count % 5 === 0) gateway.health.unanswered(gateway.attempt(0), { hurtsHealth: true });
    expect(gateway.health.admit(offerOf(0), provider)).toBe(true);
  }
  await gateway.peers.close();
  expect(exchanges).toBe(1);
});

it.each(["rejects", "never answers"] as const)(
  "a database that %s delays no call: the probe starts after a quarter of a second, and local findings hold",
  async (how) => {
    const dead = <Value>(): Promise<Value> =>
      how === "rejects" ? Promise.reject(new Error("gone")) : new Promise<Value>(() => undefined);
    const gateway = gatewayWith({ exchange: dead, askProbe: dead });
    const beforeMs = performance.now();
    await gateway.peers.start();
    gateway.breakDown();
    await eventually(
      () => gateway.health.availability(offerOf(0), provider) === "due",
      "its pause",
    );
    expect(await gateway.health.admit(offerOf(0), provider)).toBe(true);
    expect(performance.now() - beforeMs).toBeLessThan(patienceMs);
    expect(gateway.health.admit(offerOf(0), provider)).toBe(false);
    gateway.health.succeeded(gateway.attempt(0));
    expect(gateway.health.availability(offerOf(0), provider)).toBe("ready");
    expect(gateway.warnings.length).toBe(how === "rejects" ? 1 : 0);
  },
);

it("changes that could not be sent are sent when the database is back", async () => {
  let isDead = true;
  const sent: HealthChange[] = [];
  const gateway = gatewayWith({
    exchange: (_name, changes) => {
      if (isDead) return Promise.reject(new Error("gone"));
      sent.push(...changes);
      return noReports();
    },
  });
  gateway.breakDown(1);
  await eventually(() => gateway.warnings.length > 0, "a warning");
  gateway.breakDown(2);
  isDead = false;
  await eventually(() => sent.length >= 2, "both are said");
  expect(sent.map(({ model, holds }) => `${model} ${holds}`).sort()).toEqual([
    "m1 true",
    "m2 true",
  ]);
  await gateway.peers.close();
});

it("reports about unknown providers and keys are ignored", async () => {
  const row = {
    kind: "circuit",
    provider: "a",
    model: "m0",
    credential: "",
    mark: "",
    gateway: "gw_2",
    version: "1",
    holds: true,
    pauseMs: 1,
    leftMs: 60_000,
    probeLeftMs: 0,
  } as const;
  const key = { ...row, kind: "credential", model: "" } as const;
  const gateway = gatewayWith({
    exchange: () =>
      Promise.resolve([
        { ...row, provider: "__proto__" },
        { ...row, provider: "none" },
        { ...key, credential: "gone" },
        { ...key, credential: "only", mark: "another key" },
      ]),
  });
  await gateway.peers.start();
  expect(gateway.health.availability(offerOf(0), provider)).toBe("ready");
  await gateway.peers.close();
});

it("a gateway that cannot get its own cloud credential pauses it for itself only; a refusal by the vendor is shared", async () => {
  const sent: HealthChange[] = [];
  const gateway = gatewayWith({
    exchange: (_name, changes) => {
      sent.push(...changes);
      return noReports();
    },
  });
  const { health, attempt } = gateway;
  const none = new ExchangeError("unauthorized", "no credential from AWS: no answer");
  health.unanswered(attempt(0), outcomeOfFailure(none));
  expect(health.hasCredential(offerOf(0), provider)).toBe(false);
  const refused = { status: 403, wire: { message: "no" }, headers: {} };
  health.unanswered(attempt(1), outcomeOfStatus(refused, 0));
  await eventually(() => sent.length > 0, "an exchange");
  expect(sent).toMatchObject([{ kind: "credential", model: "m1", holds: true }]);
  await gateway.peers.close();
});
