// The OpenAPI document against itself, against the running gateway, and the reference page made of it.
import { mkdtempSync, rmSync } from "node:fs";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { fastify, type FastifyInstance } from "fastify";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { errorCatalogue } from "../../src/base/errors.ts";
import { createLog } from "../../src/base/log.ts";
import { createSseParser } from "../../src/base/sse.ts";
import { startGateway, type Gateway } from "../../src/cli/gateway.ts";
import { readEnvironment } from "../../src/cli/environment.ts";
import { openapiDocument, registerDocs } from "../../src/http/openapi.ts";

interface Schema {
  readonly $ref?: string;
  readonly "x-frame"?: { readonly $ref: string };
}
type Content = Record<string, { schema: Schema; example?: unknown; examples?: Examples }>;
type Examples = Record<string, { value: Record<string, unknown> }>;
interface Operation {
  readonly operationId: string;
  readonly tags: string[];
  readonly description: string;
  readonly parameters?: { name: string; in: string; required: boolean; example?: string }[];
  readonly requestBody?: { content: Content };
  readonly responses: Record<string, { description: string; headers?: object; content: Content }>;
  readonly security?: object[];
}

const openapi = openapiDocument();
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
ajv.addSchema(openapi, "openapi.json");

/** What does not fit a schema of the document; empty when the value fits. */
function faults(schema: Schema, value: unknown): string[] {
  const absolute = JSON.parse(
    JSON.stringify(schema).replaceAll('"#/', '"openapi.json#/'),
  ) as Schema;
  const validate = ajv.compile(absolute);
  if (validate(value)) return [];
  return validate.errors!.map((error) => `${error.instancePath} ${error.message}`);
}

const operations = Object.entries(openapi.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({
    method: method.toUpperCase(),
    path,
    operation: operation as unknown as Operation,
  })),
);
type Target = (typeof operations)[number];
const byId = (id: string) => operations.find(({ operation }) => operation.operationId === id)!;
const named = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

/** Every value of a key, anywhere in the document. */
function valuesOf(node: unknown, key: string): unknown[] {
  if (typeof node !== "object" || node === null) return [];
  return Object.entries(node).flatMap(([name, value]) => [
    ...(name === key ? [value as unknown] : []),
    ...valuesOf(value, key),
  ]);
}

/** An operation's address with the examples of its parameters filled in. */
function address({ path, operation }: Target): string {
  const parameters = operation.parameters ?? [];
  const filled = path.replace(/\{(\w+)\}/g, (_match, name: string) =>
    encodeURIComponent(parameters.find((one) => one.name === name)!.example!),
  );
  const query = parameters.filter((one) => one.in === "query" && one.example !== undefined);
  if (query.length === 0) return filled;
  return `${filled}?${query.map((one) => `${one.name}=${one.example}`).join("&")}`;
}

