/** Shared by the sandbox's tests: one running sandbox, script lines as text, and the vendors' schemas. */
import { existsSync, readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { afterAll, afterEach, beforeAll, beforeEach, vi } from "vitest";
import type { Sandbox } from "../../sandbox/index.ts";
import { startSandbox } from "../../sandbox/index.ts";

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

/**
 * Stops `Date` in each test of a suite. A sandbox in this process decides by it in which state a job is, so a slow machine cannot
 * skip a state. Returns a function that lets that many milliseconds pass.
 */
export function useStoppedDate(): (ms: number) => void {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
  afterEach(() => void vi.useRealTimers());
  return (ms) => void vi.setSystemTime(Date.now() + ms);
}

/** A user text with a script. */
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

const dataFolder = new URL("../../../shared/wire/data/", import.meta.url);

/**
 * Converts OpenAPI's `nullable` beside a `$ref` or `anyOf` to JSON Schema, and `oneOf` to `anyOf`, because the vendors'
 * alternatives overlap.
 */
function readable(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(readable);
  if (typeof schema !== "object" || schema === null) return schema;
  const entries = Object.entries(schema).map(([name, value]) => [name, readable(value)] as const);
  const { nullable, oneOf, ...own } = Object.fromEntries(entries) as Record<string, unknown>;
  const rest = Array.isArray(oneOf) ? { ...own, allOf: [{ anyOf: oneOf }] } : own;
  if (nullable !== true) return rest;
  return { anyOf: [rest, { type: "null" }] };
}

const documents = new Map<string, Ajv>();

function schemasOf(file: string): Ajv | undefined {
  const path = new URL(file, dataFolder);
  if (!existsSync(path)) return undefined;
  const known = documents.get(file);
  if (known) return known;
  const ajv = new Ajv({ strict: false, validateFormats: false });
  const document = readable(JSON.parse(readFileSync(path, "utf8"))) as object;
  documents.set(file, ajv.addSchema({ ...document, $id: "wire" }));
  return ajv;
}

/** A validator of one vendor schema, which returns the errors. Undefined if the schemas are not there. */
export function schemaOf(file: string, name: string): ((value: unknown) => unknown[]) | undefined {
  const ajv = schemasOf(file);
  if (!ajv) return undefined;
  const id = `wire#/components/schemas/${name}`;
  const validate = ajv.getSchema(id);
  if (!validate) throw new Error(`no such schema: ${name}`);
  return (value) => (validate(value) ? [] : (validate.errors ?? ["invalid"]));
}

/** A client that leaves if nothing has come for `ms` since the last piece. It waits for the first piece, however slow the machine. */
export function leavingAfter(ms: number): {
  readonly signal: AbortSignal;
  readonly heard: () => void;
} {
  const leaving = new AbortController();
  let silence: NodeJS.Timeout | undefined;
  return {
    signal: leaving.signal,
    heard() {
      clearTimeout(silence);
      silence = setTimeout(() => leaving.abort(), ms);
    },
  };
}
