/**
 * The table of routes: which row matches a request, under every spelling of its path, and that Fastify would choose the same one.
 * TXT-01 to TXT-04, ERR-01.
 */
import * as fc from "fast-check";
import { fastify } from "fastify";
import { beforeAll, describe, expect, it } from "vitest";
import { headBytesMax } from "../../src/http/exchange.ts";
import {
  likelyRoute,
  matchRoute,
  routes,
  splitName,
  styleOf,
  type RouteName,
} from "../../src/http/routes.ts";

const names = Object.keys(routes) as RouteName[];
/** The name of the row that matches a request. */
const rowOf = (method: string, url: string): string | undefined => {
  const { route } = matchRoute(method, url);
  return names.find((name) => routes[name] === route);
};

describe("the table of routes", () => {
  it.each(names)("%s matches its own row", (name) => {
    const { method, path } = splitName(name);
    const url = path.replace(":id", "task_1").replace(/\*$/, "models/a:b").replace("*", "models/a");
    expect(rowOf(method, url)).toBe(name);
    expect(rowOf(method, `${url}?key=a#b`)).toBe(name);
    expect(rowOf(method, `http://gateway:8080${url}`)).toBe(name);
    expect(rowOf("TRACE", url)).toBeUndefined();
  });

  it.each([
    ["POST", "/v1/chat/completion%73", "POST /v1/chat/completions"],
    ["POST", "/%761/messages/count%5ftokens", "POST /v1/messages/count_tokens"],
    ["POST", "/v1/chat%2Fcompletions", undefined],
    ["POST", "/v1%2fmessages", undefined],
    ["POST", "/v1/chat/completions/", undefined],
    ["POST", "/V1/chat/completions", undefined],
    ["POST", "/v1//chat/completions", undefined],
    ["POST", "/v1/x/../chat/completions", undefined],
    ["POST", "/v1/chat/completion%", undefined],
    ["GET", "/v1/chat/completions", undefined],
    ["GET", "/v1/tasks/", undefined],
    ["GET", "/v1/tasks/a%2Fb", "GET /v1/tasks/:id"],
    ["HEAD", "/v1/models", "GET /v1/models"],
    ["POST", "/v1/models/a:countTokens", "POST /v1/models/*:countTokens"],
    ["POST", "/v1beta/models/a%3Acount%54okens?x", "POST /v1beta/*:countTokens"],
    ["POST", "/v1beta/a:countTokens/b", "POST /v1beta/*"],
    ["POST", "/v1beta/a/countTokens", undefined],
    ["POST", "/v1beta/openai/chat/completions", undefined],
    ["POST", "/v1/models/a/b", "POST /v1/models/*"],
    ["POST", "/v1beta/models/a", "POST /v1beta/*"],
    ["POST", "", undefined],
    ["POST", "*", undefined],
  ])("is looked up by method and decoded path: %s %s", (method, url, name) => {
    expect(rowOf(method, url)).toBe(name);
  });

  it.each([
    ["/v1beta/models/acme%2Ftalk:generateContent", "acme/talk:generateContent"],
    ["/v1beta/acme/talk%3fx:generateContent", "acme/talk?x:generateContent"],
    ["/v1/models/acme/talk%253a:x", "acme/talk%3a:x"],
    ["/v1beta/models/a%:generateContent", undefined],
    ["/v1beta/models/a%%34%31:generateContent", undefined],
    ["/v1beta/models/a%ff:generateContent", undefined],
  ])("decodes the model of %s once: %s", (url, model) => {
    expect(matchRoute("POST", url)).toMatchObject({
      route: { protocol: "generate_content" },
      model,
    });
  });

  it.each([
    ["POST", "/v1/nothing", {}, "chat"],
    ["POST", "/v1/messages/nothing", {}, "messages"],
    ["POST", "/v1/message%73/nothing", {}, "messages"],
    ["GET", "/v1/messagesx", {}, "chat"],
    ["PUT", "/v1beta/x", {}, "generate_content"],
    ["POST", "/v1/models", {}, "generate_content"],
    ["GET", "/v1/models", {}, "chat"],
    ["GET", "/v1/models/a", { "x-goog-api-client": "a" }, "generate_content"],
    ["GET", "/v1/models/a", { "anthropic-version": "2023-06-01" }, "messages"],
    ["GET", "/v1/models", { "anthropic-version": "a", "x-goog-api-key": "a" }, "generate_content"],
    ["POST", "/v1/models/a:x", { "anthropic-version": "a" }, "generate_content"],
    ["GET", "/v1/tasks", { "x-goog-api-key": "a" }, "chat"],
    ["GET", "/v1/tasks", { "anthropic-version": "a" }, "chat"],
    ["GET", "/api/v1/nothing", {}, "dashscope"],
    ["GET", "/api/v3", {}, "ark"],
    ["GET", "/api/v2", {}, "chat"],
    ["GET", "/", {}, "chat"],
    ["POST", "/v1/v1/messages", {}, "messages"],
    ["POST", "/api/v1/chat/completions", {}, "chat"],
    ["POST", "/v1/v1beta/models/a:generateContent", {}, "generate_content"],
  ])("gives errors of %s %s %j the shape of %s", (method, url, headers, style) => {
    expect(styleOf(matchRoute(method, url), headers)).toBe(style);
  });
});

