/**
 * A replaced worker has minutes for its calls. If the whole gateway stops meanwhile, its calls have no more time than those of
 * other workers.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { stopServer } from "../../src/http/index.ts";

it("BILL-01: calls in flight of a replaced worker are cut when the whole gateway has to stop sooner", async () => {
  const server = createServer(() => undefined).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const asked = once(server, "request");
  const call = fetch(`http://127.0.0.1:${port}/`).then(
    () => "answered",
    () => "cut",
  );
  await asked;
  const cutShort = new AbortController();
  const nothing = (): void => undefined;
  const stopping = {
    refuse: nothing,
    answerWaiting: nothing,
    endStreams: nothing,
    cutShort: { signal: cutShort.signal, ms: 50 },
  };
  const stopped = stopServer(server, stopping, 600_000);
  const first = await Promise.race([call, nextTick()]);
  expect(first).toBe("under way");
  cutShort.abort();
  await stopped;
  expect(await call).toBe("cut");
});

const nextTick = (): Promise<string> =>
  new Promise((resolve) => setImmediate(resolve, "under way"));
