/** Attacks by adding a provider: showing the key, an internal address, the machine's own identity, a gateway that hangs. */
import { createServer, type AddressInfo } from "node:net";
import { format } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startAdminGateway, type AdminGateway } from "../admin/support.ts";
import { newMember, type Person } from "../admin/people.ts";
import {
  chat,
  modelRow,
  must,
  providerBody,
  secretKey,
  startWorld,
  type World,
} from "./support.ts";

const publicUrl = "https://8.8.8.8";

/** Pieces of the key that must be in no output and no record. */
const pieces = [
  secretKey,
  secretKey.slice(0, 12),
  secretKey.slice(-8),
  encodeURIComponent(secretKey),
];
const expectNoKey = (text: string): void => {
  for (const piece of pieces) expect(text).not.toContain(piece);
};

describe("a provider, without permission for private addresses", () => {
  let gateway: AdminGateway;
  beforeAll(async () => {
    gateway = await startAdminGateway();
  });
  afterAll(() => gateway.close());

  it.each([
    "http://169.254.169.254/latest",
    "http://[fd00:ec2::254]/v1",
    "http://metadata.google.internal/v1",
    "http://168.63.129.16/v1",
    "http://127.0.0.1:5432/v1",
    "http://localhost:8080/v1",
    "http://0.0.0.0/v1",
    "http://[::1]/v1",
    "http://[::ffff:10.0.0.1]/v1",
    "http://2130706433/v1",
    "http://0x7f.1/v1",
    "http://127.1/v1",
    "http://10.0.0.7/v1",
    "http://intranet/v1",
    "http://db.svc/v1",
    "http://100.64.0.1/v1",
    "https://user:pass@8.8.8.8/v1",
    "https://8.8.8.8/v1?key=x",
    "https://8.8.8.8/v1#x",
    "https://8.8.8.8\\@127.0.0.1/v1",
    "ftp://8.8.8.8/v1",
    "file:///etc/passwd",
    "${OPENAI_API_KEY}",
    "https://${OPENAI_API_KEY}.example.com/v1",
  ])(
    "HOOK-07: is refused with the address %s, when it is added and when it is changed",
    async (base_url) => {
      const body = { ...providerBody("inside", publicUrl), base_url };
      const added = await gateway.admin("POST", "/providers", body);
      expect({ status: added.status, param: added.json.error.param }).toEqual({
        status: 400,
        param: "base_url",
      });
      expectNoKey(added.text);
      const known = gateway.catalog().providers.has("outside");
      if (!known)
        must(await gateway.admin("POST", "/providers", providerBody("outside", publicUrl)));
      const changed = await gateway.admin("PATCH", "/providers/outside", { base_url });
      expect(changed.status).toBe(400);
      expect(gateway.catalog().providers.get("outside")!.baseUrl).toBe(`${publicUrl}/v1`);
    },
  );

  it("HOOK-08 T77: is not connected to if its name resolves to this machine at connection time", async () => {
    const body = providerBody("rebinds", publicUrl);
    must(await gateway.admin("POST", "/providers", body));
    const provider = gateway.catalog().providers.get("rebinds")!;
    expect(provider.guarded).toBe(true);
    const { ask: askMedia, createPools, askText } = await import("../../src/upstream/index.ts");
    let connections = 0;
    const inside = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => inside.listen(0, "127.0.0.1", resolve));
    const { port } = inside.address() as AddressInfo;
    const pools = createPools();
    const ask = (guarded: boolean, host = "localhost") =>
      askText(pools, {
        provider: { ...provider, guarded, baseUrl: `http://${host}:${port}/v1` },
        protocol: "chat",
        model: "m",
        stream: false,
        apiKey: "k",
        caller: {},
        body: "{}",
      }).answer;
    await expect(ask(true)).rejects.toThrow(/private or reserved network/);
    // The address of a provider that was added while the switch was on.
    await expect(ask(true, "127.0.0.1")).rejects.toThrow(/private or reserved network/);
    const media = pools.forMedia(`http://127.0.0.1:${port}`, 1_000, { ...provider, guarded: true });
    const asked = { method: "GET", path: "/v1/models", headers: {} } as const;
    await expect(askMedia(media, provider, asked)).rejects.toThrow("cannot be reached");
    expect(connections).toBe(0);
    // Without the guard the same name is reached: so the guard made the calls fail, not a dead server.
    await expect(ask(false)).rejects.toThrow(/the connection/);
    expect(connections).toBeGreaterThan(0);
    await pools.close();
    await new Promise((resolve) => inside.close(resolve));
  });

  const serviceAccount = JSON.stringify({
    type: "external_account",
    credential_source: { url: "http://10.0.0.1" },
  });
  it.each([
    [{ dialect: "bedrock", base_url: publicUrl }, "auth"],
    [{ dialect: "vertex", base_url: "https://8.8.8.8/v1/projects/p/locations/l" }, "auth"],
    [{ dialect: "azure", base_url: "https://8.8.8.8/openai/v1" }, "auth"],
    [{ auth: { type: "aws", region: "us-east-1", service: "bedrock" } }, "auth.access_key_id"],
    [
      { auth: { type: "aws", region: "us-east-1", service: "bedrock", profile: "root" } },
      "auth.profile",
    ],
    [{ proxy: "http://10.0.0.1:3128" }, "proxy"],
    [{ tls: { ca: "/etc/passwd" } }, "tls"],
    [{ auth: { type: "azure" } }, "auth.client_secret"],
    [{ auth: { type: "azure", client_id: "managed" } }, "auth.client_secret"],
    [{ auth: { type: "google" } }, "auth.service_account_key"],
    [{ auth: { type: "google", service_account_key: "/etc/passwd" } }, "auth.service_account_key"],
    [{ auth: { type: "google", service_account_key: serviceAccount } }, "auth.service_account_key"],
    [{ headers: { "x-key": "${DATABASE_URL}" }, api_key: secretKey }, "headers.x-key"],
    [
      {
        auth: {
          type: "azure",
          tenant_id: "t",
          client_id: "c",
          client_secret: secretKey,
          authority_host: "https://10.0.0.1",
        },
      },
      "auth.authority_host",
    ],
  ])(
    "is refused with %j, which would use the machine's own identity or files: %s",
    async (more, param) => {
      const { api_key: _none, ...body } = providerBody("machine", publicUrl, { models: [] });
      const answer = await gateway.admin("POST", "/providers", { ...body, ...more });
      expect([answer.status, answer.json.error.param]).toEqual([400, param]);
      expectNoKey(answer.text);
    },
  );

  it("may have a cloud's secret, which is sealed, used and never shown", async () => {
    const { api_key: _none, ...body } = providerBody("cloud", publicUrl);
    const auth = {
      type: "aws",
      region: "us-east-1",
      service: "bedrock",
      access_key_id: "AKIA",
      secret_access_key: secretKey,
    };
    const made = await gateway.admin("POST", "/providers", { ...body, auth });
    expect(made.json.auth).toMatchObject({ access_key_id: "AKIA", secret_access_key: "****" });
    expectNoKey(made.text);
    expect(gateway.catalog().providers.get("cloud")!.access!.auth).toMatchObject({
      secretAccessKey: secretKey,
    });
  });
});