/** Paths from a wrong base URL of an SDK, the most common mistake of a first call. */
describe("the likely route of a wrong path", () => {
  it.each([
    ["POST", "/chat/completions", "/v1/chat/completions"],
    ["POST", "/v1/v1/chat/completions", "/v1/chat/completions"],
    ["POST", "/v1//chat/completions", "/v1/chat/completions"],
    ["POST", "/api/v1/chat/completions", "/v1/chat/completions"],
    ["POST", "/responses", "/v1/responses"],
    ["POST", "/embeddings", "/v1/embeddings"],
    ["POST", "/v1/v1/messages", "/v1/messages"],
    ["POST", "/anthropic/v1/messages/count_tokens", "/v1/messages/count_tokens"],
    ["POST", "/v1/v1beta/models/a/b:streamGenerateContent", "/v1beta/*"],
    ["POST", "/models/a:countTokens", "/v1beta/*"],
    ["GET", "/models", "/v1/models"],
    ["POST", "/v1/threads/thread_1/messages", undefined],
    ["POST", "/v1/chat/completion", undefined],
    ["POST", "/shop/models/a:generateContent", undefined],
    ["GET", "/chat/completions", undefined],
    ["GET", "/admin/v1/models", undefined],
  ])("for %s %s is %s", (method, path, meant) => {
    expect(likelyRoute(method, path)?.path).toBe(meant);
  });
});

describe("Fastify", () => {
  const app = fastify({ routerOptions: { maxParamLength: headBytesMax } });
  beforeAll(async () => {
    for (const name of names) {
      const { method, path } = splitName(name);
      if (!path.includes("*:"))
        app.route({ method, url: path, handler: (request) => request.routeOptions.url });
    }
    await app.ready();
  });

  /** A path of the table, with some characters escaped and some inserted. */
  const paths = fc
    .tuple(
      fc.constantFrom(...names),
      fc.string({ unit: fc.constantFrom("a", "b", "s", ":", "/", "-", "%"), maxLength: 5 }),
      fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(3)), { maxLength: 3 }),
    )
    .map(([name, place, edits]) => {
      const { method, path } = splitName(name);
      let url = path.replace(":id", place).replace("*", place);
      for (const [share, kind] of edits) {
        const at = 1 + Math.floor(share * (url.length - 1));
        const one = url[at] ?? "a";
        const escape = `%${one.charCodeAt(0).toString(16).padStart(2, "0")}`;
        const other = [escape, escape.toUpperCase(), `${one}x`, ""][kind]!;
        url = url.slice(0, at) + other + url.slice(at + 1);
      }
      return { method: method as "GET" | "POST" | "DELETE", url };
    });

  it("chooses the same row as the table of routes, for any spelling of the path", async () => {
    const check = async ({ method, url }: { method: "GET" | "POST" | "DELETE"; url: string }) => {
      const { route, path } = matchRoute(method, url);
      const answer = await app.inject({ method, url });
      const chosen = answer.statusCode === 200 ? answer.body : undefined;
      // Fastify allows empty path segments. Our route table does not, and handle.ts serves no request without a matched row.
      fc.pre(chosen === undefined || !/\/(?:\/|$)/.test(path));
      // Our route table takes only calls and models here, and answers them without Fastify.
      fc.pre(chosen !== "/v1beta/*" || /:|\/models\//.test(decodeURIComponent(path)));
      // Fastify refuses malformed escapes; our routes refuse them if they call a model.
      fc.pre(answer.statusCode !== 400);
      expect(route.path?.replace("*:countTokens", "*")).toBe(chosen);
    };
    await fc.assert(fc.asyncProperty(paths, check), { numRuns: 1_000 });
  });
});
