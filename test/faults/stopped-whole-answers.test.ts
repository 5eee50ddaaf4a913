/** Whole answers that are half received when a stopping gateway cuts its calls: their callers get an error and pay nothing. */
import { expect, it } from "vitest";
import { openDatabase } from "../../src/storage/index.ts";
import { verifyLedger } from "../../src/verification/index.ts";
import { chatConfig, talk } from "../money/support.ts";
import { startTestGateway } from "../support/gateway.ts";
import { eventually } from "../support/patience.ts";
import { sharedPostgres, silentLog, temporaryDirectory } from "../support/postgres.ts";
import { startRecorder } from "../support/recorder.ts";

const vectors = `  - id: acme/vector
    kind: embedding
    context_length: 8192
    offers:
      - { provider: up, upstream_model: vector-1, price: { input: "1" } }
`;

it.each(["abort", "drain"])(
  "T62 ERR-01: with on_disconnect %s half-received answers become 503 in the caller's protocol, without a charge or another attempt",
  async (onDisconnect) => {
    const vendor = await startRecorder((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write(
        '{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"Hel',
      );
    });
    const provider = `on_disconnect: ${onDisconnect}`;
    const text = chatConfig(vendor.url, 'price: { input: "500", output: "2000" }', { provider });
    const databaseUrl = await (await sharedPostgres()).createMigrated();
    const gateway = await startTestGateway({
      databaseUrl,
      dataDir: temporaryDirectory(),
      config: text + vectors,
      // Leaves as much time for the final errors as the default does.
      stopMs: 4_000,
    });
    await gateway.credit("100");
    const calls = [
      gateway.post("/v1/chat/completions", talk()),
      gateway.post("/v1/embeddings", { model: "acme/vector", input: "Hello" }),
    ];
    await eventually(() => vendor.requests.length === calls.length, "calls under way");
    const closed = gateway.close();
    for (const answer of await Promise.all(calls)) {
      expect(answer.status).toBe(503);
      expect(await answer.json()).toMatchObject({
        error: { code: "shutting_down", message: expect.stringContaining("Nothing was charged.") },
      });
    }
    await closed;
    expect(vendor.requests).toHaveLength(calls.length);
    await vendor.close();
    const database = await openDatabase({ url: databaseUrl, log: silentLog });
    const rows = await database.query(
      "select status, cost_nano, json_array_length(attempts) as attempts from request_log",
    );
    const row = { status: "failed", cost_nano: 0n, attempts: 1 };
    expect(rows).toEqual([row, row]);
    expect(await verifyLedger(database)).toEqual([]);
    await database.close();
  },
);
