/**
 * The database's host disappears without closing connections (a failover, a firewall that forgot its connections), and new
 * connections work. Calls go on within seconds, and answers of the meantime are charged. T67, T68.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestGateway } from "../support/gateway.ts";
import { patienceMs } from "../support/patience.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { startRecorder, type Recorder } from "../support/recorder.ts";
import {
  answering,
  benchOf,
  chatConfig,
  errorOf,
  eventually,
  talk,
  usageOf,
  type Bench,
} from "../money/support.ts";
import { startSilentProxy, type SilentProxy } from "./silent-proxy.ts";

let proxy: SilentProxy;
let up: Recorder;
let bench: Bench;

beforeAll(async () => {
  proxy = await startSilentProxy(await (await sharedPostgres()).createMigrated());
  up = await startRecorder(() => undefined);
  const gateway = await startTestGateway({
    databaseUrl: proxy.url,
    config: chatConfig(up.url, 'price: { input: "3", output: "15" }'),
  });
  await gateway.credit("1000");
  bench = await benchOf(gateway, up, { dataDir: gateway.directory });
});
afterAll(async () => {
  await bench.close();
  await up.close();
  proxy.close();
});

it(
  "T67 T68: silently dead connections are closed, and answers from that time are charged",
  async () => {
    const call = () => bench.post("/v1/chat/completions", talk());
    up.answer(answering(usageOf(100, 40)));
    expect((await call()).status).toBe(200);
    // The upstream answers when nothing reaches the database any more.
    up.answer(async (request, response) => {
      expect(proxy.silence()).toBeGreaterThan(1);
      up.answer(answering(usageOf(100, 40)));
      await answering(usageOf(100, 40))(request, response);
    });
    expect((await call()).status).toBe(200);
    expect((await call()).status).toBe(200);
    await eventually(
      async () => ((await bench.charges()).length === 3 ? true : undefined),
      "all three are charged",
    );
    await bench.expectClean();
  },
  2 * patienceMs,
);

it(
  "T67 T68: while no connection works, calls get database_unavailable within seconds",
  async () => {
    const call = () => bench.post("/v1/chat/completions", talk());
    proxy.takeNew(false);
    proxy.silence();
    expect(await errorOf(await call())).toMatchObject({ code: "database_unavailable" });
    proxy.takeNew(true);
    await eventually(async () => ((await call()).status === 200 ? true : undefined), "it is back");
  },
  2 * patienceMs,
);
