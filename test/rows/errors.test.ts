/** Errors as callers see them: their format in each protocol, their codes, and whether to retry. ERR rows. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { errorCatalogue, type ErrorCode } from "../../src/base/errors.ts";
import { changeWorkspace, createWorkspace, disableKey } from "../../src/tenancy/index.ts";
import { forced } from "../support/gateway.ts";
import { shareOfRows } from "../support/long.ts";
import { json } from "../support/recorder.ts";
import { errorCode } from "./endpoints.ts";
import { eachProtocol, generateContent, protocols, type Protocol } from "./protocols.ts";
import { answering, startWorld, type World } from "./world.ts";

let world: World;
let keys: Record<"disabled" | "poor" | "capped" | "narrow" | "locked" | "shut", string>;

beforeAll(async () => {
  world = await startWorld({ timeouts: "{ first_byte_s: 0.2 }" });
  const context = { database: world.gateway.database, clock: systemClock };
  const poor = await createWorkspace(context, { organizationId: null, name: "poor" });
  const shut = await createWorkspace(context, { organizationId: null, name: "shut" });
  await changeWorkspace(context, shut.id, { status: "disabled" });
  const disabled = await world.makeKey();
  await disableKey(context, { id: disabled.record.id });
  const key = async (input: Parameters<World["makeKey"]>[0]) => (await world.makeKey(input)).key;
  keys = {
    disabled: disabled.key,
    poor: await key({ workspaceId: poor.id }),
    capped: await key({ spendCaps: { dailyNano: 0n } }),
    narrow: await key({ modelAllowlist: ["acme/none"] }),
    locked: await key({ routing: { mode: "custom", sort: "price" } }),
    shut: await key({ workspaceId: shut.id }),
  };
});
afterAll(() => world.close());
beforeEach(() => world.answer(answering));

interface Case {
  readonly code: ErrorCode;
  readonly status: number;
  call(protocol: Protocol): Promise<Response>;
}

/** Fields with an out-of-range value, in each protocol. */
const outOfDomain = (protocol: Protocol): object =>
  protocol.name === "generate_content"
    ? { generationConfig: { temperature: 9 } }
    : { temperature: 9 };

const upstream = (answer: Parameters<World["answer"]>[0]) => (protocol: Protocol) => {
  world.answer(answer);
  return world.call(protocol, { model: `${protocol.model}:first` });
};

const cases: readonly Case[] = [
  {
    code: "integer_above_max_value",
    status: 400,
    call: (protocol) => world.call(protocol, { extra: outOfDomain(protocol) }),
  },
  {
    code: "invalid_json",
    status: 400,
    call: (protocol) => world.gateway.post(protocol.path(protocol.model, false), "{"),
  },
  {
    code: "invalid_model_suffix",
    status: 400,
    call: (protocol) => world.call(protocol, { model: `${protocol.model}:first:@price` }),
  },
  {
    code: "provider_not_found",
    status: 400,
    call: (protocol) => world.call(protocol, { model: `${protocol.model}:nobody` }),
  },
  {
    code: "routing_locked",
    status: 400,
    call: (protocol) =>
      world.call(protocol, { model: `${protocol.model}:@price`, key: keys.locked }),
  },
  {
    code: "unsupported_protocol",
    status: 400,
    call: (protocol) =>
      world.call(protocol, { model: protocols.find((one) => one !== protocol)!.model }),
  },
  {
    code: "invalid_api_key",
    status: 401,
    call: (protocol) => world.call(protocol, { key: "wrong" }),
  },
  {
    code: "api_key_disabled",
    status: 401,
    call: (protocol) => world.call(protocol, { key: keys.disabled }),
  },
  {
    code: "insufficient_balance",
    status: 402,
    call: (protocol) => world.call(protocol, { key: keys.poor }),
  },
  {
    code: "key_daily_spend_cap_reached",
    status: 402,
    call: (protocol) => world.call(protocol, { key: keys.capped }),
  },
  {
    code: "model_not_allowed",
    status: 403,
    call: (protocol) => world.call(protocol, { key: keys.narrow }),
  },
  {
    code: "workspace_disabled",
    status: 403,
    call: (protocol) => world.call(protocol, { key: keys.shut }),
  },
  {
    code: "model_not_found",
    status: 404,
    call: (protocol) => world.call(protocol, { model: "acme/nothing" }),
  },
  {
    code: "unsupported_media_type",
    status: 415,
    call: (protocol) => world.call(protocol, { headers: { "content-type": "text/plain" } }),
  },
  {
    code: "rate_limit_exceeded",
    status: 429,
    call: upstream(json({ error: { message: "slow" } }, 429)),
  },
  {
    code: "upstream_error",
    status: 502,
    call: upstream(json({ error: { message: "boom" } }, 500)),
  },
  { code: "upstream_timeout", status: 504, call: upstream(() => undefined) },
];

/** Statuses after which a client may retry the same call automatically. */
const retryable = new Set([429, 502, 503, 504]);

describe.each(eachProtocol)("%s", (name, protocol) => {
  const place = eachProtocol.findIndex(([one]) => one === name);
  // With forced conversion, the short form runs every second case of a protocol.
  const tried = forced ? shareOfRows(cases, place) : cases;
  it.each(tried.map((one) => [one.code, one] as const))(
    "ERR-15 ERR-16: %s has its status, format and retry headers",
    async (code, one) => {
      const { status } = one;
      const answer = await one.call(protocol);
      const text = await answer.text();
      expect([answer.status, errorCode(text)]).toEqual([status, code]);
      expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
      expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
      expectShape(name, JSON.parse(text), code);
      expect(answer.headers.has("www-authenticate")).toBe(status === 401);
      expect(answer.headers.has("retry-after")).toBe(status === 429 || status === 503);
      // Some clients would retry these statuses in vain.
      expect(answer.headers.get("x-should-retry")).toBe(
        [401, 402].includes(status) ? "false" : null,
      );
      expect(retryable.has(status)).toBe(status === 429 || status > 500);
      const { message } = (JSON.parse(text) as { error: { message: string } }).error;
      expect(message).toMatch(/^[A-Z].{10,}/s);
    },
  );
});

