/** `tollgate doctor` on hooks: a module that would make a start fail, an address that does not answer. docs/operate.md "Doctor". */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { checkHook } from "../../src/cli/doctor/hooks.ts";
import { createPools } from "../../src/upstream/index.ts";
import { freePort } from "../support/nginx.ts";
import { temporaryDirectory } from "../support/postgres.ts";
import { startRecorder } from "../support/recorder.ts";

const pools = createPools();
const common = { name: "guard", at: "before", timeoutMs: 100, onFailure: "refuse" } as const;

function foundOfModule(text: string) {
  const path = join(temporaryDirectory(), "guard.mjs");
  writeFileSync(path, text);
  return checkHook(pools, { ...common, target: { module: "./guard.mjs", path } });
}
const foundAt = (url: string) => checkHook(pools, { ...common, target: { url, secret: "whsec_" } });

it("a hook module that loads is ok", async () => {
  const found = await foundOfModule("export const before = () => ({ action: 'allow' });");
  expect(found).toMatchObject([{ check: "hook guard", status: "ok" }]);
});

it.each([
  ["a mistake of syntax", "export function before( {", "SyntaxError"],
  ["another export", "export const after = () => {};", "it exports no function named before"],
  ["an error at its start", "throw new Error('GUARD_LIST is not set');", "GUARD_LIST is not set"],
])("a hook module with %s fails with the reason", async (_what, text, why) => {
  expect(await foundOfModule(text)).toMatchObject([
    { status: "failed", message: expect.stringContaining(why) as string },
  ]);
});

it("a hook address is only connected to; no request is sent", async () => {
  let heard = 0;
  const server = await startRecorder(() => void (heard += 1));
  onTestFinished(() => server.close());
  expect(await foundAt(`${server.url}/check`)).toMatchObject([
    { check: "hook guard", status: "ok" },
  ]);
  expect(heard).toBe(0);
});

it("an unreachable hook address fails with the reason, without its query", async () => {
  const found = await foundAt(`http://127.0.0.1:${await freePort()}/check?token=secret-1`);
  expect(found).toMatchObject([{ check: "hook guard", status: "failed" }]);
  expect(found[0]!.message).toContain("ECONNREFUSED");
  expect(JSON.stringify(found)).not.toContain("secret-1");
});