describe("a provider's key", () => {
  let world: World;
  const lines: string[] = [];
  beforeAll(async () => {
    const write = (fields: object, message: string): void => {
      const { err } = fields as { err?: unknown };
      lines.push(message + JSON.stringify(fields) + format("%o", err));
    };
    const log = { debug: write, info: write, warn: write, error: write };
    world = await startWorld({ log });
  });
  afterAll(() => world.close());

  it("is in no answer, log line, audit entry, request row or metric, even if requests are wrong", async () => {
    const { gateway, upstream } = world;
    const texts: string[] = [];
    const ask = async (method: string, path: string, body?: unknown): Promise<number> => {
      const answer = await gateway.admin(method, path, body);
      texts.push(answer.text);
      return answer.status;
    };
    const good = providerBody("leaks", upstream.url, {
      headers: { "x-api-token": secretKey },
      query: { key: secretKey },
      request: { add: { password: secretKey } },
    });
    // Invalid in every field, with the key in every wrong place.
    for (const wrong of [
      { dialect: secretKey },
      { base_url: secretKey },
      { base_url: `https://${secretKey}@host.example/v1` },
      { id: secretKey.replaceAll("-", " ") },
      { tier: secretKey },
      { on_disconnect: secretKey },
      { vendor: secretKey },
      { unknown: secretKey },
      { timeouts: { connect_s: secretKey } },
      { auth: { type: secretKey } },
      { paths: { chat: secretKey } },
      { paths: { [secretKey.toLowerCase()]: "/x" } },
      { headers: { "bad header": secretKey } },
      { headers: { "x-api-key": `${secretKey}\u0001` } },
      { models: [{ id: secretKey }] },
      { models: [modelRow(`x/${secretKey}`, { kind: secretKey })] },
      { models: [modelRow("x/y", { offers: [{ provider: secretKey }] })] },
      { api_key: [secretKey] },
      { api_key: `****${secretKey.slice(-4)}` },
      { api_key: `${secretKey}\0` },
      {
        api_key: undefined,
        credentials: [{ id: secretKey.replace("-", " "), api_key: secretKey }],
      },
      { credentials: [{ id: "a", api_key: secretKey }] },
    ]) {
      const status = await ask("POST", "/providers", { ...good, ...wrong });
      expect({ wrong, status }).toEqual({ wrong, status: 400 });
    }
    const refusals = texts.splice(0).filter((text) => !text.includes("There is no field"));
    for (const text of refusals) expectNoKey(text.replaceAll(secretKey.toLowerCase(), ""));
    expect(await ask("POST", "/providers", good)).toBe(201);
    expect(await ask("POST", "/providers", good)).toBe(409);
    expect(await ask("GET", "/providers/leaks")).toBe(200);
    expect(await ask("GET", "/providers")).toBe(200);
    expect(await ask("GET", "/models")).toBe(200);
    upstream.answer((request, response) => {
      response.writeHead(401, { "content-type": "application/json" });
      const said = `No such key: ${JSON.stringify(request.headers)} ${request.path} ${request.text}`;
      response.end(JSON.stringify({ error: { message: said } }));
    });
    expect(await ask("POST", "/providers/leaks/test", {})).toBe(200);
    texts.push(await (await chat(gateway, "leaks/model")).text());
    expect(await ask("GET", "/providers/leaks")).toBe(200);
    expect(await ask("PATCH", "/providers/leaks", { api_key: secretKey, dialect: "none" })).toBe(
      400,
    );
    expect(await ask("POST", "/providers/leaks/credentials", { id: "b", api_key: secretKey })).toBe(
      201,
    );
    expect(await ask("DELETE", "/providers/leaks/credentials/b")).toBe(200);
    expect(await ask("DELETE", "/providers/leaks")).toBe(200);
    expect(await ask("GET", "/audit?limit=100")).toBe(200);
    expect(await ask("GET", "/requests?limit=100")).toBe(200);
    texts.push(await (await fetch(`${gateway.url}/metrics`)).text());
    expect(texts.join()).toContain("provider.create");
    expectNoKey(texts.join("\n"));
    expect(lines.length).toBeGreaterThan(0);
    expectNoKey(lines.join("\n"));
  });

  it("is refused at 100 kB, as are other long fields and ids", async () => {
    const { gateway, upstream } = world;
    const long = "a".repeat(100_000);
    const body = providerBody("long", upstream.url);
    for (const more of [
      { id: long },
      { vendor: long },
      { api_key: long },
      { tier: long },
      { base_url: `https://${long}.example` },
      { models: [modelRow(`x/${long}`)] },
      { models: [modelRow("x/y", { aliases: [long] })] },
      { models: [modelRow("x/y", { name: long })] },
      { headers: { [long]: "x" } },
      { api_key: undefined, credentials: [{ id: long, api_key: "k" }] },
    ]) {
      const answer = await gateway.admin("POST", "/providers", { ...body, ...more });
      expect(answer.status).toBe(400);
      expect(answer.text.length).toBeLessThan(5_000);
    }
    for (const path of [
      `/providers/${long.slice(0, 5_000)}`,
      "/providers/%00",
      "/providers/a%2Fb",
    ]) {
      const answer = await gateway.admin("POST", `${path}/pause`, {});
      expect([404, 400]).toContain(answer.status);
    }
  });
});

