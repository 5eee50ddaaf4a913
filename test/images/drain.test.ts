// A provider that bills although the client has left: the gateway drains the answer, and charges it.
import { afterEach, expect, it, onTestFinished } from "vitest";
import { allow, secret } from "../hooks/support.ts";
import { json, startRecorder } from "../support/recorder.ts";
import { formOf, picture } from "./support.ts";
import { startVendors } from "./two-vendors.ts";

let vendors: Awaited<ReturnType<typeof startVendors>>;
afterEach(() => vendors.close());

it.each(["false", "true"])(
  "T62: with on_disconnect drain, a client that leaves is charged for the finished picture (stream %s)",
  async (stream) => {
    vendors = await startVendors({ onDisconnect: "drain" });
    const { bench } = vendors;
    const image = await picture();
    const { promise: left, resolve: leave } = Promise.withResolvers<void>();
    const usage = { input_tokens: 10, output_tokens: 20, total_tokens: 30 };
    vendors.answer(async (request, response) => {
      await left;
      await json({ data: [{ b64_json: image.toString("base64") }], usage })(request, response);
    });
    const leaving = new AbortController();
    const call = fetch(`${bench.url}/v1/images/edits`, {
      method: "POST",
      headers: { authorization: `Bearer ${bench.key}` },
      body: formOf({ model: "acme/edit:first", prompt: "x", stream }, { image }),
      signal: leaving.signal,
    });
    await expect.poll(() => vendors.first.requests.length).toBe(1);
    leaving.abort();
    await call.catch(() => undefined);
    leave();
    // USD 1 per million tokens.
    await expect.poll(async () => (await bench.state()).chargedNano).toBe(30_000n);
    expect(await bench.holds()).toBe(0);
    const rows = () =>
      bench.database.query("select status, usage_source from request_log where cost_nano = 30000");
    await expect.poll(rows).toEqual([{ status: "client_closed", usage_source: "upstream" }]);
    // The caller can get the charged picture from its task.
    const tasks = (await (await bench.get("/v1/tasks")).json()) as { data: { status: string }[] };
    expect(tasks.data.map(({ status }) => status)).toEqual(["succeeded"]);
  },
);

it("T62: with on_disconnect drain, a client that leaves before a provider is asked costs nothing", async () => {
  const { promise: left, resolve: leave } = Promise.withResolvers<void>();
  const hook = await startRecorder(async (request, response) => {
    await left;
    await allow(request, response);
  });
  onTestFinished(() => hook.close());
  vendors = await startVendors({
    onDisconnect: "drain",
    more: `hooks:\n  - { name: guard, at: before, url: "${hook.url}", secret: ${secret} }\n`,
  });
  const { bench } = vendors;
  const image = await picture();
  vendors.answer(json({ data: [{ b64_json: image.toString("base64") }] }));
  const leaving = new AbortController();
  const call = fetch(`${bench.url}/v1/images/edits`, {
    method: "POST",
    headers: { authorization: `Bearer ${bench.key}` },
    body: formOf({ model: "acme/edit:first", prompt: "x" }, { image }),
    signal: leaving.signal,
  });
  await expect.poll(() => hook.requests.length).toBe(1);
  leaving.abort();
  await call.catch(() => undefined);
  // When later connections are answered, the gateway has seen the close.
  for (let looks = 0; looks < 3; looks += 1) await (await bench.get("/v1/models")).text();
  leave();
  const rows = () => bench.database.query("select status, cost_nano::integer from request_log");
  await expect.poll(rows).toEqual([{ status: "client_closed", cost_nano: 0 }]);
  expect(vendors.first.requests).toEqual([]);
  expect(await bench.holds()).toBe(0);
});
