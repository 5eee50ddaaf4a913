// A streamed image whose client reads only the previews: backpressure stops the vendor until the call times out. The vendor makes
// and bills the picture, so the client pays for the part that arrived, as if it had left. T62.
import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { afterEach, expect, it, onTestFinished, vi } from "vitest";
import { silentLog, type Log } from "../../src/base/log.ts";
import { formatSse } from "../../src/base/sse.ts";
import { connectUnread, restOf } from "../support/held-client.ts";
import { eventually } from "../support/patience.ts";
import { unreadAt } from "../support/unread.ts";
import { formOf, picture, type Bytes } from "./support.ts";
import { startVendors } from "./two-vendors.ts";

let vendors: Awaited<ReturnType<typeof startVendors>>;
afterEach(() => vendors.close());

const fields = { model: "acme/edit:first", prompt: "x", stream: "true", partial_images: "2" };

/** Makes a call over a connection that is not read yet. */
async function call(image: Bytes): Promise<Socket> {
  const asked = new Request(vendors.bench.url, { method: "POST", body: formOf(fields, { image }) });
  const body = Buffer.from(await asked.arrayBuffer());
  const socket = await connectUnread(vendors.bench.url);
  socket.write(
    `POST /v1/images/edits HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${vendors.bench.key}\r\n` +
      `content-type: ${asked.headers.get("content-type")}\r\ncontent-length: ${body.length}\r\n\r\n`,
  );
  socket.write(body);
  return socket;
}

interface Row {
  readonly status: string;
  readonly usage_source: string | null;
  readonly cost_nano: bigint;
  readonly attempts: readonly { readonly outcome: string }[];
}

it("BILL-21 T62: a stream that its client reads too slowly ends at the timeout, its input and previews are charged, and the provider is not blamed", async () => {
  const warn = vi.fn<Log["warn"]>();
  vendors = await startVendors({ timeouts: "{ total_s: 60 }", log: { ...silentLog, warn } });
  const { bench } = vendors;
  const image = await picture();
  // More than the buffers of a connection hold.
  const b64_json = Buffer.concat([image, randomBytes(12 * 2 ** 20)]).toString("base64");
  vendors.answer((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const type = "image_edit.partial_image";
    for (let index = 0; index < 2; index += 1)
      response.write(
        formatSse({
          event: type,
          data: JSON.stringify({ type, b64_json, partial_image_index: index }),
        }),
      );
  });
  // The call's time stands still until the system holds data that the client does not read.
  vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const socket = await call(image);
  await eventually(() => unreadAt(bench.url) === 1, "data that the client does not read");
  await vi.advanceTimersByTimeAsync(60_000);
  vi.useRealTimers();
  const row = await eventually(async () => {
    const rows = await bench.database.query<Row>(
      "select status, usage_source, cost_nano, attempts from request_log",
    );
    return rows[0];
  }, "the call's end");
  expect(row).toMatchObject({ status: "failed", usage_source: "estimated" });
  expect(row.cost_nano).toBeGreaterThan(0n);
  expect((await bench.state()).chargedNano).toBe(row.cost_nano);
  // Nothing counts against the provider.
  expect(row.attempts).toMatchObject([{ outcome: "aborted" }]);
  expect(warn).not.toHaveBeenCalledWith(expect.anything(), "an attempt at a provider failed");
  // The client gets an error instead of a picture.
  expect(await restOf(socket)).toContain("read so slowly");
  socket.destroy();
});
