/** The addresses and programs that use a key. docs/management.md. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { silentLog } from "../support/postgres.ts";
import { startWorld, type World } from "./support.ts";
import { openKeyClients } from "../../src/request-log/index.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld({ environment: { TOLLGATE_TRUSTED_PROXIES: "loopback" } });
});
afterAll(() => world.gateway.close());

interface Client {
  ip: string;
  user_agent: string | null;
  requests: number;
  first_seen_at: string;
  last_seen_at: string;
}

const clientsOf = async (id: string): Promise<Client[]> =>
  world.must(await world.ann.call("GET", `/keys/${id}/clients`)).data;

/** A call from an address, as a proxy reports it. */
async function callFrom(key: string, address: string, program: string, path = "chat/completions") {
  const isList = path === "models";
  const response = await fetch(`${world.gateway.url}/v1/${path}`, {
    method: isList ? "GET" : "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "x-forwarded-for": address,
      "user-agent": program,
    },
    ...(!isList && {
      body: JSON.stringify({ model: "sandbox/chat", messages: [{ role: "user", content: "Hi" }] }),
    }),
  });
  await response.text();
  return response.status;
}

it("the addresses and shortened user agents of a key are counted on every path", async () => {
  const { id, key } = await world.keyOf(world.mem, world.home.id);
  expect(await clientsOf(id)).toEqual([]);
  const long = `Program/1.0 ${"x".repeat(400)}`;
  for (const program of ["first/1.0", long])
    expect(await callFrom(key, "203.0.113.7", program)).toBe(200);
  expect(await callFrom(key, "2001:db8:0::1", "lists/2", "models")).toBe(200);
  // The gateway refused the request, but it still shows where the key is used.
  expect(await callFrom(key, "198.51.100.9", "images/3", "images/generations")).toBe(400);
  // An invalid key belongs to no one.
  expect(await callFrom(`${key}x`, "198.51.100.10", "none/1")).toBe(401);
  const clients = await clientsOf(id);
  const sorted = clients.toSorted((one, other) => (one.ip < other.ip ? -1 : 1));
  expect(sorted).toMatchObject([
    { ip: "198.51.100.9", user_agent: "images/3", requests: 1 },
    { ip: "2001:db8::1", user_agent: "lists/2", requests: 1 },
    { ip: "203.0.113.7", user_agent: long.slice(0, 200), requests: 2 },
  ]);
  expect(await callFrom(key, "203.0.113.7", "again/4")).toBe(200);
  const [latest] = await clientsOf(id);
  expect(latest).toMatchObject({ ip: "203.0.113.7", user_agent: "again/4", requests: 3 });
  expect(Date.parse(latest!.last_seen_at)).toBeGreaterThan(Date.parse(latest!.first_seen_at));
});

it("members see the clients of their own keys; another user's key gets the answer of an unknown key", async () => {
  const { id, key } = await world.keyOf(world.mem, world.home.id);
  expect(await callFrom(key, "203.0.113.8", "mine/1")).toBe(200);
  const none = await world.mel.call("GET", "/keys/key_00000000000000000000000000/clients");
  for (const [person, status] of [
    [world.mem, 200],
    [world.root, 200],
    [world.mel, 404],
    [world.bob, 404],
  ] as const) {
    const answer = await person.call("GET", `/keys/${id}/clients`);
    const isMissing = answer.text === none.text;
    expect([person.email, answer.status, isMissing]).toEqual([
      person.email,
      status,
      status === 404,
    ]);
  }
});

it("a key keeps a hundred addresses for thirty days, with one count over all gateways", async () => {
  const { database } = world.gateway;
  const { id } = await world.keyOf(world.mem, world.home.id);
  const gateways = [openKeyClients(database, silentLog), openKeyClients(database, silentLog)];
  const addressOf = (at: number) => `203.0.${Math.floor(at / 250)}.${at % 250}`;
  for (let at = 0; at < 150; at += 1) {
    for (const clients of gateways)
      clients.note({ keyId: id, address: addressOf(at), userAgent: undefined });
  }
  await Promise.all(gateways.map((clients) => clients.flush()));
  const kept = await clientsOf(id);
  expect(kept).toHaveLength(100);
  expect(new Set(kept.map(({ requests }) => requests))).toEqual(new Set([2]));
  expect(kept[0]!.user_agent).toBeNull();
  // A new client replaces the one that was used the longest ago.
  gateways[0]!.note({ keyId: id, address: "192.0.2.1", userAgent: "new/1" });
  await gateways[0]!.flush();
  const later = await clientsOf(id);
  expect([later.length, later[0]!.ip]).toEqual([100, "192.0.2.1"]);
  await database.query(
    "update key_clients set last_seen_at = last_seen_at - interval '31 days' where key_id = $1 and address <> '192.0.2.1'",
    [id],
  );
  expect(await clientsOf(id)).toHaveLength(1);
  // A start also sweeps.
  await Promise.all(gateways.map((clients) => clients.close()));
  const fresh = openKeyClients(database, silentLog);
  await fresh.close();
  expect(await database.query("select 1 from key_clients where key_id = $1", [id])).toHaveLength(1);
});
