/**
 * Prints how many abort signals and listeners 200 requests leave behind at the signal that may abort them. A process of its
 * own, because its heap is small: searching that of a test process takes seconds.
 */
import { getEventListeners } from "node:events";
import { queryObjects } from "node:v8";
import { guardedRequest } from "../../src/upstream/index.ts";
import { serve } from "./servers.ts";

const server = await serve((_request, response) => response.end());
const { signal } = new AbortController();
const signals = () => queryObjects(AbortSignal, { format: "count" });
const before = signals();
for (let count = 0; count < 200; count += 1)
  await guardedRequest({
    https: false,
    allowPrivate: true,
    param: "webhook_url",
    url: `http://127.0.0.1:${server.port}/`,
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
    timeoutMs: 30_000,
    responseBytesMax: 1_000,
    signal,
  });
const left = { signals: signals() - before, listeners: getEventListeners(signal, "abort").length };
await server.close();
process.stdout.write(JSON.stringify(left));
