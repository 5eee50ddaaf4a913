/** A paused provider of any origin gets no new calls. Other providers serve the model, and the pause ends by itself. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startAdminGateway, type AdminGateway } from "../admin/support.ts";
import { eventually } from "../support/patience.ts";
import { json, startRecorder, type Recorder } from "../support/recorder.ts";
import { answering, chat, must } from "./support.ts";

const offer = (provider: string) =>
  `{ provider: ${provider}, protocol: chat, upstream_model: m, price: { input: "1", output: "1" } }`;
const config = (url: string) => `
providers:
  - { id: one, dialect: openai-compatible, base_url: "${url}/one", api_key: k1 }
  - { id: two, dialect: openai-compatible, base_url: "${url}/two", api_key: k2 }
models:
  - id: acme/both
    kind: text
    context_length: 1000
    max_output_tokens: 100
    offers: [${offer("one")}, ${offer("two")}]
  - id: acme/single
    kind: text
    context_length: 1000
    max_output_tokens: 100
    offers: [${offer("one").replace("model: m", "model: s")}]
  - id: acme/falling
    kind: text
    context_length: 1000
    max_output_tokens: 100
    fallbacks: [acme/single, acme/spare]
    offers: [${offer("one").replace("model: m", "model: f")}]
  - id: acme/spare
    kind: text
    context_length: 1000
    max_output_tokens: 100
    offers: [${offer("two").replace("model: m", "model: p")}]
`;

describe("pausing a provider of the configuration file", () => {
  let gateway: AdminGateway;
  let upstream: Recorder;
  beforeAll(async () => {
    upstream = await startRecorder(answering);
    gateway = await startAdminGateway({ config: config(upstream.url) });
    await gateway.credit("10");
  });
  afterAll(async () => {
    await gateway.close();
    await upstream.close();
  });
  beforeEach(() => upstream.answer(answering));

  const admin = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    gateway.admin(method, path, body, headers);
  const codeOf = async (model: string): Promise<unknown> => {
    const response = await chat(gateway, model);
    const body = (await response.json()) as { error?: { code: string } };
    return body.error?.code ?? response.status;
  };

  it("sends its calls to other providers, shows why in the plan, and answers 503 if none is left", async () => {
    const paused = must(await admin("POST", "/providers/one/pause", {}));
    const inMs = Date.parse(paused.paused_until) - Date.now();
    expect(inMs).toBeGreaterThan(3_500_000);
    expect(inMs).toBeLessThanOrEqual(3_600_000);
    expect(paused).toMatchObject({ source: "file", source_line: 3 });
    for (let call = 0; call < 8; call += 1) {
      expect(await codeOf("acme/both")).toBe(200);
      expect(upstream.requests.at(-1)!.path).toBe("/two/chat/completions");
    }
    const asked = upstream.requests.length;
    expect(await codeOf("acme/single")).toBe("no_provider_available");
    expect(await codeOf("acme/both:one")).toBe("no_provider_available");
    expect(upstream.requests.length).toBe(asked);
    const log = await eventually(async () => {
      const { data } = must(
        await admin("GET", "/requests?model=acme/both&status=succeeded&limit=1"),
      );
      return data[0];
    }, "the row of the last call");
    const row = must(await admin("GET", `/requests/${log.id}`));
    expect(row.explanation.plan.offers).toMatchObject([
      { provider: "one", excluded: `paused until ${paused.paused_until}` },
      { provider: "two" },
    ]);
    expect(must(await admin("GET", "/providers")).data[0].paused_until).toBe(paused.paused_until);
    expect(must(await admin("POST", "/providers/one/resume", {})).paused_until).toBeNull();
    expect(await codeOf("acme/single")).toBe(200);
  });

  it("with no other provider of the model moves calls to fallback models, including those in the request", async () => {
    must(await admin("POST", "/providers/one/pause", {}));
    const answer = await chat(gateway, "acme/falling");
    expect([answer.status, await answer.json()]).toMatchObject([200, { model: "acme/spare" }]);
    const named = { "x-gw-fallback-models": "acme/falling,acme/spare" };
    const body = { model: "acme/single", messages: [{ role: "user", content: "Hello" }] };
    expect((await gateway.post("/v1/chat/completions", body, named)).status).toBe(200);
    const none = { "x-gw-fallback-models": "acme/falling" };
    const refused = await gateway.post("/v1/chat/completions", body, none);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "30"]);
    expect(await refused.text()).toContain("paused by an administrator");
    must(await admin("POST", "/providers/one/resume", {}));
  });

  it("ends by itself, and a call in flight finishes", async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    upstream.answer(async (request, response) => {
      await released;
      return answering(request, response);
    });
    const asked = upstream.requests.length;
    const slow = codeOf("acme/single");
    await expect.poll(() => upstream.requests.length).toBe(asked + 1);
    const until = new Date(Date.now() + 1_500).toISOString();
    must(await admin("POST", "/providers/one/pause", { until }));
    expect(await codeOf("acme/single")).toBe("no_provider_available");
    release();
    expect(await slow).toBe(200);
    await eventually(async () => (await codeOf("acme/single")) === 200, "the end of the pause");
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(until));
    expect(must(await admin("GET", "/providers/one")).paused_until).toBeNull();
  });

  it("while an earlier provider is being called keeps the call from moving to it", async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    upstream.answer(async (request, response) => {
      await released;
      return json({ error: { message: "not now" } }, 500)(request, response);
    });
    const asked = upstream.requests.length;
    const call = codeOf("acme/both");
    await expect.poll(() => upstream.requests.length).toBe(asked + 1);
    const [, first] = upstream.requests[asked]!.path.split("/");
    const next = first === "one" ? "two" : "one";
    must(await admin("POST", `/providers/${next}/pause`, {}));
    release();
    expect(await call).not.toBe(200);
    const paths = upstream.requests.slice(asked).map(({ path }) => path.split("/")[1]);
    expect(new Set(paths)).toEqual(new Set([first]));
    must(await admin("POST", `/providers/${next}/resume`, {}));
  });

  it("is limited in time, checks If-Match, is audited, and is refused for unknown providers", async () => {
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
    for (const until of [inDays(8), inDays(-1), "soon, in a while"]) {
      const refused = await admin("POST", "/providers/one/pause", { until });
      expect([until, refused.status, refused.json.error.param]).toEqual([until, 400, "until"]);
    }
    expect((await admin("POST", "/providers/nobody/pause", {})).status).toBe(404);
    const etag = (await admin("GET", "/providers/two")).headers.get("etag")!;
    const tagged = { "if-match": etag };
    must(await admin("POST", "/providers/two/pause", { until: inDays(6) }, tagged));
    expect((await admin("POST", "/providers/two/resume", {}, tagged)).status).toBe(412);
    must(await admin("POST", "/providers/two/resume", {}));
    const { data } = must(await admin("GET", "/audit?action=provider.pause&limit=2"));
    expect(data[0]).toMatchObject({
      subject: { type: "provider", id: "two" },
      after: { paused_until: null },
    });
    expect(data[1].before).toEqual({ paused_until: null });
  });

  it("is the only change that the API allows: others are refused with its line", async () => {
    for (const [method, path, body] of [
      [
        "POST",
        "/providers",
        { id: "two", dialect: "openai-compatible", base_url: "https://8.8.8.8/v1", api_key: "k" },
      ],
      ["PATCH", "/providers/two", { api_key: "k" }],
      ["DELETE", "/providers/two", undefined],
      ["POST", "/providers/two/credentials", { id: "b", api_key: "k" }],
      ["DELETE", "/providers/two/credentials/default", undefined],
    ] as const) {
      const { status, json } = await admin(method, path, body);
      expect([method, path, status]).toEqual([method, path, 409]);
      expect(json.error.message).toBe(
        'The provider "two" is defined in the configuration file, line 4; change it there.',
      );
    }
  });
});

describe("a provider's errors of the last hour", () => {
  it("G1: are counted by code with the vendor's last message, next to resting keys and circuits", async () => {
    const upstream = await startRecorder(answering);
    const gateway = await startAdminGateway({ config: config(upstream.url) });
    try {
      await gateway.credit("10");
      upstream.answer((_request, response) => {
        response.writeHead(429, { "content-type": "application/json", "retry-after": "30" });
        response.end(JSON.stringify({ error: { message: "slow down, k1" } }));
      });
      expect((await chat(gateway, "acme/single")).status).toBe(429);
      const limited = must(await gateway.admin("GET", "/providers/one"));
      expect(limited.errors_last_hour).toMatchObject([
        { code: "rate_limit_exceeded", last_message: "slow down, k1" },
      ]);
      expect(limited.credentials[0]).toMatchObject({ id: "default", reason: "limited for s" });
      expect(Date.parse(limited.credentials[0].cooldown_until)).toBeGreaterThan(Date.now());
      upstream.answer((_request, response) => void response.writeHead(500).end("{}"));
      await eventually(async () => {
        await chat(gateway, "acme/single");
        return must(await gateway.admin("GET", "/providers/one")).circuits.length > 0;
      }, "an open circuit");
      const broken = must(await gateway.admin("GET", "/providers/one"));
      expect(broken.circuits).toMatchObject([{ model: "acme/single", state: "open" }]);
      expect(Date.parse(broken.circuits[0].next_probe_at)).toBeGreaterThan(
        Date.parse(broken.circuits[0].since),
      );
      const counts = broken.errors_last_hour as { code: string; count: number }[];
      const failures = counts.reduce((sum, { count }) => sum + count, 0);
      expect(failures).toBe(broken.calls_last_hour);
      expect(counts.map(({ code }) => code)).toContain("upstream_error");
    } finally {
      await gateway.close();
      await upstream.close();
    }
  });

  it("G1: leave out requests that were refused for the caller's mistake, in the list and in /metrics", async () => {
    const upstream = await startRecorder(answering);
    const gateway = await startAdminGateway({ config: config(upstream.url) });
    try {
      await gateway.credit("10");
      upstream.answer(json({ error: { message: "top_p must be below 1" } }, 400));
      expect((await chat(gateway, "acme/single")).status).toBe(400);
      upstream.answer(json({ error: { message: "out of order" } }, 500));
      expect((await chat(gateway, "acme/single")).status).toBe(502);
      const { calls_last_hour: calls, errors_last_hour: errors } = must(
        await gateway.admin("GET", "/providers/one"),
      );
      expect(errors).toEqual([
        { code: "upstream_error", count: calls - 1, last_message: "out of order" },
      ]);
      const { data } = must(await gateway.admin("GET", "/requests?http_status=400"));
      expect(data[0].attempts).toMatchObject([{ outcome: "upstream_rejected", fault: "caller" }]);
      const metrics = await (await gateway.get("/metrics")).text();
      const attempts = metrics.match(/^tollgate_attempts_total.*outcome="upstream.*$/gm);
      expect(attempts?.toSorted()).toEqual([
        `tollgate_attempts_total{provider="one",model="s",outcome="upstream_error"} ${calls - 1}`,
        'tollgate_attempts_total{provider="one",model="s",outcome="upstream_rejected",fault="caller"} 1',
      ]);
    } finally {
      await gateway.close();
      await upstream.close();
    }
  });
});
