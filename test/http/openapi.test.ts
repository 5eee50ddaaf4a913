// Checks the OpenAPI document itself, against the protocols' validation, and its reference page.
import { readFileSync } from "node:fs";
import { fastify, type FastifyInstance } from "fastify";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { errorCatalogue, GatewayError } from "../../src/base/errors.ts";
import { registerDocs } from "../../src/http/openapi/index.ts";
import { codecs, type JsonObject } from "../../src/protocols/index.ts";
import { byId, faults, named, openapi, operations, resolve, valuesOf } from "./openapi-support.ts";

describe("the OpenAPI document", () => {
  it("is OpenAPI 3.1 with the version of the package", () => {
    expect(openapi.openapi).toMatch(/^3\.1\.\d+$/);
    expect(openapi.info.version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(openapi).toMatchObject({ servers: [{ url: "/" }] });
  });

  it("every reference resolves", () => {
    const references = valuesOf(openapi, "$ref") as string[];
    expect(references.length).toBeGreaterThan(50);
    expect(references.filter((reference) => resolve(reference) === undefined)).toEqual([]);
  });

  it("every schema compiles", () => {
    const names = Object.keys(openapi.components.schemas);
    expect(names.length).toBeGreaterThan(15);
    for (const name of names) faults(named(name), {});
  });

  it("operations have unique ids, and declare their path parameters, tags and credentials", () => {
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
    expect(schemes).toEqual(["bearer", "xApiKey", "xGoogApiKey", "adminToken", "session"]);
  });

  it("ERR-01: error examples fit the shape of their protocol, and every named code is in the error catalogue", () => {
    let seen = 0;
    for (const { path, operation } of operations) {
      for (const [status, response] of Object.entries(operation.responses)) {
        const codes = [...response.description.matchAll(/^- `(\w+)`:/gm)].map(([, code]) => code!);
        if (codes.length === 0) continue;
        expect({ path, status, codes }).toEqual({ path, status, codes: [...new Set(codes)] });
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

  it("EDIT1-04, EDIT2-03: an edit requires an image, and a task does not", () => {
    const about = (form: string): string => JSON.stringify(openapi.components.schemas[form]);
    expect(about("ImageEditForm")).toContain("At least one is required.");
    expect(about("TaskForm")).toContain("With at least one, the task is an edit.");
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

describe("a request's schema accepts exactly what the gateway accepts", () => {
  const protocols = [
    ["chat", "createChatCompletion"],
    ["responses", "createResponse"],
    ["messages", "createMessage"],
    ["generate_content", "generateContent"],
  ] as const;
  const probes = [null, true, -1, 0, 1, 1.5, 1e9, "", "x", "auto", [], ["x"], [{}], {}];
  const typed = [{ type: "function" }, { type: "json_schema" }, { type: "tool" }, { type: "text" }];

  it.each(protocols)("for %s", (protocol, id) => {
    const { schema, examples } = byId(id).operation.requestBody!.content["application/json"]!;
    const { properties } = resolve(schema.$ref!) as { properties: object };
    const accepts = (body: Record<string, unknown>) => {
      try {
        codecs[protocol].direct.validate(body as JsonObject);
        return true;
      } catch (error) {
        if (error instanceof GatewayError) return false;
        throw error;
      }
    };
    const verdicts = Object.keys(properties).flatMap((name) =>
      [...probes, ...typed, ...typed.map((one) => [one])].map((value) => {
        const body = { ...examples!["hello"]!.value, [name]: value };
        return { name, value, gateway: accepts(body), document: faults(schema, body).length === 0 };
      }),
    );
    expect(verdicts.filter((one) => one.gateway).length).toBeGreaterThan(20);
    expect(verdicts.filter((one) => !one.gateway).length).toBeGreaterThan(20);
    expect(verdicts.filter((one) => one.gateway !== one.document)).toEqual([]);
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

  it("loads its assets only from this origin, and its policy allows no other", async () => {
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

  it("has only the script whose hash is in the policy, and calls no validator", async () => {
    const answer = await fetch(`${origin}/docs`);
    const [, script] = /<script>([^<]*)<\/script>/.exec(await answer.text())!;
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(script));
    const hash = Buffer.from(digest).toString("base64");
    expect(answer.headers.get("content-security-policy")).toContain(`'sha256-${hash}'`);
    expect(script).toContain("validatorUrl: null");
  });

  it("serves no other file of its package", async () => {
    for (const path of ["swagger-ui.js", "package.json", "../package.json", "..%2fpackage.json"]) {
      expect((await app.inject(`/docs/assets/${path}`)).statusCode).toBe(404);
    }
  });

  it("serves the document of docs/openapi.json, from which clients are generated", async () => {
    const answer = await fetch(`${origin}/openapi.json`);
    expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
    const published = readFileSync(new URL("../../docs/openapi.json", import.meta.url), "utf8");
    expect(await answer.json()).toEqual(JSON.parse(published));
  });
});
