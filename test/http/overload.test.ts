/** More calls than the gateway admits in a round of its event loop: the rest is refused at once, in its protocol, without charge. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { closeAll, openRaw, type RawClient } from "../attack/raw-clients.ts";
import { eventually } from "../support/patience.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";

let gateway: GatewayUnderTest;
const clients: RawClient[] = [];
/** Count of calls that were answered. */
let answeredCount = 0;

/** Allows one new call in a round, and eight in a burst. */
beforeAll(async () => {
  gateway = await startTestGateway({ config: "limits: { round_calls: 1 }\n", sandbox: "on" });
  await gateway.credit("10");
});
afterAll(async () => {
  closeAll(clients.splice(0));
  await gateway.close();
});

/** Opens requests whose bodies do not come: with at most four in flight, the gateway refuses none. */
beforeEach(async () => {
  const held = Array.from({ length: 8 }, () => openRaw(gateway.url, { path: "/healthz" }));
  clients.push(...held);
  await eventually(() => held.every((client) => client.status() === 200), "the connections");
  const head = requestOf("/v1/tasks", {}).replace(/[^\n]*$/, "");
  for (const client of held) client.socket.write(head);
  await eventually(async () => {
    const text = await (await fetch(`${gateway.url}/metrics`)).text();
    return Number(/^tollgate_requests_in_flight (\d+)/m.exec(text)?.[1]) >= held.length;
  }, "the requests to be under way");
});

const message = { role: "user", content: "Hi" };
const shapes = [
  ["/v1/chat/completions", { messages: [message] }, { error: { code: "overloaded" } }],
  ["/v1/messages", { messages: [message], max_tokens: 9 }, { error: { type: "overloaded_error" } }],
  ["/v1/responses", { input: "Hi" }, { error: { code: "overloaded" } }],
  ["/v1/tasks", { prompt: "A boat" }, { error: { code: "overloaded" } }],
] as const;

/** The second request of a connection, so that the gateway can read all of them in one round. */
function requestOf(path: string, body: object): string {
  const text = JSON.stringify({ model: "sandbox/chat", ...body });
  return [
    `POST ${path} HTTP/1.1`,
    "host: gateway",
    `authorization: Bearer ${gateway.key}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(text)}`,
    "",
    text,
  ].join("\r\n");
}

/** The second answer of a connection: its status, head and body. Undefined until it is complete. */
function secondAnswer(client: RawClient) {
  const text = client.text();
  const at = text.indexOf("HTTP/1.1", 9);
  if (at === -1) return undefined;
  const [head = "", body = ""] = text.slice(at).split("\r\n\r\n");
  const length = Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? Number.NaN);
  if (Number.isNaN(length) ? !body.endsWith("0") : body.length < length) return undefined;
  return { status: Number(head.slice(9, 12)), head, body };
}

describe("calls beyond the limit of an event-loop round", () => {
  it.each(shapes)(
    "to %s get 503 with Retry-After in their protocol's shape",
    async (path, body, shape) => {
      const own = Array.from({ length: 60 }, () => openRaw(gateway.url, { path: "/healthz" }));
      clients.push(...own);
      await expect.poll(() => own.every((client) => client.status() === 200)).toBe(true);
      const request = requestOf(path, body);
      for (const client of own) client.socket.write(request);
      await expect.poll(() => own.every((client) => secondAnswer(client) !== undefined)).toBe(true);
      const answers = own.map((client) => secondAnswer(client)!);
      answeredCount += answers.filter(({ status }) => status === 200).length;
      const refused = answers.filter(({ status }) => status === 503);
      expect(refused.length).toBeGreaterThan(20);
      expect(answers.length - refused.length).toBeGreaterThan(0);
      for (const { head, body: said } of refused) {
        expect(head).toMatch(/\r\nretry-after: 2\b/i);
        expect(JSON.parse(said)).toMatchObject(shape);
      }
    },
  );

  it("cost nothing: only answered calls are charged", async () => {
    const body = { model: "sandbox/chat", messages: [message] };
    const call = async (): Promise<number> => {
      const { status } = await gateway.post("/v1/chat/completions", body);
      if (status === 200) answeredCount += 1;
      return status;
    };
    for (let next = 0; next < 5; next += 1) await expect.poll(call).toBe(200);
    const { database } = gateway;
    const charges = "select count(*)::int as n from ledger_entries where kind = 'charge'";
    await expect
      .poll(async () => (await database.query<{ n: number }>(charges))[0])
      .toEqual({ n: answeredCount });
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    expect(Number(/^tollgate_calls_overloaded_total (\d+)/m.exec(metrics)?.[1])).toBeGreaterThan(
      80,
    );
  });
});

/** Waits some rounds without calls, so that a full burst is allowed again. */
const waitForFullBurst = async (): Promise<void> => {
  const fromMs = performance.now();
  await eventually(() => performance.now() - fromMs > 500, "quiet rounds");
};

it("calls with a wrong key take no slots from valid calls of the same round", async () => {
  const own = Array.from({ length: 43 }, () => openRaw(gateway.url, { path: "/healthz" }));
  clients.push(...own);
  await expect.poll(() => own.every((client) => client.status() === 200)).toBe(true);
  await waitForFullBurst();
  const request = requestOf("/v1/chat/completions", { messages: [message] });
  const strange = request.replace(gateway.key, "gw_live_nobody");
  for (const [index, client] of own.entries()) client.socket.write(index < 40 ? strange : request);
  await expect.poll(() => own.every((client) => secondAnswer(client) !== undefined)).toBe(true);
  const statuses = own.map((client) => secondAnswer(client)!.status);
  expect(new Set(statuses.slice(0, 40))).toEqual(new Set([401]));
  expect(statuses.slice(40)).toEqual([200, 200, 200]);
});

it("health, metrics and the management API answer while calls are refused", async () => {
  const own = Array.from({ length: 60 }, () => openRaw(gateway.url, { path: "/healthz" }));
  clients.push(...own);
  await expect.poll(() => own.every((client) => client.status() === 200)).toBe(true);
  const request = requestOf("/v1/chat/completions", { messages: [message] });
  const get = (path: string): string =>
    `GET ${path} HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer ${gateway.key}\r\n\r\n`;
  const others = ["/healthz", "/readyz", "/metrics", "/v1/key", "/admin/v1/nothing"];
  for (const [index, client] of own.entries())
    client.socket.write(index < 50 ? request : get(others[index % others.length]!));
  await expect.poll(() => own.every((client) => secondAnswer(client) !== undefined)).toBe(true);
  const statuses = own.map((client) => secondAnswer(client)!.status);
  expect(statuses.slice(0, 50).filter((status) => status === 503).length).toBeGreaterThan(20);
  expect(statuses.slice(50)).not.toContain(503);
});
