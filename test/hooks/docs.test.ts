// docs/hooks.md: its two examples run as they stand. A gateway loads the one and asks the other.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startBench, type Bench } from "../task-http/support.ts";
import { secret } from "./support.ts";

const page = readFileSync(new URL("../../docs/hooks.md", import.meta.url), "utf8");
const blocks = [
  ...page.matchAll(/runs this block as it stands\. -->\s+```js\n\/\/ (\S+)\n(.*?)```/gs),
];
const folder = mkdtempSync(join(tmpdir(), "tollgate-hooks-docs-"));

let bench: Bench;
let server: Server;
beforeAll(async () => {
  mkdirSync(join(folder, "hooks"));
  for (const [, name, text] of blocks) writeFileSync(join(folder, name!), text!);
  const guard = pathToFileURL(join(folder, "guard.mjs")).href;
  ({ server } = (await import(/* @vite-ignore */ guard)) as { server: Server });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  bench = await startBench({
    sandbox: "on",
    config: `hooks:
  - { name: no-cards, at: before, module: "${join(folder, "hooks/no-cards.mjs")}" }
  - { name: guard, at: before, url: "http://127.0.0.1:${port}/check", secret: ${secret} }
`,
  });
  await bench.credit("1");
});
afterAll(async () => {
  await bench?.close();
  server?.close();
  rmSync(folder, { recursive: true, force: true });
});

const say = (content: string, headers: Record<string, string> = {}) =>
  bench.post(
    "/v1/chat/completions",
    { model: "sandbox/chat", messages: [{ role: "user", content }] },
    headers,
  );

it("both examples of docs/hooks.md work as the page says", async () => {
  expect(blocks.map(([, name]) => name)).toEqual(["hooks/no-cards.mjs", "guard.mjs"]);
  await bench.received(/./);
  const answer = await say("My card 4111 1111 1111 1111 is new.");
  expect(answer.status).toBe(200);
  expect(await answer.text()).toContain("messages");
  const [sent] = await bench.received(/chat/);
  expect(JSON.stringify(sent!.body)).toContain("My card [card] is new.");
  const confidential = await say("CONFIDENTIAL");
  expect(confidential.status).toBe(403);
  expect(confidential.headers.get("x-gw-hook-code")).toBe("confidential");
  const banned = await say("Hello", { "x-gw-end-user": "banned" });
  expect(banned.status).toBe(403);
  expect(await banned.text()).toContain("This account is closed.");
});
