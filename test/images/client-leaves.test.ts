// A streamed image whose client leaves after a preview: the charge, and later calls with the same idempotency key.
import type { ServerResponse } from "node:http";
import { connect } from "node:net";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { formatSse } from "../../src/base/sse.ts";
import { eventually } from "../support/patience.ts";
import { json } from "../support/recorder.ts";
import { formOf, picture, type Bytes } from "./support.ts";
import { startVendors } from "./two-vendors.ts";

let vendors: Awaited<ReturnType<typeof startVendors>>;
afterEach(() => vendors.close());

const key = { "idempotency-key": "stream-1" };
const fields = { model: "acme/edit:first", prompt: "x", stream: "true", partial_images: "3" };
const event = (type: string, data: object) =>
  formatSse({ event: type, data: JSON.stringify({ type, ...data }) });

/** Lets the vendor send previews, one by default, and then call `rest` when the client has left. */
function startStream(
  image: Bytes,
  rest: (response: ServerResponse) => void,
  previews = 1,
): { left: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  vendors.answer(async (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const b64_json = image.toString("base64");
    response.write(
      Array.from({ length: previews }, (_, at) =>
        event("image_edit.partial_image", { b64_json, partial_image_index: at }),
      ).join(""),
    );
    await promise;
    rest(response);
  });
  return { left: resolve };
}

/** Starts a stream, and leaves it after its first bytes. */
async function leaveStream(
  image: Bytes,
  headers: Readonly<Record<string, string>>,
  changes: Partial<typeof fields> = {},
): Promise<void> {
  const leaving = new AbortController();
  const answer = await fetch(`${vendors.bench.url}/v1/images/edits`, {
    method: "POST",
    headers: { authorization: `Bearer ${vendors.bench.key}`, ...headers },
    body: formOf({ ...fields, ...changes }, { image }),
    signal: leaving.signal,
  });
  const reader = answer.body!.getReader();
  expect((await reader.read()).done).toBe(false);
  leaving.abort();
  await reader.read().catch(() => undefined);
  // When later connections are answered, the gateway has seen the close.
  for (let looks = 0; looks < 3; looks += 1) await (await vendors.bench.get("/v1/models")).text();
}

/** Repeats the call. Returns its status with the error code or first line, and the charges so far. */
async function repeatCall(image: Bytes): Promise<[answer: string, chargedNano: bigint]> {
  const answer = await vendors.bench.edit(fields, { image }, key);
  const text = await answer.text();
  const code =
    answer.status === 200 ? text.split("\n")[0] : (JSON.parse(text) as Refused).error.code;
  return [`${answer.status} ${code}`, (await vendors.bench.state()).chargedNano];
}
/** True if nothing listens at the address. */
const isRefused = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    const { port, hostname } = new URL(url);
    const socket = connect(Number(port), hostname, () => {
      socket.destroy();
      resolve(false);
    });
    socket.once("error", () => resolve(true));
  });

interface Refused {
  readonly error: { readonly code: string };
}

describe("a stream that its client left after a preview", () => {
  it("T62 T67: was charged in part, and a repetition with the same key is charged nothing more", async () => {
    vendors = await startVendors();
    const image = await picture();
    startStream(image, () => undefined);
    await leaveStream(image, key);
    const { chargedNano } = await vendors.bench.state();
    expect(chargedNano).toBeGreaterThan(0n);
    vendors.answer(json({ data: [{ b64_json: image.toString("base64") }] }));
    expect(await repeatCall(image)).toEqual(["404 not_found", chargedNano]);
    expect(vendors.first.requests).toEqual([]);
    const other = await vendors.bench.edit({ ...fields, prompt: "y" }, { image }, key);
    expect(other.status).toBe(422);
  });

  it("BILL-20 T62: is charged for no more previews than it asked for, however many the vendor sent", async () => {
    vendors = await startVendors();
    const image = await picture();
    const charged: bigint[] = [];
    for (const [sent, asked] of [
      [1, "1"],
      [3, "1"],
      [2, "2"],
    ] as const) {
      startStream(image, () => undefined, sent);
      await leaveStream(image, {}, { partial_images: asked });
      charged.push((await vendors.bench.state()).chargedNano);
    }
    const [first = 0n, second = 0n, third = 0n] = charged;
    expect(first).toBeGreaterThan(0n);
    expect(second).toBe(first * 2n);
    expect(third - second).toBeGreaterThan(first);
  });

  it.each([
    [
      "reports an error",
      (response: ServerResponse) =>
        response.end(event("error", { error: { code: "server_error", message: "no" } })),
    ],
    ["breaks off", (response: ServerResponse) => response.destroy()],
  ])("BILL-22: costs nothing if its vendor is drained and then %s", async (_how, rest) => {
    vendors = await startVendors({ onDisconnect: "drain" });
    const { bench } = vendors;
    const image = await picture();
    const { left } = startStream(image, rest);
    await leaveStream(image, {});
    left();
    const { chargedNano } = await bench.state();
    expect(chargedNano).toBe(0n);
    const rows = () => bench.database.query("select status, cost_nano from request_log");
    await expect.poll(rows).toEqual([{ status: "client_closed", cost_nano: 0n }]);
  });

  it("T62: is drained until the picture is made, which the same key then gets without another charge", async () => {
    vendors = await startVendors({ onDisconnect: "drain" });
    const image = await picture();
    const b64_json = image.toString("base64");
    const usage = { input_tokens: 10, output_tokens: 20, total_tokens: 30 };
    const { left } = startStream(image, (response) =>
      response.end(event("image_edit.completed", { b64_json, usage })),
    );
    await leaveStream(image, key);
    left();
    await expect.poll(async () => (await vendors.bench.state()).chargedNano).toBe(30_000n);
    expect(await repeatCall(image)).toEqual(["200 event: image_edit.completed", 30_000n]);
  });
});

it("T62: a stream whose gateway stops after a preview ends with an error event, which says that what arrived is charged", async () => {
  vendors = await startVendors();
  const image = await picture();
  startStream(image, () => undefined);
  const answer = await vendors.bench.edit(fields, { image });
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = (await reader.read()).value ?? "";
  // The test moves the clock of the stop: calls end half a second before the cut at 20 s, which waits until their last events are read.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const closed = vendors.bench.close();
  await eventually(() => isRefused(vendors.bench.url), "the gateway to close its listeners");
  await vi.advanceTimersByTimeAsync(19_500);
  for (let next = await reader.read(); !next.done; next = await reader.read()) text += next.value;
  await vi.advanceTimersByTimeAsync(500);
  vi.useRealTimers();
  await closed;
  expect(text).toContain("event: image_edit.partial_image");
  expect(text).toMatch(/event: error\ndata: .*The gateway stops.*What arrived is charged\./);
});
