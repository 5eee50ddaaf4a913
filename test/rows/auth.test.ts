/** Access to every endpoint, with and without a key. AUTH rows, KEY-01, VER-01. */
import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import {
  createWorkspace,
  disableKey,
  readSigningSecret,
  revokeKey,
} from "../../src/tenancy/index.ts";
import {
  bearer,
  eachEndpoint,
  endpoints,
  errorCode,
  callEndpoint,
  isPublic,
  type Endpoint,
} from "./endpoints.ts";
import { chat, eachProtocol, generateContent, messages } from "./protocols.ts";
import { answering, costAtFirstNano, startWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());
beforeEach(() => world.answer(answering));

const context = () => ({ database: world.gateway.database, clock: systemClock });
const upstreamCalls = () => world.first.requests.length + world.second.requests.length;

describe("every endpoint", () => {
  it.each(eachEndpoint)("AUTH-01: %s takes Authorization: Bearer", async (_name, endpoint) => {
    const answer = await callEndpoint(world.gateway.url, endpoint, bearer(world.gateway.key));
    expect(answer.status).toBe(200);
  });

  it.each(eachEndpoint.filter(([, endpoint]) => !isPublic(endpoint)))(
    "AUTH-02 ERR-08: %s refuses a call without a key",
    async (_name, endpoint) => {
      const answer = await callEndpoint(world.gateway.url, endpoint, {});
      expect(answer.status).toBe(401);
      expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer/);
      expect(JSON.parse(answer.text)).toHaveProperty("error.message", expect.any(String));
      expect(errorCode(answer.text)).toBe("missing_api_key");
      expect(upstreamCalls()).toBe(0);
    },
  );

  it.each(eachEndpoint.filter(([, endpoint]) => isPublic(endpoint)))(
    "AUTH-06 MODELS-06: %s answers without a key too",
    async (_name, endpoint) => {
      expect((await callEndpoint(world.gateway.url, endpoint, {})).status).toBe(200);
    },
  );

  it.each(eachEndpoint)(
    "AUTH-03 AUTH-06 ERR-08: %s answers a wrong key with 401, without repeating the key",
    async (_name, endpoint) => {
      const lastChanged = world.gateway.key.replace(/.$/, (last) => (last === "a" ? "b" : "a"));
      for (const key of [
        "n0nsense",
        "gw_live_",
        `gw_live_${"a".repeat(49)}`,
        lastChanged,
        `${world.gateway.key}x`,
      ]) {
        const answer = await callEndpoint(world.gateway.url, endpoint, bearer(key));
        expect([key, answer.status]).toEqual([key, 401]);
        expect(errorCode(answer.text)).toBe("invalid_api_key");
        expect(answer.text).not.toContain(key);
      }
      expect(upstreamCalls()).toBe(0);
    },
  );

  it("AUTH-04 KEY-09 KEY-11: a disabled and a revoked key are refused at every endpoint", async () => {
    for (const [move, code] of [
      [disableKey, "api_key_disabled"],
      [revokeKey, "api_key_revoked"],
    ] as const) {
      const { key, record } = await world.makeKey();
      const works = await callEndpoint(world.gateway.url, endpoints[0]!, bearer(key));
      expect(works.status).toBe(200);
      await move(context(), { id: record.id });
      world.answer(answering);
      for (const endpoint of endpoints) {
        const answer = await callEndpoint(world.gateway.url, endpoint, bearer(key));
        expect([endpoint.name, answer.status, errorCode(answer.text)]).toEqual([
          endpoint.name,
          401,
          code,
        ]);
      }
      expect(upstreamCalls()).toBe(0);
    }
  });

  it("KEY-01: no other credential is accepted at an endpoint that needs a key", async () => {
    const { secret } = await readSigningSecret(
      { ...context(), secrets: world.secrets },
      world.gateway.workspaceId,
    );
    const { key } = world.gateway;
    const others: Record<string, string>[] = [
      bearer(secret),
      bearer(world.gateway.first!.adminPassword),
      {
        authorization: `Basic ${Buffer.from(`admin:${world.gateway.first!.adminPassword}`).toString("base64")}`,
      },
      { authorization: `Basic ${Buffer.from(`:${key}`).toString("base64")}` },
      { authorization: key },
      { cookie: `session=${key}` },
      bearer("first-secret"),
    ];
    for (const headers of others) {
      for (const endpoint of endpoints.filter((one) => !isPublic(one))) {
        const answer = await callEndpoint(world.gateway.url, endpoint, headers);
        expect([endpoint.name, headers, answer.status]).toEqual([endpoint.name, headers, 401]);
      }
    }
    expect(upstreamCalls()).toBe(0);
  });
});

