// The storage fails while a picture is made. The picture has arrived and is billed, so the gateway holds it until it can store it, or
// until the call times out. docs/data.md "When files cannot be kept".
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { ledgerReaderOf } from "../money/support.ts";
import { canMount, fillDisk, mountDisk, unmountDisk } from "../support/disk.ts";
import { eventually } from "../support/patience.ts";
import { json, startRecorder } from "../support/recorder.ts";
import { formOf, picture } from "./support.ts";
import { generating, startVendors } from "./two-vendors.ts";

let vendors: Awaited<ReturnType<typeof startVendors>>;
afterEach(() => vendors.close());

/** Starts vendors. When the first one answers, the directory of files is replaced. */
async function start(options: Parameters<typeof startVendors>[0] = {}) {
  vendors = await startVendors(options);
  const { bench } = vendors;
  const files = join(bench.directory, "data", "files");
  const image = await picture();
  vendors.answer((request, response) => {
    rmSync(files, { recursive: true });
    writeFileSync(files, "no directory");
    const usage = { input_tokens: 10, output_tokens: 20, total_tokens: 30 };
    return json({ data: [{ b64_json: image.toString("base64") }], usage })(request, response);
  });
  const edit = (stream: string) =>
    fetch(`${bench.url}/v1/images/edits`, {
      method: "POST",
      headers: { authorization: `Bearer ${bench.key}`, "idempotency-key": "order-1" },
      body: formOf({ model: "acme/edit:first", prompt: "x", stream }, { image }),
    });
  const repairStorage = (): void => {
    rmSync(files);
    mkdirSync(files);
  };
  const isFailing = async (): Promise<boolean> =>
    (await (await bench.get("/readyz")).text()).includes("failing");
  return { bench, image, edit, repairStorage, isFailing };
}

it.each(["false", "true"])(
  "STORE-01: a picture that is made while storage fails is answered and charged once storage is back (stream %s)",
  async (stream) => {
    const { bench, image, edit, repairStorage, isFailing } = await start();
    const call = edit(stream);
    await eventually(isFailing, "a storage that fails");
    repairStorage();
    const answer = await call;
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain(image.toString("base64"));
    expect((await bench.state()).chargedNano).toBe(30_000n);
    // The repetition gets the stored picture.
    const again = await edit(stream);
    expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
    expect(vendors.first.requests).toHaveLength(1);
    await ledgerReaderOf(bench.database).expectClean();
  },
);

it("STORE-01: a call fails with an error message, uncharged, if storage does not recover in the call's time", async () => {
  const { bench, edit, repairStorage } = await start({ timeouts: "{ total_s: 2 }" });
  const answer = await edit("false");
  expect(answer.status).toBe(503);
  // The vendor bills the picture: an SDK must not ask for another one by itself.
  expect(answer.headers.get("x-should-retry")).toBe("false");
  expect(await answer.json()).toMatchObject({
    error: {
      code: "storage_unavailable",
      message: "The gateway's storage of files does not work now. Nothing was charged.",
    },
  });
  repairStorage();
  expect((await bench.state()).chargedNano).toBe(0n);
  await ledgerReaderOf(bench.database).expectClean();
});

it.each(["false", "true"])(
  "STORE-01: a gateway that stops while storage fails answers with an error message, and nothing is charged (stream %s)",
  async (stream) => {
    const { bench, edit, isFailing } = await start({ stopMs: 2_500 });
    const call = edit(stream);
    await eventually(isFailing, "a storage that fails");
    const closed = bench.close();
    const answer = await call;
    const text = await answer.text();
    await closed;
    expect(text).toContain('"code":"storage_unavailable"');
    expect(text).toContain("Nothing was charged.");
  },
);

it("STORE-01: a bucket that does not answer while its gateway stops keeps no caller from the error message", async () => {
  const bucket = await startRecorder(() => undefined);
  const more = `storage: { kind: s3, bucket: b, endpoint: "${bucket.url}", region: r, access_key_id: a, secret_access_key: s }`;
  vendors = await startVendors({ more, stopMs: 4_000 });
  const { bench } = vendors;
  vendors.answer(json({ data: [{ b64_json: (await picture()).toString("base64") }] }));
  const call = fetch(`${bench.url}/v1/images/generations`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${bench.key}`,
      "content-type": "application/json",
      "idempotency-key": "order-1",
    },
    body: JSON.stringify({ model: generating, prompt: "x" }),
  });
  await eventually(() => bucket.requests.some(({ method }) => method === "PUT"), "an upload");
  const closed = bench.close();
  const answer = await call;
  expect(answer.status).toBe(503);
  expect(await answer.text()).toContain('"code":"storage_unavailable"');
  await bucket.close();
  await closed;
});

it.skipIf(!canMount)(
  "STORE-01: a picture that is made while the disk is full is answered when there is room again",
  async () => {
    const { bench, image, edit, isFailing } = await start();
    const disk = join(bench.directory, "data", "files");
    mountDisk(disk, 1);
    let makeRoom: () => void = () => undefined;
    vendors.answer((request, response) => {
      makeRoom = fillDisk(disk);
      return json({ data: [{ b64_json: image.toString("base64") }] })(request, response);
    });
    try {
      const call = edit("false");
      await eventually(isFailing, "a storage that fails");
      makeRoom();
      const answer = await call;
      expect(answer.status).toBe(200);
      await answer.text();
      await ledgerReaderOf(bench.database).expectClean();
    } finally {
      unmountDisk(disk);
    }
  },
);
