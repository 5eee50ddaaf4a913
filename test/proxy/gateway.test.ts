/** A whole gateway behind a proxy: calls, streams, failover from a dead proxy, and the messages to operator and caller. */
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startSandbox, type Sandbox } from "../../sandbox/index.ts";
import type { Log } from "../../src/base/log.ts";
import { fileOf } from "../clouds/support.ts";
import { startTestGateway, type GatewayUnderTest } from "../support/gateway.ts";
import { eventually } from "../support/patience.ts";
import { startProxy, type TestProxy } from "../support/proxy.ts";

const secret = "pass-word-88231";
const credentials = `user:${secret}`;

/** Keeps everything that is logged, as the JSON lines of the log. */
function keptLog(): { log: Log; lines: string[] } {
  const lines: string[] = [];
  return { log: pino({ base: null }, { write: (line) => void lines.push(line) }), lines };
}

let sandbox: Sandbox;
let via: TestProxy;
let gateway: GatewayUnderTest;
const { log, lines } = keptLog();

beforeAll(async () => {
  sandbox = await startSandbox({ port: 0, host: "127.0.0.1" });
  via = await startProxy({ user: credentials });
  const base = `dialect: openai-compatible, base_url: "${sandbox.url}/openai/v1", api_key: sandbox`;
  const offer = (provider: string, isDearer = false) => ({ provider, protocol: "chat", isDearer });
  const served = (id: string, ...offers: ReturnType<typeof offer>[]) => ({
    id,
    upstreamModel: "sandbox-large",
    offers,
  });
  gateway = await startTestGateway({
    log,
    environment: { HTTP_PROXY: via.url },
    config: fileOf(
      [
        `id: plain, ${base}`,
        `id: straight, ${base}, proxy: none`,
        `id: dead, ${base}, proxy: "http://${credentials}@127.0.0.1:1"`,
        `id: refused, ${base}, proxy: "${via.url.replace(secret, `${secret}-wrong`)}"`,
        `id: unnamed, dialect: openai-compatible, base_url: "https://nobody.invalid/v1", api_key: x, proxy: none`,
      ],
      [
        served("acme/plain", offer("plain")),
        served("acme/straight", offer("straight")),
        served("acme/failover", offer("dead"), offer("straight", true)),
        served("acme/dead", offer("dead")),
        served("acme/refused", offer("refused")),
        served("acme/unnamed", offer("unnamed")),
      ],
    ),
  });
  await gateway.credit("100");
});
afterAll(async () => {
  await gateway.close();
  await via.close();
  await sandbox.close();
});

const chat = (model: string, stream = false) =>
  gateway.post("/v1/chat/completions", {
    model,
    stream,
    messages: [{ role: "user", content: "Hi" }],
  });

interface LogRow {
  readonly attempts: readonly { provider: string; outcome: string; message?: string }[];
}

const attemptsOf = (answer: Response): Promise<LogRow["attempts"]> =>
  eventually(async () => {
    const id = answer.headers.get("x-request-id");
    const sql = "select attempts from request_log where id = $1";
    const [row] = await gateway.database.query<LogRow>(sql, [id]);
    return row?.attempts;
  }, "the call in the request log");

describe("a gateway behind a proxy", () => {
  it.each([false, true])("sends calls to providers through it (stream: %s)", async (stream) => {
    const before = via.asked.length;
    const answer = await chat("acme/plain", stream);
    expect(answer.status).toBe(200);
    expect((await answer.text()).length).toBeGreaterThan(20);
    expect(via.asked.slice(before)).toEqual([`POST ${sandbox.url}/openai/v1/chat/completions`]);
  });

  it("calls a provider with `proxy: none` directly", async () => {
    const before = via.asked.length;
    expect((await chat("acme/straight")).status).toBe(200);
    expect(via.asked).toHaveLength(before);
  });

  it("fails over from a provider whose proxy is dead", async () => {
    const answer = await chat("acme/failover:@price");
    expect(answer.status).toBe(200);
    await answer.text();
    const attempts = await attemptsOf(answer);
    expect(attempts.at(-1)).toMatchObject({ provider: "straight", outcome: "ok" });
    expect(attempts[0]).toMatchObject({
      provider: "dead",
      message: expect.stringMatching(/PROXY_UNREACHABLE .*ECONNREFUSED/),
    });
  });

  it.each([
    ["acme/dead", "proxy", "PROXY_UNREACHABLE http://127.0.0.1:1 "],
    ["acme/refused", "proxy", "PROXY_407 "],
    ["acme/unnamed", "dns", "nobody.invalid (DNS: "],
  ])(
    "%s: the log names the outcome %s and the reason, the caller's error does not",
    async (model, outcome, reason) => {
      const before = lines.length;
      const answer = await chat(model);
      expect(answer.status).toBe(502);
      const body = await answer.text();
      expect(body).toContain("upstream_error");
      expect(body).not.toMatch(/PROXY|127\.0\.0\.1|invalid|ENOTFOUND|EAI_AGAIN/);
      const warned = lines.slice(before).join("");
      expect(warned).toContain(`"outcome":"${outcome}"`);
      expect(warned).toContain(reason);
    },
  );

  it("stores the reason with the call in the request log", async () => {
    const answer = await chat("acme/refused");
    await answer.text();
    const [attempt] = await attemptsOf(answer);
    expect(attempt).toMatchObject({
      outcome: "proxy",
      message: expect.stringMatching(/PROXY_407 .*check user and password/),
    });
  });

  it("writes the proxy's password neither to the request log nor to the log", async () => {
    await gateway.own.flushLogs();
    const sql = "select json_agg(request_log)::text as rows from request_log";
    const [logged] = await gateway.database.query<{ rows: string }>(sql);
    const written = logged!.rows + lines.join("");
    expect(written).toContain("PROXY_407");
    expect(written).not.toContain(secret);
    expect(written).not.toContain(Buffer.from(credentials).toString("base64"));
  });
});
