/** `tollgate config example`: the file is valid as it stands, and with every commented setting enabled. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { configSchema } from "../../src/catalog/index.ts";
import { exampleConfig } from "../../src/cli/config-example.ts";
import { tollgateHere } from "../support/command.ts";

const directory = mkdtempSync(join(tmpdir(), "tollgate-example-"));
afterAll(() => rmSync(directory, { recursive: true }));

/** With every commented setting enabled: lines that begin with `#` without a single space. */
const withAllSettings = exampleConfig.replaceAll(/^#(?! \S|$)/gm, "");

/** The result of `config check` for a file with this text. */
function check(text: string) {
  const path = join(directory, "tollgate.yaml");
  writeFileSync(path, text);
  const secrets = { OIDC_CLIENT_SECRET: "s", GUARD_SECRET: `whsec_${"A".repeat(43)}=` };
  return tollgateHere(["config", "check", "--config", path], { ...secrets, TOLLGATE_SANDBOX: "" });
}

it("config example prints the example file, and the file passes the check", async () => {
  const printed = await tollgateHere(["config", "example"], {});
  expect(printed).toEqual({ code: 0, stdout: exampleConfig, stderr: "" });
  expect(await check(exampleConfig)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("1 provider, 1 model, no mistake") as string,
  });
});

it("the example file with every commented setting enabled passes the check, except for missing certificates", async () => {
  const { stderr } = await check(withAllSettings);
  const mistakes = stderr.split("\n").filter((line) => line.startsWith(directory));
  expect(mistakes.filter((line) => !line.includes("server.tls"))).toEqual([]);
});

it("the example file shows every section of the configuration except prices", () => {
  const { properties } = configSchema() as { properties: object };
  const shown = new Set(withAllSettings.match(/^[a-z_]+(?=:)/gm));
  expect(Object.keys(properties).filter((name) => !shown.has(name))).toEqual(["prices"]);
});
