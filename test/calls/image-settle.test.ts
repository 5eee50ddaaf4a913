/** The end of an image call that cannot be charged: what its caller is told, and whether its answer stays in storage. T67, T68. */
import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { GatewayError, type ErrorCode } from "../../src/base/errors.ts";
import type { ImageContext } from "../../src/calls/image-context.ts";
import { settle, type ProducedPictures } from "../../src/calls/image-settle.ts";
import { startRecord } from "../../src/calls/record.ts";
import { openFileStore } from "../../src/files/index.ts";
import { requestOf } from "../media/support.ts";
import { manualClock } from "../support/manual-clock.ts";
import { silentLog, temporaryDirectory } from "../support/postgres.ts";

const rates = { input: 1n, imageInput: 1n, output: 1n, imageOutput: 1n };
const made = {
  candidate: {
    offer: { price: { basis: "image_tokens", ...rates } },
    provider: { id: "p", timeouts: { totalMs: 600_000 } },
  },
  pictures: [{ base64: "", header: { width: 16, height: 16, mediaType: "image/png" } }],
  rendered: {},
  reported: {},
} as unknown as ProducedPictures;

/** Ends a call whose charge fails. Returns the error of its caller, and the number of files that stay. */
async function endedBy(code: ErrorCode, hasKey: boolean) {
  const folder = temporaryDirectory();
  const store = await openFileStore({ kind: "local" }, folder);
  const failure = new GatewayError(code, "No.", { retryAfterSeconds: 2 });
  const record = startRecord({
    id: "req_1",
    startedMs: 0,
    protocol: "images_generations",
    stream: false,
    workspaceId: "w",
    keyId: "k",
    model: "m",
  });
  const context = {
    services: {
      holds: { charge: () => Promise.reject(failure) },
      database: { query: async () => [] },
      files: store,
      clock: manualClock(0),
      log: silentLog,
      retentionMs: 1_000,
    },
    call: {
      id: "req_1",
      form: "images",
      caller: { workspaceId: "w" },
      idempotency: hasKey ? { key: "one", hash: "h" } : undefined,
    },
    record,
    request: requestOf("image-a", { prompt: "a boat" }),
    hold: { id: "req_1", workspaceId: "w" },
    gone: new AbortController().signal,
    stopped: new AbortController().signal,
  } as unknown as ImageContext;
  const ended = settle(context, made, () => ({ created: 1 }));
  const error = await ended.catch((thrown: GatewayError) => thrown);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  return {
    isTheirs: error === failure,
    code: (error as GatewayError).code,
    shouldRetry: (error as GatewayError).shouldRetry,
    files: files.filter((file) => file.isFile()).length,
  };
}

describe("an image call that made its picture and is not charged", () => {
  it.each([
    // Its charge may have been committed: the answer stays, and a repetition finds it.
    ["database_unavailable", { isTheirs: true, files: 1 }],
    // Another call has the key: its answer is the one that a repetition gets.
    ["idempotency_in_progress", { isTheirs: true, files: 0 }],
    ["storage_unavailable", { isTheirs: false, shouldRetry: false, files: 0 }],
  ] as const)("T67: with an idempotency key and %s: %j", async (code, expected) => {
    expect(await endedBy(code, true)).toMatchObject({ code, ...expected });
  });

  it.each(["database_unavailable", "storage_unavailable"] as const)(
    "T68: without a key is not to be repeated by SDKs: %s",
    async (code) => {
      const told = { isTheirs: false, code, shouldRetry: false, files: 0 };
      expect(await endedBy(code, false)).toEqual(told);
    },
  );
});
