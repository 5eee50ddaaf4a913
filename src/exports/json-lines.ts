/** Lines as text, one a row, packed with gzip as the place takes them. */
import { Readable } from "node:stream";
import { createGzip } from "node:zlib";

async function* textOf(
  batches: AsyncIterable<readonly object[]>,
): AsyncGenerator<string, void, undefined> {
  for await (const lines of batches) {
    let text = "";
    for (const line of lines) text += `${JSON.stringify(line)}\n`;
    yield text;
  }
}

/** The bytes of the file; the stream fails with `batches`, and ends them where it is destroyed. */
export function jsonLinesOf(batches: AsyncIterable<readonly object[]>): Readable {
  const source = Readable.from(textOf(batches));
  const packed = createGzip();
  // The store reads `packed` and fails with it. Before it begins nobody would hear the failure, which then ends the process.
  packed.on("error", () => undefined);
  source.on("error", (error) => packed.destroy(error));
  packed.on("close", () => source.destroy());
  return source.pipe(packed);
}
