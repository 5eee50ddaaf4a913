/** Processes that hold a database, for tests that stop or kill them. Each ends with its test. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { expect, onTestFinished } from "vitest";

/** Starts one on a data directory, or on a server by its URL; `owner`: the user that it runs as. */
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
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  const said = (text: RegExp) => expect.poll(() => lines.find((line) => text.test(line)));
  return { child, lines, said };
}
