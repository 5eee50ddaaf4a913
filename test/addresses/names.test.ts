/** Host names that callers give: dead ones delay only the workspace that gave them. docs/callbacks.md; trap T77. */
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { createNames, type Resolve } from "../../src/upstream/names.ts";
import { startDns, type DnsServer } from "../support/dns.ts";

const live = "93.184.215.14";
let dns: DnsServer;
let system: string[];
let names: Resolve;
let withSystemLookups: Resolve;
/** The lookup of a name whose servers are dead. It runs beside the other tests, because it takes five seconds. */
let deadLookup: Promise<unknown>;
let deadDns: DnsServer;
beforeAll(async () => {
  dns = await startDns((name, family) => {
    if (name.startsWith("dead") || (name === "half.example" && family === 6)) return "silent";
    if (name.startsWith("missing")) return "missing";
    return family === 4 ? [live] : [];
  });
  const bySystem: Resolve = (name) => {
    system.push(name);
    return Promise.resolve([{ address: "10.0.0.9", family: 4 }]);
  };
  names = createNames({ servers: [dns.at], system: bySystem });
  withSystemLookups = createNames({ servers: [dns.at], system: bySystem, bySystemToo: true });
  deadDns = await startDns(() => "silent");
  deadLookup = createNames({ servers: [deadDns.at], system: bySystem })("dead.example");
  deadLookup.catch(() => undefined);
});
beforeEach(() => {
  system = [];
  dns.asked.clear();
});
afterAll(async () => {
  await dns.close();
  await deadDns.close();
});

it("a hundred dead names of one workspace do not delay another workspace's names, and their lookups are limited", async () => {
  const dead = Array.from({ length: 100 }, (_, index) => names(`dead-${index}.example`, "ws_dead"));
  const over = Promise.allSettled(dead);
  const begunMs = performance.now();
  // Not even if the other workspace looks up many names at once.
  const found = await Promise.all(
    Array.from({ length: 50 }, (_, index) => names(`live-${index}.example`, "ws_live")),
  );
  expect(performance.now() - begunMs).toBeLessThan(1_000);
  expect(new Set(found.flat().map(({ address }) => address))).toEqual(new Set([live]));
  expect([...dns.asked].filter((name) => name.startsWith("dead"))).toHaveLength(16);
  expect((await over).map(({ status }) => status)).toEqual(dead.map(() => "rejected"));
  // A lookup that timed out in the queue is not started any more. The system's resolver, which has few threads, saw none of
  // them.
  expect([...dns.asked].filter((name) => name.startsWith("dead")).length).toBeLessThanOrEqual(32);
  expect(system).toEqual([]);
});

it("a name whose servers do not answer fails as EAI_AGAIN, not as unknown", async () => {
  await expect(deadLookup).rejects.toMatchObject({ code: "EAI_AGAIN" });
});

it.each(["a..example", `${"a".repeat(64)}.example`, `${"ab.".repeat(100)}example`])(
  "%s is refused as an invalid name, without a lookup",
  async (name) => {
    await expect(names(name)).rejects.toMatchObject({ code: "ENOTFOUND" });
    // The lookups of the first test may be retried once.
    expect([...dns.asked].filter((one) => !one.startsWith("dead-"))).toEqual([]);
  },
);

it("a name missing in DNS goes to the system's resolver for operators' names only, not for callers' names", async () => {
  await expect(names("missing.example")).rejects.toMatchObject({ code: "ENOTFOUND" });
  expect(system).toEqual([]);
  expect(await withSystemLookups("missing.example")).toEqual([{ address: "10.0.0.9", family: 4 }]);
  expect(system).toEqual(["missing.example"]);
});

it("the hosts file takes precedence", async () => {
  expect(await names("LOCALHOST")).toContainEqual({ address: "127.0.0.1", family: 4 });
  expect(dns.asked).not.toContain("localhost");
});

it("an address family without an answer does not delay the other one", async () => {
  const begunMs = performance.now();
  expect(await names("half.example")).toEqual([{ address: live, family: 4 }]);
  expect(performance.now() - begunMs).toBeLessThan(2_000);
});