describe("the authentication of vendor SDKs", () => {
  it("AUTH-01: x-api-key, x-goog-api-key and, on /v1beta, ?key= are accepted with the same key", async () => {
    const { url, key } = world.gateway;
    const [messagesEnd, googleEnd] = [endpoints[2]!, endpoints[3]!];
    expect((await callEndpoint(url, messagesEnd, { "x-api-key": key })).status).toBe(200);
    expect((await callEndpoint(url, googleEnd, { "x-goog-api-key": key })).status).toBe(200);
    const query = { ...googleEnd, path: `${googleEnd.path}?key=${key}` };
    expect((await callEndpoint(url, query, {})).status).toBe(200);
    const elsewhere = { ...messagesEnd, path: `${messagesEnd.path}?key=${key}` };
    expect((await callEndpoint(url, elsewhere, {})).status).toBe(401);
    // The same key twice is accepted; two different keys are refused.
    expect(
      (await callEndpoint(url, messagesEnd, { ...bearer(key), "x-api-key": key })).status,
    ).toBe(200);
    const { key: other } = await world.makeKey();
    expect(
      (await callEndpoint(url, messagesEnd, { ...bearer(key), "x-api-key": other })).status,
    ).toBe(401);
    // The key never reaches the upstream, in any place.
    const all = [...world.first.requests, ...world.second.requests];
    expect(all).toHaveLength(4);
    expect(JSON.stringify(all)).not.toContain(key);
  });
});

/** The status of a call whose headers may each have several lines; `fetch` would join them. */
async function statusWithHeaderLines(
  endpoint: Endpoint,
  headers: Record<string, string[]>,
): Promise<number> {
  const call = request(world.gateway.url + endpoint.path, {
    method: endpoint.method,
    headers: { "content-type": "application/json", ...headers },
  });
  call.end(endpoint.body && JSON.stringify(endpoint.body));
  const [answer] = (await once(call, "response")) as [IncomingMessage];
  await once(answer.resume(), "end");
  return answer.statusCode!;
}

describe("several keys in one place", () => {
  const kinds: [name: string, lines: (keys: string[]) => Record<string, string[]>][] = [
    ["authorization", (keys) => ({ authorization: keys.map((key) => `Bearer ${key}`) })],
    ["x-api-key", (keys) => ({ "x-api-key": keys })],
    ["x-goog-api-key", (keys) => ({ "x-goog-api-key": keys })],
    ["api-key", (keys) => ({ "api-key": keys })],
  ];

  it.each(kinds)("AUTH-03: two lines of %s with different keys are 401", async (_name, lines) => {
    const { key: other } = await world.makeKey();
    for (const endpoint of [endpoints[0]!, endpoints.find(isPublic)!]) {
      for (const keys of [
        [world.gateway.key, other],
        [world.gateway.key, "n0nsense"],
      ]) {
        expect(await statusWithHeaderLines(endpoint, lines(keys))).toBe(401);
      }
      expect(
        await statusWithHeaderLines(endpoint, lines([world.gateway.key, world.gateway.key])),
      ).toBe(200);
    }
    expect(upstreamCalls()).toBe(1);
  });

  it("AUTH-03: ?key= twice with different keys is 401", async () => {
    const { key } = world.gateway;
    const { key: other } = await world.makeKey();
    const asked = (query: string) =>
      statusWithHeaderLines({ ...endpoints[3]!, path: `${endpoints[3]!.path}?${query}` }, {});
    expect(await asked(`key=${key}&key=${other}`)).toBe(401);
    expect(await asked(`key=n0nsense&key=${key}`)).toBe(401);
    expect(upstreamCalls()).toBe(0);
    expect(await asked(`key=${key}&key=${key}`)).toBe(200);
  });
});

describe("the workspace that pays", () => {
  it.each(eachProtocol)(
    "AUTH-05 KEY-02: a key spends from its own workspace (%s)",
    async (_name, protocol) => {
      const { database, ledger, workspaceId } = world.gateway;
      const other = await createWorkspace(
        { database, clock: systemClock },
        { organizationId: null, name: "other" },
      );
      await ledger.credit({ workspaceId: other.id, amountNano: 10n ** 9n, reference: "start" });
      const { key, record } = await world.makeKey({ workspaceId: other.id });
      const before = await world.charged(workspaceId);
      const answer = await world.call(protocol, { key, model: `${protocol.model}:first` });
      expect(answer.status).toBe(200);
      expect(await world.charged(other.id)).toBe(costAtFirstNano);
      expect(await world.charged(workspaceId)).toBe(before);
      expect(await world.row(answer)).toMatchObject({ key_id: record.id, workspace_id: other.id });
    },
  );
});

describe("VER-01: the path prefixes", () => {
  it("VER-01: the text endpoints are under /v1 and /v1beta, and under no other prefix", async () => {
    const { gateway } = world;
    expect((await gateway.post("/v1/chat/completions", chat.body(chat.model, false))).status).toBe(
      200,
    );
    expect((await gateway.post("/v1/messages", messages.body(messages.model, false))).status).toBe(
      200,
    );
    const google = generateContent.body("", false);
    expect((await gateway.post("/v1beta/models/acme/gemini:generateContent", google)).status).toBe(
      200,
    );
    for (const prefix of ["", "/v2", "/v1beta", "/v1alpha", "/api/v1", "/api/v3", "/v1/v1"]) {
      const answer = await gateway.post(`${prefix}/chat/completions`, chat.body(chat.model, false));
      expect([prefix, answer.status]).toEqual([prefix, 404]);
    }
    for (const prefix of ["", "/v2beta", "/v2", "/v1alpha", "/api/v1"]) {
      const answer = await gateway.post(`${prefix}/models/acme/gemini:generateContent`, google);
      expect([prefix, answer.status]).toEqual([prefix, 404]);
    }
  });
});
