/** What the sandbox's tests share: one running sandbox, the script line as text, and the vendors' schemas. */
import { existsSync, readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { afterAll, beforeAll, beforeEach } from "vitest";
import type { Sandbox } from "../../src/sandbox/index.ts";
import { startSandbox } from "../../src/sandbox/index.ts";

/** A sandbox for the tests of one file; its journal is empty before each test. */
export function useSandbox(): { readonly url: string; readonly journal: Sandbox["journal"] } {
  let sandbox: Sandbox | undefined;
  beforeAll(async () => {
    sandbox = await startSandbox({ port: 0, host: "127.0.0.1" });
  });
  beforeEach(() => sandbox!.journal.clear());
  afterAll(() => sandbox!.close());
  return {
    get url() {
      return sandbox!.url;
    },
    get journal() {
      return sandbox!.journal;
    },
  };
}

/** A user text that carries a script. */
export const scripted = (script: object, words = "Hello") =>
  `${words}\n#sandbox ${JSON.stringify(script)}`;

/** A tool, as the openai-like vendor declares one. */
export const weather = {
  name: "weather",
  description: "The weather in a city",
  parameters: {
    type: "object" as const,
    properties: {
      city: { type: "string" },
      unit: { type: "string", enum: ["celsius", "kelvin"] },
      days: { type: "integer" },
    },
    required: ["city", "unit"],
  },
};

/** A PNG of one pixel, base64. */
export const pixel =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const dataFolder = new URL("../../../shared/wire/data/", import.meta.url);

/** A validator of one vendor schema, which returns what is wrong; undefined when the schemas are not there. */
export function schemaOf(file: string, name: string): ((value: unknown) => unknown[]) | undefined {
  const path = new URL(file, dataFolder);
  if (!existsSync(path)) return undefined;
  const document = JSON.parse(readFileSync(path, "utf8")) as object;
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: false });
  ajv.addSchema({ ...document, $id: "wire" }, "wire");
  const validate = ajv.compile({ $ref: `wire#/components/schemas/${name}` });
  return (value) => (validate(value) ? [] : (validate.errors ?? ["invalid"]));
}
