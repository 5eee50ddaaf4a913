// Pictures of forms on their way to a bucket: the bytes in memory count as memory. docs/load.md "Bodies and memory".
import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { ByteBudget, type ByteLease } from "../../src/base/byte-budget.ts";
import type { FileStore } from "../../src/files/index.ts";
import { readMultipart, uploadBudget, uploadLimits } from "../../src/http/forms/uploads.ts";
import { bodyOf, padded, picture, useUploadStore } from "./upload-support.ts";

const used = useUploadStore();

it("a picture on its way to a bucket counts as memory until it is stored", async () => {
  const budget = new ByteBudget(1e9);
  const seen: number[] = [];
  const inMemory: FileStore = {
    ...used.uploadStore.files,
    heldBytes: 1_048_576,
    async put(...given) {
      const stored = await used.uploadStore.files.put(...given);
      seen.push(budget.heldBytes);
      return stored;
    },
  };
  const file = await picture("png");
  const body = bodyOf([
    ["image", padded(file, 2 * 1_048_576), "a.png"],
    ["image[]", padded(file, 300_000), "b.png"],
  ]);
  const lease = budget.lease();
  const reading = (given: ByteLease) =>
    readMultipart(Readable.from([body]), {
      boundary: "xyz",
      store: used.uploadStore.uploads(inMemory),
      limits: uploadLimits,
      lease: given,
      stored: uploadBudget().lease(),
    });
  expect((await reading(lease)).images).toHaveLength(2);
  expect(seen).toEqual([1_048_576, 300_000]);
  expect(budget.heldBytes).toBe(0);
  const before = used.uploadStore.kept();
  await expect(reading(new ByteBudget(800_000).lease())).rejects.toMatchObject({
    code: "overloaded",
    status: 503,
  });
  expect(used.uploadStore.kept()).toEqual(before);
});
