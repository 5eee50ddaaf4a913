// Pictures on their way to storage: which are accepted, which are refused, and that refused or broken-off ones leave nothing.
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import * as fc from "fast-check";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { ByteBudget } from "../../src/base/byte-budget.ts";
import { GatewayError } from "../../src/base/errors.ts";
import {
  readMultipart,
  uploadBudget,
  uploadLimits,
  type UploadLimits,
} from "../../src/http/forms/uploads.ts";
import { sweepFiles } from "../../src/files/index.ts";
import { bodyOf, padded, picture, useUploadStore } from "./upload-support.ts";

const used = useUploadStore();
beforeEach(async () => {
  await used.database.query("delete from files");
  for (const name of used.uploadStore.kept()) await used.uploadStore.files.remove(name);
});

interface ReadOptions {
  readonly limits?: Partial<UploadLimits>;
  readonly piece?: number;
  readonly stored?: ByteBudget;
}

function read(
  body: Buffer,
  { limits = {}, piece = 1 << 16, stored = uploadBudget() }: ReadOptions = {},
) {
  const pieces = Array.from({ length: Math.ceil(body.length / piece) }, (_, at) =>
    body.subarray(at * piece, (at + 1) * piece),
  );
  const bounds = { ...uploadLimits, ...limits };
  return readMultipart(Readable.from(pieces), {
    boundary: "xyz",
    store: used.uploadStore.uploads(),
    limits: bounds,
    lease: new ByteBudget(1e9).lease(),
    stored: stored.lease(),
  });
}

const readOpen = (source: Readable, stored = uploadBudget()) =>
  readMultipart(source, {
    boundary: "xyz",
    store: used.uploadStore.uploads(),
    limits: uploadLimits,
    lease: new ByteBudget(1e9).lease(),
    stored: stored.lease(),
  });

/** The number of rows that would stay for good. It sweeps first, because the sweep removes expired files and those without a task. */
async function rowsLeft(now: Date): Promise<number> {
  await sweepFiles(used.database, used.uploadStore.files, now);
  return (await used.database.query("select name from files")).length;
}

