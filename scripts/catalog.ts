/**
 * `node scripts/catalog.ts FILE`: writes catalog/models.jsonl from a file with the public models.dev list, for the vendors of
 * catalog/vendors.jsonl. Run it on the newest list before a release; docs/models.md.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { listText, readPublicList, vendorRows } from "../src/catalog/index.ts";

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error("name a file with https://models.dev/api.json");
const result = readPublicList(readFileSync(file, "utf8"), vendorRows());
if ("mistakes" in result) {
  for (const { line, column, path, message } of result.mistakes)
    console.error(`${file}:${line}:${column} ${path}: ${message}`);
  process.exitCode = 1;
} else {
  writeFileSync(new URL("../catalog/models.jsonl", import.meta.url), listText(result.models));
  console.log(`${result.models.length} models; left out: ${result.others.join(", ")}`);
}
