/** The sandbox's own reader of forms, with any pieces that the network may deliver. */
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startSandbox } from "../../sandbox/index.ts";
import { boundaryOf, BrokenForm, readForm } from "../../sandbox/multipart.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tollgate-test-"));
});
afterAll(() => rm(folder, { recursive: true }));

const boundary = "----x";
const content = Buffer.concat([
  Buffer.from("\r\n--\r\n------\r\n----x"),
  Buffer.from(Array.from({ length: 300 }, (_, at) => at % 256)),
]);
const form = Buffer.concat([
  Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="a \\"b\\""\r\n\r\nä\r\n`),
  Buffer.from(
    `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="x%22y.png"\r\nContent-Type: image/png\r\n\r\n`,
  ),
  content,
  Buffer.from(`\r\n--${boundary}\r\nContent-Disposition: form-data; name=""\r\n\r\n\r\n`),
  Buffer.from(`--${boundary}--\r\n`),
]);

async function* pieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) {
    yield await Promise.resolve(bytes.subarray(at, at + size));
  }
}
const read = (bytes: Buffer, size: number) => readForm(pieces(bytes, size), boundary, folder);

describe("the form reader", () => {
  it("reads fields and files, in chunks of any size", async () => {
    const sha256 = createHash("sha256").update(content).digest("hex");
    for (const size of [1, 2, 7, 64, form.length]) {
      const { fields, files } = await read(form, size);
      expect(fields).toEqual([
        ['a "b"', "ä"],
        ["", ""],
      ]);
      expect(files).toEqual([
        {
          name: "file",
          filename: 'x"y.png',
          type: "image/png",
          bytes: content.length,
          sha256,
          path: expect.any(String),
        },
      ]);
      expect((await readFile(files[0]!.path)).equals(content)).toBe(true);
    }
  });

  it("refuses a form that is cut off anywhere", async () => {
    // The last four bytes are the closing mark and the line end, which are optional.
    const cuts = fc.integer({ min: 0, max: form.length - 3 });
    await fc.assert(
      fc.asyncProperty(cuts, fc.integer({ min: 1, max: 100 }), async (end, size) => {
        await expect(read(form.subarray(0, end), size)).rejects.toBeInstanceOf(BrokenForm);
      }),
      { numRuns: 60 },
    );
  });

  it("refuses a part without a name, with endless headers, and a boundary with more on its line", async () => {
    const bad = [
      `--${boundary}\r\nContent-Type: text/plain\r\n\r\nx\r\n--${boundary}--\r\n`,
      `--${boundary}\r\n${"x-a: b\r\n".repeat(3000)}\r\n\r\n--${boundary}--\r\n`,
      `--${boundary} \r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n--${boundary}--\r\n`,
    ];
    for (const one of bad) {
      await expect(read(Buffer.from(one), 512)).rejects.toBeInstanceOf(BrokenForm);
    }
  });

  it("finds the boundary in the Content-Type of a form only", () => {
    expect(boundaryOf('multipart/form-data; charset=utf-8; boundary="a b"')).toBe("a b");
    expect(boundaryOf("Multipart/Form-Data; boundary=ab")).toBe("ab");
    expect(boundaryOf("multipart/mixed; boundary=ab")).toBeUndefined();
    expect(boundaryOf("application/json")).toBeUndefined();
  });
});

describe("a disk that takes no uploads", () => {
  it.runIf(process.platform === "linux")("fails the form while it still arrives", async () => {
    const full = await mkdtemp(join(folder, "full-"));
    await symlink("/dev/full", join(full, "1"));
    async function* slowPieces(): AsyncGenerator<Buffer> {
      for await (const piece of pieces(form, 64)) {
        yield piece;
        for (let turn = 0; turn < 20; turn += 1) await nextTurn();
      }
    }
    await expect(readForm(slowPieces(), boundary, full)).rejects.toThrow("ENOSPC");
  });

  it("ends the request, and not the process that the sandbox runs in", async () => {
    const errors: object[] = [];
    const log = { error: (fields: object) => void errors.push(fields) };
    const sandbox = await startSandbox({ port: 0, host: "127.0.0.1", log });
    vi.stubEnv("TMPDIR", join(folder, "missing"));
    try {
      const body = new FormData();
      body.set("prompt", "A boat");
      const asked = fetch(`${sandbox.url}/openai/v1/images/edits`, { method: "POST", body });
      await expect(asked).rejects.toThrow("fetch failed");
      expect(errors).toMatchObject([{ err: { code: "ENOENT" } }]);
    } finally {
      vi.unstubAllEnvs();
      await sandbox.close();
    }
  });
});
