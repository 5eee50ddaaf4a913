// Compares the OpenAPI document with the running gateway: every route, every example, every refusal.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fastify, type FastifyInstance } from "fastify";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createLog } from "../../src/base/log.ts";
import { createSseParser } from "../../src/base/sse.ts";
import { readEnvironment } from "../../src/cli/environment.ts";
import { startGateway, type Gateway } from "../../src/cli/gateway.ts";
import { openBuilds, registerConsole } from "../../src/http/console/index.ts";
import { registerDocs } from "../../src/http/openapi/index.ts";
import { routes as table } from "../../src/http/routes.ts";
import { patiently } from "../support/patience.ts";
import {
  address,
  byId,
  callerOperations,
  faults,
  operations,
  type Target,
} from "./openapi-support.ts";
import { pixel } from "../support/pixel.ts";

describe("the running gateway", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "tollgate-openapi-"));
  // Fastify does not know the text endpoints.
  const routes = Object.keys(table).map((name) => name.replace(/\*:\w+$/, "*"));
  let gateway: Gateway;
  /** Existing tasks and a file, to replace those of the document's examples. */
  let existing: { finished: string; canceled: string; file: string };

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
    existing = await makeTasks();
  });
  afterAll(async () => {
    await gateway?.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  async function makeTasks(): Promise<typeof existing> {
    const send = async (path: string, body: unknown = {}, headers: Record<string, string> = {}) => {
      const answer = await fetch(gateway.url + path, {
        method: "POST",
        headers: {
          authorization: `Bearer ${gateway.first!.apiKey}`,
          "content-type": "application/json",
          ...headers,
        },
        body: JSON.stringify(body),
      });
      return (await answer.json()) as {
        id: string;
        status?: string;
        output: { videos: { url: string }[] };
      };
    };
    const video = { model: "sandbox/video-model-seconds", prompt: "Hi", duration: 2 };
    const { id: finished, output } = await send("/v1/tasks", video, { prefer: "wait=30" });
    const slow = { ...video, prompt: 'Hi\n#sandbox {"task_seconds": 600}' };
    const { id: canceled } = await send("/v1/tasks", slow);
    // During the submission a cancellation is refused; once the vendor has the task, it confirms.
    const cancel = async () => (await send(`/v1/tasks/${canceled}/cancel`)).status;
    await vi.waitFor(async () => expect(await cancel()).toBe("canceled"), patiently);
    return { finished, canceled, file: output.videos[0]!.url.split("/").at(-1)! };
  }

  /** An operation's address, with existing tasks and files instead of its examples. */
  function place(target: Target): string {
    const cancels = target.path.endsWith("/cancel") || target.method === "DELETE";
    return address(target)
      .replace(/(?<=\/)task_\w+/, cancels ? existing.canceled : existing.finished)
      .replace(/(?<=^\/files\/).+/, existing.file);
  }

  const call = (
    target: Target,
    { body, key = gateway.first!.apiKey }: { body?: unknown; key?: string | null } = {},
  ) =>
    fetch(gateway.url + place(target), {
      method: target.method,
      headers: {
        ...(key !== null && { authorization: `Bearer ${key}` }),
        ...(body !== undefined &&
          !(body instanceof FormData) && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: body instanceof FormData ? body : JSON.stringify(body) }),
    });

  /** The form for an operation that only accepts forms, as the document has no example of a file. */
  function formFor({ operation }: Target): FormData | undefined {
    if (!operation.requestBody?.content["multipart/form-data"]) return undefined;
    const form = new FormData();
    form.append("prompt", "Hi");
    form.append("size", "64x64");
    form.append("image", new Blob([Buffer.from(pixel, "base64")]), "pixel.png");
    return form;
  }

  interface Reading {
    readonly status: number;
    readonly body: unknown;
    /** Differences between the answer and the document's schema for its status and content type. */
    readonly faults: readonly string[];
  }

  async function read({ operation }: Target, answer: Response): Promise<Reading> {
    const { status } = answer;
    const type = answer.headers.get("content-type")!.replace(/;.*/, "");
    if (type === "video/mp4") return { status, body: await answer.arrayBuffer(), faults: [] };
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

  it("serves no route that the document leaves out", () => {
    const own = new Set<string>();
    const bare = fastify();
    bare.addHook("onRoute", ({ method, url }) => {
      for (const one of [method].flat()) own.add(`${one} ${url}`);
    });
    registerDocs(bare);
    // Assets of pages, like those of the reference.
    registerConsole(bare, openBuilds());
    const described = operations.flatMap((one) => {
      const spellings = [...one.operation.description.matchAll(/`(\/v1[^`]*)`/g)];
      const paths = [one.path, ...spellings.map(([, spelling]) => spelling!)];
      return paths.map((path) => `${one.method} ${path}`);
    });
    const covers = (route: string) => {
      const pattern = route
        .replace(/[.+?^${}()|[\]\\]/g, "\\$&")
        .replace("*", ".+")
        .replaceAll(/:\w+/g, "\\{\\w+\\}");
      return described.some((path) => new RegExp(`^${pattern}$`).test(path));
    };
    expect(routes).toContain("POST /v1/chat/completions");
    const served = routes.filter((route) => !route.startsWith("HEAD ") && !own.has(route));
    expect(served.filter((route) => !covers(route))).toEqual([]);
  });

  describe.each(callerOperations.map((one) => [`${one.method} ${one.path}`, one] as const))(
    "%s",
    (_name, target) => {
      const { operation } = target;
      const content = operation.requestBody?.content["application/json"];
      const examples = Object.entries(content?.examples ?? { none: { value: formFor(target) } });

      it.each(examples)("answers the example %s as described", async (_example, { value }) => {
        const answer = await call(target, { body: value });
        const headers = Object.keys(operation.responses[200]!.headers ?? {});
        const ids = headers.filter((header) => header.endsWith("request-id"));
        expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
        expect(await read(target, answer)).toMatchObject({ status: 200, faults: [] });
        expect(ids.filter((id) => !answer.headers.get(id)?.startsWith("req_"))).toEqual([]);
      });

      it("AUTH-06: is answered, or refused, without a key as described", async () => {
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

  it.each(["getModel", "getGoogleModel"])(
    "%s: an unknown model is answered as described",
    async (id) => {
      const target = byId(id);
      const answer = await fetch(`${gateway.url}${target.path.replace("{id}", "no/such-model")}`);
      expect(await read(target, answer)).toMatchObject({ status: 404, faults: [] });
    },
  );

  it("TXT-14 TXT-21: dropped parameters are reported where the document says, whole and streamed", async () => {
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

  it("a generateContent stream without alt=sse is the array that the document describes", async () => {
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
