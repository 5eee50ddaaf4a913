/** The rest of a refused form: it is read for a while, so that the client reads the answer, but only if there is a rest. */
import { once } from "node:events";
import { PassThrough } from "node:stream";
import type { FastifyRequest } from "fastify";
import { afterEach, expect, it, vi } from "vitest";
import { ByteBudget } from "../../src/base/byte-budget.ts";
import { systemClock } from "../../src/base/clock.ts";
import { receiveForm } from "../../src/http/forms/receive-form.ts";
import { uploadBudget } from "../../src/http/forms/uploads.ts";
import type { HttpServices } from "../../src/http/services.ts";

const services = {
  files: {},
  database: {},
  images: { clock: systemClock },
  bodies: { uploads: uploadBudget() },
} as unknown as HttpServices;

const restMs = 10_000;
const waits = () => vi.mocked(setTimeout).mock.calls.filter(([, ms]) => ms === restMs).length;

function begin(start: string) {
  vi.spyOn(globalThis, "setTimeout");
  const headers = { "content-type": "multipart/form-data; boundary=xyz" };
  const raw = Object.assign(new PassThrough(), { headers });
  raw.write(start);
  const caller = { workspaceId: "ws_1" };
  const request = { raw, headers, caller, lease: new ByteBudget(1e9).lease() };
  return { raw, received: receiveForm(services, request as unknown as FastifyRequest) };
}

afterEach(() => {
  vi.restoreAllMocks();
});

it.each([
  ["ended too early", (raw: PassThrough) => raw.end()],
  ["broke off", (raw: PassThrough) => raw.destroy(new Error("gone"))],
])("nothing waits for the rest of a form that %s", async (_how, finish) => {
  const { raw, received } = begin("--xyz\r\n");
  raw.on("error", () => undefined);
  const closed = once(raw, "close").catch(() => undefined);
  finish(raw);
  await expect(received).rejects.toThrow(/ends before its closing boundary|could not be read/);
  await closed;
  expect(waits()).toBe(0);
});

it("a refused form is read to its end, and the wait for it ends then", async () => {
  const { raw, received } = begin("--xyz\r\nbroken\r\n\r\n");
  await expect(received).rejects.toThrow("A part of the body has a malformed header.");
  expect(waits()).toBe(1);
  const cleared = vi.spyOn(globalThis, "clearTimeout");
  raw.end("more");
  await once(raw, "close");
  expect(raw.readableEnded).toBe(true);
  expect(cleared).toHaveBeenCalled();
});