describe("the document", () => {
  it("is OpenAPI 3.1 with the version of the package", () => {
    expect(openapi.openapi).toMatch(/^3\.1\.\d+$/);
    expect(openapi.info.version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(openapi).toMatchObject({ servers: [{ url: "/" }] });
  });

  it("every reference resolves", () => {
    const references = valuesOf(openapi, "$ref") as string[];
    expect(references.length).toBeGreaterThan(50);
    const dangling = references.filter((reference) => {
      const steps = reference.replace(/^#\//, "").split("/");
      const target = steps.reduce<unknown>(
        (node, step) => (node as Record<string, unknown> | undefined)?.[step],
        openapi,
      );
      return !reference.startsWith("#/") || target === undefined;
    });
    expect(dangling).toEqual([]);
  });

  it("every schema compiles", () => {
    const names = Object.keys(openapi.components.schemas);
    expect(names.length).toBeGreaterThan(15);
    for (const name of names) faults(named(name), {});
  });

  it("operations are named once, and declare their path parameters, tags and credentials", () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const { tags, components } = openapi as unknown as {
      tags: { name: string }[];
      components: { securitySchemes: object };
    };
    const schemes = Object.keys(components.securitySchemes);
    for (const { path, operation } of operations) {
      const inPath = (operation.parameters ?? []).filter((one) => one.in === "path");
      const declared = inPath.filter((one) => one.required).map((one) => `{${one.name}}`);
      expect(declared).toEqual(path.match(/\{\w+\}/g) ?? []);
      expect(tags.map((tag) => tag.name)).toEqual(expect.arrayContaining(operation.tags));
      const used = (operation.security ?? []).flatMap((one) => Object.keys(one));
      expect(schemes).toEqual(expect.arrayContaining(used));
    }
    expect(schemes).toEqual(["bearer", "xApiKey", "xGoogApiKey"]);
  });

  it("ERR-01: error examples fit the shape of their protocol, and every code named is in the catalogue", () => {
    let seen = 0;
    for (const { path, operation } of operations) {
      for (const [status, response] of Object.entries(operation.responses)) {
        const codes = [...response.description.matchAll(/^- `(\w+)`:/gm)].map(([, code]) => code!);
        if (codes.length === 0) continue;
        for (const code of codes) {
          expect(errorCatalogue[code as keyof typeof errorCatalogue]?.status).toBe(Number(status));
        }
        const { schema, example } = response.content["application/json"]!;
        expect({ path, status, faults: faults(schema, example) }).toMatchObject({ faults: [] });
        seen += 1;
      }
    }
    expect(seen).toBeGreaterThan(40);
  });

  it("every request example fits its schema", () => {
    for (const { path, operation } of operations) {
      const content = operation.requestBody?.content["application/json"];
      if (!content) continue;
      const examples = Object.values(content.examples!);
      expect(examples.length).toBeGreaterThan(0);
      const wrong = examples.flatMap(({ value }) => faults(content.schema, value));
      expect({ path, wrong }).toMatchObject({ wrong: [] });
    }
  });
});

describe("the reference page", () => {
  let app: FastifyInstance;
  let origin: string;
  beforeAll(async () => {
    app = fastify();
    registerDocs(app);
    origin = await app.listen({ host: "127.0.0.1", port: 0 });
  });
  afterAll(() => app.close());

  it("loads its assets from this origin only, and its policy allows no other", async () => {
    const answer = await fetch(`${origin}/docs`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
    const policy = answer.headers.get("content-security-policy")!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    const page = await answer.text();
    expect(page).not.toMatch(/https?:|src="\/\/|href="\/\//);

    const sources = [...page.matchAll(/(?:src|href)="(\/[^"]*assets[^"]*)"/g)].map(
      ([, path]) => path!,
    );
    expect(sources).toHaveLength(2);
    for (const source of sources) {
      const asset = await fetch(origin + source);
      expect(asset.status).toBe(200);
      const type = source.includes(".css") ? "text/css" : "text/javascript";
      expect(asset.headers.get("content-type")).toBe(`${type}; charset=utf-8`);
      expect((await asset.text()).length).toBeGreaterThan(10_000);
    }
  });

  it("its script is the one that the policy names by hash, and asks no validator", async () => {
    const answer = await fetch(`${origin}/docs`);
    const [, script] = /<script>([^<]*)<\/script>/.exec(await answer.text())!;
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(script));
    const hash = Buffer.from(digest).toString("base64");
    expect(answer.headers.get("content-security-policy")).toContain(`'sha256-${hash}'`);
    expect(script).toContain("validatorUrl: null");
  });

  it("nothing else of the package is served", async () => {
    for (const path of ["swagger-ui.js", "package.json", "../package.json", "..%2fpackage.json"]) {
      expect((await app.inject(`/docs/assets/${path}`)).statusCode).toBe(404);
    }
  });

  it("the document is served as it is generated", async () => {
    const answer = await fetch(`${origin}/openapi.json`);
    expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(await answer.json()).toEqual(openapi);
  });
});

describe("the running gateway", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "tollgate-openapi-"));
  const routes: string[] = [];
  let gateway: Gateway;

  beforeAll(async () => {
    const listen = (message: unknown) => {
      const { fastify: app } = message as { fastify: FastifyInstance };
      app.addHook("onRoute", ({ method, url }) => {
        routes.push(...[method].flat().map((one) => `${one} ${url}`));
      });
    };
    subscribe("fastify.initialization", listen);
    const environment = readEnvironment({
      PORT: "0",
      TOLLGATE_DATA_DIR: dataDir,
      TOLLGATE_SANDBOX: "on",
    });
    gateway = await startGateway({ environment, log: createLog("silent") });
    unsubscribe("fastify.initialization", listen);
  });
  afterAll(async () => {
    await gateway?.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const call = (
    target: Target,
    { body, key = gateway.first!.apiKey }: { body?: unknown; key?: string | null } = {},
  ) =>
    fetch(gateway.url + address(target), {
      method: target.method,
      headers: {
        ...(key !== null && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });

  interface Reading {
    readonly status: number;
    readonly body: unknown;
    /** Where the answer differs from what the document says of its status and content type. */
    readonly faults: readonly string[];
  }

  async function read({ operation }: Target, answer: Response): Promise<Reading> {
    const { status } = answer;
    const type = answer.headers.get("content-type")!.replace(/;.*/, "");
    const text = await answer.text();
    const schema = operation.responses[status]?.content[type]?.schema;
    if (schema === undefined) return { status, body: text, faults: [`${type} is not described`] };
    if (type === "application/json") {
      const body = JSON.parse(text) as unknown;
      return { status, body, faults: faults(schema, body) };
    }
    if (type !== "text/event-stream") return { status, body: text, faults: faults(schema, text) };
    const parser = createSseParser();
    const frames = [...parser.push(Buffer.from(text)), ...parser.end()];
    const body = frames.map((frame) => frame.data).filter((data) => data !== "[DONE]");
    const wrong = body.flatMap((data) => faults(schema["x-frame"]!, JSON.parse(data)));
    return { status, body, faults: body.length > 1 ? wrong : ["it is no stream"] };
  }

  it("serves nothing that the document leaves out", () => {
    const own = new Set<string>();
    const bare = fastify();
    bare.addHook("onRoute", ({ method, url }) => {
      for (const one of [method].flat()) own.add(`${one} ${url}`);
    });
    registerDocs(bare);
    const described = operations.flatMap((one) => {
      const spellings = [...one.operation.description.matchAll(/`(\/v1[^`]*)`/g)];
      const paths = [one.path, ...spellings.map(([, spelling]) => spelling!)];
      return paths.map((path) => `${one.method} ${path}`);
    });
    const covers = (route: string) => {
      const pattern = route.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replace("*", ".+");
      return described.some((path) => new RegExp(`^${pattern}$`).test(path));
    };
    expect(routes).toContain("POST /v1/chat/completions");
    const served = routes.filter((route) => !route.startsWith("HEAD ") && !own.has(route));
    expect(served.filter((route) => !covers(route))).toEqual([]);
  });

  describe.each(operations.map((one) => [`${one.method} ${one.path}`, one] as const))(
    "%s",
    (_name, target) => {
      const { operation } = target;
      const content = operation.requestBody?.content["application/json"];
      const examples = Object.entries(content?.examples ?? { none: { value: undefined } });

      it.each(examples)("answers the example %s as described", async (_example, { value }) => {
        const answer = await call(target, { body: value });
        const headers = Object.keys(operation.responses[200]!.headers ?? {});
        const ids = headers.filter((header) => header.endsWith("request-id"));
        expect(await read(target, answer)).toMatchObject({ status: 200, faults: [] });
        expect(ids.filter((id) => !answer.headers.get(id)?.startsWith("req_"))).toEqual([]);
      });

      it("AUTH-01: without a key it answers as described", async () => {
        const answer = await call(target, { key: null, body: examples[0]![1].value });
        const isOpen = operation.security?.some((one) => Object.keys(one).length === 0) === true;
        const isFree = operation.security?.length === 0;
        const status = isOpen || isFree ? 200 : 401;
        expect(await read(target, answer)).toMatchObject({ status, faults: [] });
      });
    },
  );

  const hello = (id: string) => {
    const target = byId(id);
    const { schema, examples } = target.operation.requestBody!.content["application/json"]!;
    return { target, schema, value: examples!["hello"]!.value };
  };
  const wrong: [id: string, change: Record<string, unknown>][] = [
    ["createChatCompletion", { messages: undefined }],
    ["createChatCompletion", { temperature: 2.1 }],
    ["createChatCompletion", { messages: [{ role: "robot", content: "Hi" }] }],
    ["createChatCompletion", { messages: [{ role: "user", content: [{ type: "text" }] }] }],
    ["createChatCompletion", { stop: ["1", "2", "3", "4", "5"] }],
    ["createResponse", { input: undefined }],
    ["createResponse", { input: [{ type: "function_call", name: "f" }] }],
    ["createResponse", { top_logprobs: 21 }],
    ["createMessage", { max_tokens: undefined }],
    ["createMessage", { temperature: 1.5 }],
    ["createMessage", { messages: [{ role: "user", content: [{ type: "image" }] }] }],
    ["generateContent", { contents: undefined }],
    ["generateContent", { contents: [{ parts: "Hi" }] }],
    ["generateContent", { generationConfig: { candidateCount: 0 } }],
  ];

  it.each(wrong)("TXT-22: %s refuses %j, and so does its schema", async (id, change) => {
    const { target, schema, value } = hello(id);
    const body = JSON.parse(JSON.stringify({ ...value, ...change })) as unknown;
    expect(faults(schema, body)).not.toEqual([]);
    const answer = await call(target, { body });
    expect(await read(target, answer)).toMatchObject({ status: 400, faults: [] });
  });

  it("what was dropped stands where the document says, whole and streamed", async () => {
    for (const id of ["createChatCompletion", "createResponse", "createMessage"]) {
      const { target, value } = hello(id);
      const whole = await call(target, { body: { ...value, service_tier: "flex" } });
      expect(await read(target, whole)).toMatchObject({
        faults: [],
        body: { gw: { droppedParams: ["service_tier"] } },
      });
      expect(whole.headers.get("x-gw-dropped-params")).toBeNull();
      const stream = await call(target, {
        body: { ...value, stream: true, service_tier: "flex" },
      });
      expect(stream.headers.get("x-gw-dropped-params")).toBe("service_tier");
      expect(await read(target, stream)).toMatchObject({ status: 200, faults: [] });
    }
  });

  it("without alt=sse a generateContent stream is the array that the document describes", async () => {
    const target = byId("streamGenerateContent");
    const { schema } = target.operation.responses[200]!.content["application/json"]!;
    const answer = await fetch(gateway.url + address(target).replace(/\?.*/, ""), {
      method: "POST",
      headers: { "x-goog-api-key": gateway.first!.apiKey, "content-type": "application/json" },
      body: JSON.stringify(hello("streamGenerateContent").value),
    });
    const body = (await answer.json()) as unknown[];
    expect(body.length).toBeGreaterThan(0);
    expect(faults(schema, body)).toEqual([]);
  });
});