const typeOfMessages: Record<number, string> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  415: "invalid_request_error",
  429: "rate_limit_error",
  502: "api_error",
  504: "timeout_error",
};
const statusOfGoogle: Record<number, string> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  402: "FAILED_PRECONDITION",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  415: "INVALID_ARGUMENT",
  429: "RESOURCE_EXHAUSTED",
  502: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

/** TXT-22: protocols of other vendors than OpenAI have those vendors' error formats. */
function expectShape(name: string, body: unknown, code: ErrorCode): void {
  const { status, type } = errorCatalogue[code];
  const message = expect.any(String) as string;
  const shapes: Record<string, unknown> = {
    messages: {
      type: "error",
      error: expect.objectContaining({ type: typeOfMessages[status], message }) as object,
      request_id: expect.stringMatching(/^req_/) as string,
    },
    generate_content: {
      error: expect.objectContaining({
        code: status,
        message,
        status: statusOfGoogle[status],
      }) as object,
    },
  };
  const param = expect.toSatisfy((value) => value === null || typeof value === "string") as null;
  expect(body).toEqual(shapes[name] ?? { error: { message, type, param, code } });
}

describe("the format of errors", () => {
  it("ERR-01: every error has all four keys, at any path and method", async () => {
    const { url, key } = world.gateway;
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    for (const [method, path, status, body] of [
      ["GET", "/v1/nothing", 404, undefined],
      ["GET", "/v1/chat/completions", 405, undefined],
      ["PUT", "/v1/responses", 405, "{}"],
      ["GET", "/v1/models/acme/nothing", 404, undefined],
      ["GET", "/v1/models/%ff", 400, undefined],
      ["POST", "/v1/chat/completions", 400, "{"],
      ["POST", "/v1/chat/completions", 400, "{}"],
      ["POST", "/v1/responses", 400, JSON.stringify({ model: 1 })],
      [
        "POST",
        "/v1/chat/completions",
        404,
        JSON.stringify({ model: "a/b", messages: [{ role: "user", content: "x" }] }),
      ],
    ] as const) {
      const answer = await fetch(url + path, {
        method,
        headers,
        ...(body === undefined ? {} : { body }),
      });
      expect([method, path, answer.status]).toEqual([method, path, status]);
      const { error } = (await answer.json()) as { error: Record<string, unknown> };
      expect(Object.keys(error).sort()).toEqual(["code", "message", "param", "type"]);
      expect(errorCatalogue).toHaveProperty(String(error["code"]));
    }
  });

  it("ERR-01: an upstream's refusal without our keys reaches the caller with all four", async () => {
    for (const protocol of protocols.slice(0, 2)) {
      world.answer(
        (_request, answer) =>
          void answer.writeHead(400, { "content-type": "text/html" }).end("<h1>Bad Request</h1>"),
      );
      const answer = await world.call(protocol);
      expect(answer.status).toBe(400);
      expect(await answer.json()).toEqual({
        error: {
          message: expect.stringContaining("Bad Request") as string,
          type: "invalid_request_error",
          param: null,
          code: "upstream_rejected",
        },
      });
      for (const refusal of [
        { error: { message: "no" } },
        { error: { message: "no", code: 400 } },
        { error: "no" },
        { error: { type: "x" } },
      ]) {
        world.answer(json(refusal, 400));
        const { error } = (await (await world.call(protocol)).json()) as {
          error: Record<string, unknown>;
        };
        expect([refusal, Object.keys(error).sort()]).toEqual([
          refusal,
          ["code", "message", "param", "type"],
        ]);
        expect(["string", "object"]).toContain(typeof error["code"]);
        expect(typeof error["message"]).toBe("string");
        expect(typeof error["type"]).toBe("string");
      }
    }
  });

  it.each([
    ["chat", { error: { message: "no", type: "odd", param: "x", code: "own", more: [1] }, id: 7 }],
    ["responses", { error: { message: "no", type: "odd", param: null, code: null, more: [1] } }],
    ["messages", { type: "error", error: { type: "odd_error", message: "no" }, request_id: "r" }],
    ["generate_content", { error: { code: 400, message: "no", status: "ODD", details: [{}] } }],
  ])("ERR-01: a refusal in the format of %s reaches its caller unchanged", async (name, body) => {
    world.answer(json(body, 400));
    const answer = await world.call(protocols.find((one) => one.name === name)!);
    expect([answer.status, await answer.json()]).toEqual([400, body]);
  });

  it("ERR-01: a generateContent upstream's refusal in another format gets the HTTP status as its code, and a status word", async () => {
    const message = "no such level";
    const inOpenAiStyle = { message, type: "invalid_request_error", param: null, code: "bad" };
    for (const error of [inOpenAiStyle, { message }, { message, code: null }]) {
      world.answer(json({ error }, 400));
      const answer = await world.call(generateContent);
      expect(answer.status).toBe(400);
      expect(await answer.json()).toEqual({
        error: { ...error, code: 400, status: "INVALID_ARGUMENT" },
      });
    }
  });
});
