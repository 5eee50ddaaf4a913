/**
 * The worker thread that writes a Parquet file. It receives arrays of lines as JSON, and null at the end. It answers each message
 * with bytes.
 */
import { parentPort, workerData } from "node:worker_threads";
import { parseJsonText } from "../base/json-text.ts";
import type { ParsedLine } from "./columns.ts";
import type { ExportKind } from "./lines.ts";
import { ParquetFile } from "./parquet-file.ts";

const port = parentPort!;
const file = new ParquetFile(workerData as ExportKind);

port.on("message", (lines: string | null) => {
  const bytes =
    lines === null ? file.end() : file.add(parseJsonText(lines, undefined, false) as ParsedLine[]);
  port.postMessage(bytes, [bytes.buffer]);
});
