/** Keys that were copied wrongly are recognised by their form, by the log at the start and by doctor, and never shown. */
import { expect, it } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { keyMistake } from "../../src/catalog/index.ts";
import { startSandbox } from "../../sandbox/index.ts";
import { startTestGateway } from "../support/gateway.ts";
import { tollgateHere } from "../support/command.ts";
import { temporaryDirectory } from "../support/postgres.ts";

it.each([
  ['"sk-proj-1234"', /quotation mark/, true],
  ["'sk-proj-1234'", /quotation mark/, true],
  ['"sk-proj-1234', /quotation mark/, true],
  ["\u201csk-proj-1234\u201d", /quotation mark/, false],
  ['"sk-proj-1234"\r', /quotation mark/, false],
  [" sk-proj-1234", /white space/, true],
  ["sk-proj-1234 ", /white space/, true],
  ["sk-proj-1234\r", /white space/, false],
  ["sk-proj-1234\n\n", /white space/, false],
  ["\ufeffsk-proj-1234", /white space/, false],
  ["Bearer sk-proj-1234", /begins with "Bearer"/, true],
  ["sk-...", /looks like an example/, true],
  ["<your key>", /looks like an example/, true],
  ["gw_live_proj1234", /of a gateway such as this one, and of no vendor/, true],
  ["gw_admin_proj-1234", /of a gateway such as this one, and of no vendor/, true],
  ["sk-proj\u0007-1234", /no header can carry/, false],
])("the key %j is reported: %s", (key, message, isSendable) => {
  const mistake = keyMistake(key, { dialect: "openai" });
  expect(mistake).toMatchObject({ message: expect.stringMatching(message) as string, isSendable });
  expect(JSON.stringify(mistake)).not.toContain("proj");
});

it.each([
  "",
  "sk-proj-1234",
  "AIza_x-1.2~3+/=",
  "account:secret",
  '{ "type": "service_account" }\n',
  "-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----\n",
])("the key %j is not reported", (key) =>
  expect(keyMistake(key, { dialect: "openai" })).toBeUndefined(),
);

it("a gateway's key is accepted at an openai-compatible server, which may be another gateway", () => {
  expect(keyMistake("gw_live_1234", { dialect: "openai-compatible" })).toBeUndefined();
});

const keys = { OPENAI_API_KEY: '"sk-quoted-77410"', MISTRAL_API_KEY: "sk-carriage-77411\r" };

it("the log at the start and doctor name the provider and the mistake, and not the key", async () => {
  const vendors = await startSandbox({ host: "127.0.0.1", port: 0 });
  const environment = {
    ...keys,
    OPENAI_BASE_URL: `${vendors.url}/openai/v1`,
    MISTRAL_BASE_URL: `${vendors.url}/openai/v1`,
    TOLLGATE_DATA_DIR: temporaryDirectory(),
    TOLLGATE_CONFIG: "",
  };
  const logged: string[] = [];
  const warn = (fields: object, message: string): void =>
    void logged.push(JSON.stringify(fields) + message);
  const gateway = await startTestGateway({ environment, log: { ...silentLog, warn } });
  await gateway.close();
  expect(logged).toContainEqual(
    expect.stringContaining("provider openai: its key has a quotation mark at an end"),
  );
  expect(logged).toContainEqual(
    expect.stringContaining("provider mistral: its key begins or ends with white space"),
  );
  const { code, stdout } = await tollgateHere(["doctor", "--json"], environment);
  await vendors.close();
  expect(code).toBe(1);
  const of = (id: string, text: string) =>
    (JSON.parse(text) as { findings: { check: string; status: string }[] }).findings
      .filter(({ check }) => check === `provider ${id}`)
      .map(({ status }) => status);
  // If no header can carry a key, doctor does not ask the vendor: the vendor would seem unreachable.
  expect(of("mistral", stdout)).toEqual(["failed"]);
  expect(of("openai", stdout)).toEqual(["warning", "failed"]);
  // The vendors are gone now. Doctor still reports the form of the keys.
  const away = (await tollgateHere(["doctor", "--json"], environment)).stdout;
  expect(of("mistral", away)).toEqual(["failed", "failed"]);
  expect(of("openai", away)).toEqual(["failed", "warning"]);
  for (const text of [...logged, stdout, away]) expect(text).not.toMatch(/7741[01]/);
});
