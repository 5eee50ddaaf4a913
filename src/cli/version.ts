/** The version of this program, from its package. */
import { readFileSync } from "node:fs";

const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");

export const version: string = (JSON.parse(text) as { version: string }).version;
