/** An unanswered question at a terminal. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryDirectory } from "../support/postgres.ts";
import { startRecorder } from "../support/recorder.ts";
import { main } from "../support/program.ts";

const change = { added: [{ model: "a/b", before: null, after: { input: "1", output: "2" } }] };
const none = { gone: [], dearer: [], cheaper: [], changed: [], version: null };

/** Starts the import of a list at a terminal, and presses a key at the question. */
async function press(key: string) {
  const gateway = await startRecorder((_request, response) => {
    response.end(JSON.stringify({ ...none, ...change }));
  });
  const list = join(temporaryDirectory(), "list.json");
  writeFileSync(list, "{}");
  const words = [process.execPath, main, "catalog", "update", "--from", list, "--url", gateway.url];
  const child = spawn("script", ["-qefc", words.join(" "), "/dev/null"], {
    env: { ...process.env, TOLLGATE_ADMIN_TOKEN: "token" },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let text = "";
  child.stdout.on("data", (bytes: Buffer) => {
    const before = text;
    text += bytes.toString();
    if (text.includes("[y/N] ") && !before.includes("[y/N] ")) child.stdin.write(key);
  });
  const [code] = (await once(child, "close")) as [number];
  const asked = gateway.requests.length;
  await gateway.close();
  return { code, asked, text };
}

it.skipIf(!existsSync("/usr/bin/script")).each([
  ["Ctrl-C", "\u0003"],
  ["Ctrl-D", "\u0004"],
])("%s at a question changes nothing and prints no stack trace", async (_name, key) => {
  const { code, asked, text } = await press(key);
  expect(text).toMatch(/Nothing was changed\.\s*$/);
  expect(text).not.toContain("AbortError");
  expect({ code, asked }).toEqual({ code: 0, asked: 1 });
});