describe("uploads", () => {
  it("image and image[] are pictures in order, mask is the mask, and other fields are text", async () => {
    const [png, jpeg, webp] = await Promise.all([
      picture("png", { width: 20, height: 10, alpha: true }),
      picture("jpeg", { width: 30, height: 40 }),
      picture("webp", { width: 5, height: 6 }),
    ]);
    const form = await read(
      bodyOf([
        ["model", "m"],
        ["image", png, "a.txt"],
        ["n", "2"],
        ["image[]", jpeg, "b.png"],
        ["mask", webp, "m.png"],
        ["image[]", webp, "c"],
        ["unknown", "x", "u.bin"],
        ["tags[]", "1"],
        ["tags[]", "2"],
      ]),
      { piece: 100 },
    );
    expect(form.fields).toEqual({
      model: "m",
      n: "2",
      unknown: { filename: "u.bin" },
      "tags[]": ["1", "2"],
    });
    // By content, whatever the file name is.
    expect(form.images).toMatchObject([
      { mediaType: "image/png", bytes: png.length, width: 20, height: 10, hasAlpha: true },
      { mediaType: "image/jpeg", bytes: jpeg.length, width: 30, height: 40, hasAlpha: false },
      { mediaType: "image/webp", bytes: webp.length, width: 5, height: 6 },
    ]);
    expect(form.mask).toMatchObject({ mediaType: "image/webp" });
    expect(used.uploadStore.kept()).toEqual(
      [...form.images, form.mask!].map(({ name }) => name).sort(),
    );
    const stored = await used.uploadStore.files.open(form.images[1]!.name);
    expect(Buffer.concat(await stored!.stream.toArray())).toEqual(jpeg);
    const rows = await used.database.query<{ purpose: string; task_id: string | null }>(
      "select purpose, task_id from files",
    );
    expect(rows).toEqual(Array.from({ length: 4 }, () => ({ purpose: "input", task_id: null })));
  });

  it("a replay has the same digest, and every changed form has another", async () => {
    const [png, other] = await Promise.all([picture("png"), picture("png", { width: 9 })]);
    const digest = async (...entries: Parameters<typeof bodyOf>[0]) =>
      JSON.stringify((await read(bodyOf(entries))).digest);
    const one = await digest(["a", "1"], ["image", png, "x.png"]);
    expect(await digest(["a", "1"], ["image", png, "renamed.png"])).toBe(one);
    const changed = await Promise.all([
      digest(["a", "2"], ["image", png, "x.png"]),
      digest(["a", "1"], ["image", other, "x.png"]),
      digest(["a", "1"], ["mask", png, "x.png"]),
      digest(["image", png, "x.png"], ["a", "1"]),
      digest(["a", "1"], ["image", png, "x.png"], ["image[]", png, "x.png"]),
    ]);
    expect(new Set([one, ...changed]).size).toBe(6);
  });

  it("a file input left empty is not a picture, and an empty file with a name is refused", async () => {
    const form = await read(
      bodyOf([
        ["image", "", ""],
        ["mask", "", ""],
        ["model", "m"],
      ]),
    );
    expect(form).toMatchObject({ images: [], mask: undefined, fields: { model: "m" } });
    await expect(read(bodyOf([["image", "", "a.png"]]))).rejects.toMatchObject({
      code: "invalid_image_file",
    });
  });

  const png = () => picture("png");
  const huge = async (width: number, height: number) => {
    const file = await png();
    file.writeUInt32BE(width, 16);
    file.writeUInt32BE(height, 20);
    return file;
  };
  const refusals: [string, () => Promise<Buffer>, string, Partial<UploadLimits>?][] = [
    ["text called a.png", async () => bodyOf([["image", "hello", "a.png"]]), "invalid_image_file"],
    ["a GIF", async () => bodyOf([["image", "GIF89a\x08\0\x08\0", "a.gif"]]), "invalid_image_file"],
    [
      "an SVG",
      async () => bodyOf([["image", '<svg xmlns="http://www.w3.org/2000/svg"/>', "a.svg"]]),
      "invalid_image_file",
    ],
    [
      "a picture cut in its header",
      async () => bodyOf([["image", (await png()).subarray(0, 20), "a.png"]]),
      "invalid_image_file",
    ],
    [
      "a decompression bomb",
      async () => bodyOf([["image", await huge(60_000, 60_000), "a.png"]]),
      "image_too_large",
    ],
    [
      "a long line of pixels",
      async () => bodyOf([["image", await huge(1, 16_385), "a.png"]]),
      "image_too_large",
    ],
    [
      "a text field above its bytes",
      async () => bodyOf([["prompt", "x".repeat(101)]]),
      "request_too_large",
      { fieldBytes: 100 },
    ],
    [
      "text fields above their bytes together",
      async () =>
        bodyOf([
          ["a", "x".repeat(60)],
          ["b", "x".repeat(60)],
        ]),
      "request_too_large",
      { fieldsBytes: 100 },
    ],
    [
      "a body above its bytes",
      async () => bodyOf([["a", "x".repeat(2000)]]),
      "request_too_large",
      { bodyBytes: 1000 },
    ],
    [
      "a repeated field",
      async () =>
        bodyOf([
          ["a", "1"],
          ["a", "2"],
        ]),
      "invalid_value",
    ],
    [
      "two masks",
      async () =>
        bodyOf([
          ["mask", await png(), "a"],
          ["mask", await png(), "b"],
        ]),
      "invalid_value",
    ],
    [
      "text that is not UTF-8",
      async () => bodyOf([["a", Buffer.from([0xff, 0xfe])]]),
      "invalid_value",
    ],
    [
      "thousands of fields",
      async () => bodyOf(Array.from({ length: 5000 }, (_, at) => [`f${at}`, "x"] as const)),
      "malformed_request",
    ],
    [
      "too many files",
      async () => {
        const file = await png();
        return bodyOf(Array.from({ length: 19 }, () => ["image[]", file, "a.png"] as const));
      },
      "too_many_images",
    ],
    ["a huge header", async () => bodyOf([["a".repeat(10_000), "x"]]), "malformed_request"],
  ];
  it.each(refusals)("%s is refused, and nothing is kept", async (_name, body, code, limits) => {
    const before = bodyOf([["image", await png(), "first.png"]]).toString("latin1");
    const unfinished = Buffer.from(before.replace(/--xyz--\r\n$/, ""), "latin1");
    await expect(
      read(Buffer.concat([unfinished, await body()]), { limits: limits ?? {} }),
    ).rejects.toMatchObject({ code });
    expect(used.uploadStore.kept()).toEqual([]);
    expect(await rowsLeft(new Date())).toBe(0);
  });

  it("a refusal repeats at most 60 characters of the caller's field name, without half of a surrogate pair", async () => {
    const name = `${"a".repeat(59)}\u{1f600}${"b".repeat(100)}`;
    const param = `${"a".repeat(59)}\ufffd`;
    const file = bodyOf([[name, "x".repeat(101), "x.bin"]]);
    await expect(read(file, { limits: { fileBytes: 100 } })).rejects.toMatchObject({
      code: "image_too_large",
      param,
      message: `${param}: the file is larger than 0 MiB.`,
    });
    const twice = bodyOf([
      [name, "1"],
      [name, "2"],
    ]);
    const message = `${param}: may be sent only once.`;
    await expect(read(twice)).rejects.toMatchObject({ code: "invalid_value", param, message });
  });

  it("a picture of 25 MiB is accepted; one byte more is refused while it is received", async () => {
    const file = await png();
    const limit = uploadLimits.fileBytes;
    expect(limit).toBe(26_214_400);
    const form = await read(bodyOf([["image", padded(file, limit), "a.png"]]));
    expect(form.images[0]!.bytes).toBe(limit);
    await expect(read(bodyOf([["image", padded(file, limit + 1), "a.png"]]))).rejects.toMatchObject(
      { code: "image_too_large", status: 400, param: "image" },
    );
    // The source never ends: only a refusal during reading can end this.
    let sent = 0;
    const endless = Readable.from(
      (async function* () {
        yield bodyOf([["image", file, "a.png"]]).subarray(0, -20);
        for (;;) {
          sent += 65_536;
          yield Buffer.alloc(65_536);
          await sleep(0);
        }
      })(),
    );
    const options = {
      boundary: "xyz",
      store: used.uploadStore.uploads(),
      limits: { ...uploadLimits, fileBytes: limit },
      lease: new ByteBudget(1e9).lease(),
      stored: uploadBudget().lease(),
    };
    await expect(readMultipart(endless, options)).rejects.toMatchObject({
      code: "image_too_large",
      status: 400,
      param: "image",
    });
    expect(sent).toBeLessThan(limit + 1_048_576);
    expect(endless.destroyed).toBe(false);
    endless.destroy();
    expect(used.uploadStore.kept()).toEqual(form.images.map(({ name }) => name));
  });

  it("all callers together may store only a bounded number of bytes before their tasks are reserved", async () => {
    const stored = uploadBudget(4 * 1_048_576);
    const body = bodyOf([["image", padded(await png(), 2 * 1_048_576), "a.png"]]);
    const others = stored.lease();
    others.take(2 * 1_048_576);
    await expect(read(body, { stored })).rejects.toMatchObject({ code: "overloaded", status: 503 });
    expect(used.uploadStore.kept()).toEqual([]);
    others.release();
    expect((await read(body, { stored: uploadBudget(4 * 1_048_576) })).images).toHaveLength(1);
  });

  it("a caller that sends nothing in the middle of a body loses its space to others", async () => {
    const stored = uploadBudget(4 * 1_048_576);
    const body = bodyOf([["image", padded(await png(), 2 * 1_048_576), "a.png"]]);
    const source = new Readable({ read: () => undefined });
    source.push(body.subarray(0, -20));
    const reading = readOpen(source, stored);
    await expect.poll(() => stored.heldBytes).toBeGreaterThan(2_000_000);
    const clock = vi.spyOn(performance, "now").mockReturnValue(performance.now() + 11_000);
    const others = stored.lease();
    others.take(2 * 1_048_576);
    clock.mockRestore();
    await expect(reading).rejects.toMatchObject({ code: "malformed_request" });
    expect(source.destroyed).toBe(true);
    expect(stored.heldBytes).toBe(2 * 1_048_576);
    expect(used.uploadStore.kept()).toEqual([]);
  });

  it("a client that disconnects in the middle leaves no files and rows", async () => {
    const body = bodyOf([
      ["image", padded(await png(), 300_000), "a.png"],
      ["image[]", padded(await png(), 300_000), "b.png"],
    ]);
    for (const share of [0.1, 0.4, 0.6, 0.999]) {
      const source = new Readable({ read: () => undefined });
      const reading = readOpen(source);
      source.push(body.subarray(0, Math.floor(body.length * share)));
      await sleep(20);
      source.destroy(new Error("aborted"));
      await expect(reading).rejects.toMatchObject({ code: "malformed_request" });
      expect(used.uploadStore.kept()).toEqual([]);
    }
    expect(await rowsLeft(new Date())).toBe(0);
  });

  it("a damaged body is accepted or refused with 400 or 413, and only accepted bodies leave files", async () => {
    const file = await png();
    const complete = bodyOf([
      ["model", "m"],
      ["image", file, "a.png"],
      ["image[]", padded(file, 3000), "b.png"],
      ["mask", file, "m.png"],
    ]);
    const change = fc.oneof(
      fc.record({ kind: fc.constant("cut"), at: fc.nat(complete.length) }),
      fc.record({ kind: fc.constant("drop"), at: fc.nat(complete.length), length: fc.nat(40) }),
      fc.record({
        kind: fc.constant("put"),
        at: fc.nat(complete.length),
        bytes: fc.oneof(
          fc.uint8Array({ maxLength: 30 }),
          fc.constantFrom("--xyz\r\n", "\r\n--xyz--", "\r\n\r\n", '"', ";", "\0", "x".repeat(9000)),
        ),
      }),
    );
    const apply = (
      body: Buffer,
      edit: { kind: string; at: number; length?: number; bytes?: unknown },
    ) => {
      const head = body.subarray(0, edit.at);
      if (edit.kind === "cut") return head;
      const put = edit.kind === "put" ? Buffer.from(edit.bytes as string) : Buffer.alloc(0);
      return Buffer.concat([head, put, body.subarray(edit.at + (edit.length ?? 0))]);
    };
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 1, max: 4000 }),
        async (edits, piece) => {
          const body = edits.reduce(apply, complete);
          const outcome = await read(body, { piece }).then(
            ({ images, mask }) => ({
              kept: [...images, ...(mask ? [mask] : [])],
              error: undefined,
            }),
            (error: unknown) => ({ kept: [], error }),
          );
          accepted += outcome.error === undefined ? 1 : 0;
          const names = outcome.kept.map(({ name }) => name).sort();
          expect(used.uploadStore.kept()).toEqual(names);
          expect(outcome.error ?? new GatewayError("invalid_value", "")).toBeInstanceOf(
            GatewayError,
          );
          const { status = 400 } = (outcome.error ?? {}) as Partial<GatewayError>;
          expect([400, 413]).toContain(status);
          for (const name of names) await used.uploadStore.files.remove(name);
        },
      ),
      { numRuns: 120 },
    );
    expect(accepted).toBeGreaterThan(5);
    expect(accepted).toBeLessThan(115);
  });
});
