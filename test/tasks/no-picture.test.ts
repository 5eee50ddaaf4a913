// Results that begin like a picture and are none. docs/tasks.md; BILL-05, STORE-01.
import { expect, it } from "vitest";
import { submitStep } from "../../src/tasks/submit-step.ts";
import { ledgerReaderOf } from "../money/support.ts";
import { pixel } from "../support/pixel.ts";
import { json, type Recorded } from "../support/recorder.ts";
import { jobOf, rowOf, useWorld } from "./steps-support.ts";
import type { ServerResponse } from "node:http";

const world = useWorld();
const picture = Buffer.from(pixel, "base64");
const noHeader = Buffer.concat([picture.subarray(0, 8), Buffer.alloc(100, "x")]);
const noSize = Buffer.concat([picture.subarray(0, 16), Buffer.alloc(8), picture.subarray(24)]);

/** Runs a task whose vendor returns these bytes, inside its answer or at an address. Returns the task. */
async function made(bytes: Buffer, from: "b64_json" | "url") {
  const { painter } = world;
  const value = from === "url" ? `${painter.url}/made.png` : bytes.toString("base64");
  painter.answer((request: Recorded, response: ServerResponse) =>
    request.method === "POST"
      ? json({ data: [{ [from]: value }] })(request, response)
      : void response.writeHead(200, { "content-length": bytes.length }).end(bytes),
  );
  const { id } = await jobOf(world, "acme/pictures");
  await submitStep(world.services, await rowOf(world, id));
  return rowOf(world, id);
}

it.each([
  ["four bytes of a JPEG", Buffer.from("ffd8ff00", "hex")],
  ["a PNG without a header", noHeader],
  ["a PNG without a size", noSize],
])("BILL-05: %s in the answer or at its address fails the task, unbilled", async (_what, bytes) => {
  for (const from of ["b64_json", "url"] as const) {
    const task = await made(bytes, from);
    expect([task.status, task.costNano, task.artifacts]).toEqual(["failed", 0n, []]);
    expect(task.error).toMatchObject({ code: "artifact_unavailable" });
    const charges = await ledgerReaderOf(world.database).charges();
    expect(charges.filter(({ reference }) => reference === task.id)).toEqual([]);
  }
});

it("STORE-01: a picture is kept with all its bytes", async () => {
  for (const from of ["b64_json", "url"] as const) {
    const task = await made(picture, from);
    expect(task.artifacts).toMatchObject([{ mediaType: "image/png", bytes: picture.length }]);
  }
});