describe("a user without the admin token", () => {
  let world: World;
  const people: Person[] = [];
  beforeAll(async () => {
    world = await startWorld();
    const { gateway } = world;
    must(await gateway.admin("POST", "/providers", providerBody("seen", world.upstream.url)));
    for (const role of ["admin", "member"] as const) {
      const email = `${role}@example.com`;
      people.push(await newMember(gateway, gateway.workspaceId, { email, role }));
    }
  });
  afterAll(() => world.close());

  it("sees a provider and its state, but not its address and accounts", async () => {
    for (const person of people) {
      for (const path of ["/providers", "/providers/seen"]) {
        const { status, text } = await person.call("GET", path);
        expect(status).toBe(200);
        expect(text).toContain('"seen"');
        expect(text).not.toContain(world.upstream.url);
        expect(text).not.toMatch(/credentials|errors_last_hour|circuits|model_rows|source_line/);
      }
    }
  });

  it("is refused any change with 403 before anything is checked, for unknown names too", async () => {
    const body = { ...providerBody("theirs", "http://169.254.169.254") };
    for (const person of people) {
      for (const [method, path, given] of [
        ["POST", "/providers", body],
        ["PATCH", "/providers/seen", { api_key: "x" }],
        ["DELETE", "/providers/seen", undefined],
        ["POST", "/providers/seen/credentials", { id: "x", api_key: "x" }],
        ["DELETE", "/providers/seen/credentials/default", undefined],
        ["POST", "/providers/seen/test", {}],
        ["POST", "/providers/seen/pause", {}],
        ["POST", "/providers/seen/resume", {}],
        ["DELETE", "/providers/missing", undefined],
      ] as const) {
        const answer = await person.call(method, path, given);
        expect([method, path, answer.status]).toEqual([method, path, 403]);
      }
    }
    expect(world.gateway.catalog().providers.get("seen")!.credentials[0]!.apiKey).toBe(secretKey);
  });
});

