/** The file format JSON lines: one line a row, compressed with gzip as the store reads. */
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

/** Returns the bytes of the file. The stream fails if `batches` fails; destroying the stream ends `batches`. */
export function jsonLinesOf(batches: AsyncIterable<readonly object[]>): Readable {
  const source = Readable.from(textOf(batches));
  const packed = createGzip();
  // The store reads `packed` and handles its errors. Before it starts, no other listener would catch one, and the process would
  // end.
  packed.on("error", () => undefined);
  source.on("error", (error) => packed.destroy(error));
  packed.on("close", () => source.destroy());
  return source.pipe(packed);
}
