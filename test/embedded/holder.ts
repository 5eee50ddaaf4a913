/** Processes that hold a database, for tests that stop or kill them. They end with their test file. */
import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { afterAll, expect } from "vitest";

const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
});

/** Starts one on a data directory, or on a server by its URL; `owner`: as which user. */
export function startHolder(
  kind: "embedded" | "server",
  place: string,
  owner: { readonly uid?: number; readonly gid?: number } = {},
) {
  const program = new URL("./holder-child.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [program, kind, place], {
    stdio: ["pipe", "pipe", "inherit"],
    ...owner,
  });
  children.push(child);
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  const said = (text: RegExp) => expect.poll(() => lines.find((line) => text.test(line)));
  return { child, lines, said };
}