describe("the test call to a provider that hangs", () => {
  it("ends at its deadline, also if the answer drips; eight run at a time", async () => {
    const world = await startWorld();
    try {
      const { gateway, upstream } = world;
      const timeouts = { first_byte_s: 0.3 };
      must(
        await gateway.admin(
          "POST",
          "/providers",
          providerBody("hangs", upstream.url, { timeouts }),
        ),
      );
      upstream.answer(() => undefined);
      const trial = must(await gateway.admin("POST", "/providers/hangs/test", {}));
      expect(trial).toMatchObject({ ok: false, status: null });
      expect(trial.message).toMatch(/no answer in time/);
      const { tryProvider } = await import("../../src/calls/index.ts");
      const { createPools } = await import("../../src/upstream/index.ts");
      const pools = createPools();
      const catalog = gateway.catalog();
      // A server that sends its answer byte by byte is cut off too.
      upstream.answer((_request, response) => {
        response.writeHead(200, { "content-type": "application/json" });
        const drip = setInterval(() => response.write(" "), 50);
        response.on("close", () => clearInterval(drip));
      });
      const slow = {
        ...catalog.providers.get("hangs")!,
        timeouts: { connectMs: 9e4, firstByteMs: 9e4, idleMs: 9e4, totalMs: 9e4 },
      };
      const trials = Array.from({ length: 9 }, () =>
        tryProvider(pools, { catalog, provider: slow, deadlineMs: 400 }),
      );
      const ended = await Promise.allSettled(trials);
      const refused = ended.filter(({ status }) => status === "rejected");
      expect(refused).toHaveLength(1);
      const cut = ended.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      expect(cut.map(({ ok, message }) => `${ok} ${message}`)).toEqual(
        cut.map(() => "false no answer within 400 ms"),
      );
      expect(cut).toHaveLength(8);
      await pools.close();
    } finally {
      await world.close();
    }
  });
});
