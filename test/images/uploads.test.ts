// Edits whose body is incomplete or no form: refused or given up, without leftovers.
import { connect } from "node:net";
import { once } from "node:events";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bodyOf } from "../task-http/upload-support.ts";
import { modelB, picture, startImages, type Bytes, type ImageBench } from "./support.ts";

let bench: ImageBench;
let whole: Buffer;
let image: Bytes;
beforeAll(async () => {
  bench = await startImages();
  image = await picture();
  whole = bodyOf([
    ["model", modelB],
    ["prompt", "A fox"],
    ["image", image, "a.png"],
    ["size", "64x64"],
  ]);
});
afterAll(() => bench.close());

const post = (body: Buffer) =>
  fetch(`${bench.url}/v1/images/edits`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${bench.key}`,
      "content-type": "multipart/form-data; boundary=xyz",
    },
    body: new Uint8Array(body),
  });

describe("an incomplete or changed body", () => {
  it("EDIT2-38: is refused wherever it is cut, and leaves nothing behind", async () => {
    const before = await bench.state();
    const closing = whole.length - "--\r\n".length;
    for (const at of [0, 1, 30, 80, 200, whole.length - 60, closing - 1]) {
      expect((await post(whole.subarray(0, at))).status).toBe(400);
    }
    expect(await bench.state()).toEqual(before);
  });

  it("leaves nothing behind if its client leaves in the middle of a file", async () => {
    const before = await bench.state();
    const socket = connect(Number(new URL(bench.url).port), "127.0.0.1");
    await once(socket, "connect");
    const at = whole.indexOf(image) + 100;
    socket.write(
      `POST /v1/images/edits HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${bench.key}\r\n` +
        `content-type: multipart/form-data; boundary=xyz\r\ncontent-length: ${whole.length}\r\n\r\n`,
    );
    socket.write(whole.subarray(0, at));
    const rows = () => bench.database.query("select name from files where purpose = 'input'");
    await expect.poll(async () => (await rows()).length).toBeGreaterThan(0);
    socket.destroy();
    await expect.poll(() => bench.state()).toEqual(before);
  });

  it("with random changes never crashes the gateway, is never charged without a picture, and leaves nothing behind", async () => {
    const change = fc.record({
      at: fc.nat(),
      drop: fc.nat({ max: 40 }),
      put: fc.uint8Array({ maxLength: 20 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
        const before = await bench.state();
        let body = whole;
        for (const { at, drop, put } of changes) {
          const from = at % body.length;
          body = Buffer.concat([body.subarray(0, from), put, body.subarray(from + drop)]);
        }
        const answer = await post(body);
        await answer.arrayBuffer();
        expect([200, 400, 403, 413, 422]).toContain(answer.status);
        const kept = before.files.length + (answer.status === 200 ? 1 : 0);
        // A call's uploads are removed after its answer.
        await expect.poll(async () => (await bench.state()).files.length).toBe(kept);
        const after = await bench.state();
        expect(after.chargedNano > before.chargedNano).toBe(answer.status === 200);
        expect(after.holds).toBe(0);
      }),
      { numRuns: 60, endOnFailure: true },
    );
  });
});
