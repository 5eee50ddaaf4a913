// Single parts of hooks: valid answers, requests to an address, which calls a hook gets, and the log.
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { ByteBudget } from "../../src/base/byte-budget.ts";
import { systemClock } from "../../src/base/clock.ts";
import { GatewayError, overloaded } from "../../src/base/errors.ts";
import { silentLog, type Log } from "../../src/base/log.ts";
import { readAnswer } from "../../src/hooks/answer.ts";
import type { HookTransport } from "../../src/hooks/transport.ts";
import { createHooks } from "../../src/hooks/hooks.ts";
import { httpHook } from "../../src/hooks/http-hook.ts";
import type { AskedCall } from "../../src/hooks/types.ts";
import { failureLog, type OpenHook } from "../../src/hooks/observers.ts";
import { createPools } from "../../src/upstream/index.ts";
import { json, startRecorder, type Recorder } from "../support/recorder.ts";
import { secret } from "./support.ts";

const read = (answer: unknown) => readAnswer(Buffer.from(JSON.stringify(answer)));

describe("a hook's answer", () => {
  const refused = "A rule of this gateway's operator refused the request.";
  it.each([
    [{ action: "refuse" }, { message: refused, code: undefined }],
    [
      { action: "refuse", message: "  No. ", code: "pii.1" },
      { message: "No.", code: "pii.1" },
    ],
    [
      { action: "refuse", message: 7, code: "a b" },
      { message: refused, code: undefined },
    ],
    [
      { action: "refuse", code: "a\r\nset-cookie: x" },
      { message: refused, code: undefined },
    ],
    [
      { action: "refuse", code: "x".repeat(65) },
      { message: refused, code: undefined },
    ],
    [
      { action: "refuse", code: 42 },
      { message: refused, code: undefined },
    ],
    [
      { action: "change", model: "m" },
      { model: "m", body: undefined },
    ],
    [
      { action: "change", body: {} },
      { model: undefined, body: {} },
    ],
  ])("%j is valid", (answer, meaning) => {
    expect(read(answer)).toEqual({ action: answer.action, ...meaning });
  });

  it.each([
    [{ action: "change", body: [] }, "its body is no object"],
    [{ action: "change", body: null }, "its body is no object"],
    [{ action: "change", model: "" }, "its model is no text"],
    [{ action: "change", model: 7, body: {} }, "its model is no text"],
    [{ action: "change" }, "it changes neither body nor model"],
    [{ action: "ALLOW" }, 'its answer has no "action" of allow, refuse and change'],
    ["allow", "its answer is not one JSON object"],
  ])("%j is invalid", (answer, why) => {
    expect(() => read(answer)).toThrow(why);
  });

  it("is cut if its message is long", () => {
    expect(read({ action: "refuse", message: "x".repeat(2_000) })).toMatchObject({
      message: expect.stringMatching(/^x{400,500}/) as string,
    });
  });
});

describe("a hook at an address", () => {
  let hook: Recorder;
  const pools = createPools();
  beforeAll(async () => {
    hook = await startRecorder(json({ action: "allow" }));
  });
  afterAll(async () => {
    await hook?.close();
    await pools.close();
  });
  const ask = async (
    timeoutMs = 2_000,
    answerBytesMax = 1_000,
    at: "before" | "after" = "before",
  ) => {
    const transport = httpHook({
      url: `${hook.url}/a?b=c`,
      secret,
      name: `guard.${at}`,
      at,
      pools,
      clock: systemClock,
    });
    const question = { id: "req_1", text: '{"x":1}', timeoutMs, answerBytesMax };
    return Buffer.from(await transport.ask(question)).toString();
  };

  it.each([200, 204, 299])("answers with status %i", async (status) => {
    hook.answer(json({ action: "allow" }, status));
    expect(await ask()).toBe(status === 204 ? "" : '{"action":"allow"}');
    expect(hook.requests.at(-1)).toMatchObject({ path: "/a?b=c", body: { x: 1 } });
  });

  it.each([300, 307, 400, 404, 503])("fails with status %i", async (status) => {
    hook.answer(json({ action: "allow" }, status, { location: "/elsewhere" }));
    const before = hook.requests.length;
    await expect(ask()).rejects.toThrow(`it answered with status ${status}`);
    expect(hook.requests).toHaveLength(before + 1);
  });

  it("is aborted at its timeout if it never answers, and the error says so and names no address", async () => {
    let closed = 0;
    hook.answer((_request, response) => {
      response.on("close", () => (closed += 1));
    });
    const failure = await ask(100).catch((error: Error) => error);
    expect(failure).toMatchObject({ name: "HookFailedError", message: "no answer within 100 ms" });
    expect((failure as Error).message).not.toMatch(/127\.0\.0\.1|b=c|whsec/);
    await vi.waitFor(() => expect(closed).toBe(1), { timeout: 10_000 });
  });

  it.each([
    ["before", ["1", "2"]],
    ["after", ["1"]],
  ] as const)(
    "%s a call: gets the attempts %j if its server closes the connection without an answer",
    async (at, attempts) => {
      const sent = () =>
        hook.requests.splice(0).map(({ headers }) => headers["gw-delivery-attempt"]);
      sent();
      hook.answer((_request, response) => {
        hook.answer(json({ action: "allow" }));
        response.destroy();
      });
      const said = await ask(2_000, 1_000, at).catch((error: Error) => error.name);
      expect(said).toBe(at === "before" ? '{"action":"allow"}' : "HookFailedError");
      expect(sent()).toEqual(attempts);
      hook.answer((_request, response) => void response.destroy());
      await expect(ask(2_000, 1_000, at)).rejects.toMatchObject({ name: "HookFailedError" });
      expect(sent()).toEqual(attempts);
    },
  );

  it("gets an id of its own for each event, which a repeat keeps: receivers drop an id that they know", async () => {
    hook.requests.length = 0;
    hook.answer((_request, response) => {
      hook.answer(json({ action: "allow" }));
      response.destroy();
    });
    await ask();
    await ask(2_000, 1_000, "after");
    expect(hook.requests.map(({ headers }) => headers["webhook-id"])).toEqual([
      "req_1_guard~before",
      "req_1_guard~before",
      "req_1_guard~after",
    ]);
  });

  it("fails with a reason if nothing listens at its address", async () => {
    const gone = await startRecorder(json({}));
    await gone.close();
    const transport = httpHook({
      url: gone.url,
      secret,
      name: "guard",
      at: "before",
      pools,
      clock: systemClock,
    });
    const asking = transport.ask({ id: "r", text: "{}", timeoutMs: 2_000, answerBytesMax: 10 });
    await expect(asking).rejects.toThrow(/connect|refused/i);
  });

  it("fails if its answer is too long", async () => {
    hook.answer(json({ action: "allow", more: "x".repeat(100) }));
    await expect(ask(2_000, 50)).rejects.toMatchObject({ name: "HookFailedError" });
  });
});

describe("the filters of hooks", () => {
  const asked: string[] = [];
  const observed: [string, number][] = [];
  let answer: () => Promise<Uint8Array> = () => Promise.resolve(Buffer.from('{"action":"allow"}'));
  const transport = (name: string): HookTransport => ({
    ask: () => {
      asked.push(name);
      return answer();
    },
    close: () => Promise.resolve(),
  });
  const hookOf = (settings: Partial<OpenHook["settings"]> & { name: string }): OpenHook => ({
    settings: {
      at: "before",
      target: { url: "http://127.0.0.1:1/", secret: "" },
      timeoutMs: 100,
      onFailure: "refuse",
      ...settings,
    },
    transport: transport(settings.name),
  });
  const only = {
    endpoint: { endpoints: ["messages"] },
    workspace: { workspaces: ["ws_2"] },
    key: { keys: ["key_2"] },
  } as const;
  const all = (at: "before" | "after") =>
    Object.entries(only).map(([name, settings]) =>
      hookOf({ name: `${at} ${name}`, at, ...settings }),
    );
  const observe = ({ name }: { name: string }, outcome: string, durationMs = 0): void =>
    void observed.push([`${name} ${outcome}`, durationMs]);
  const hooks = createHooks({
    hooks: [...all("before"), ...all("after")],
    log: silentLog,
    observe,
    note: () => undefined,
    room: new ByteBudget(1e9).part(1),
  });
  const call = (more: Partial<AskedCall> = {}): AskedCall => ({
    id: "req_1",
    endpoint: "chat_completions",
    model: "a",
    stream: false,
    caller: { workspaceId: "ws_1", keyId: "key_1", memberId: null },
    body: { model: "a" },
    modelInBody: true,
    lease: new ByteBudget(1_000_000).lease(),
    ...more,
  });
  const caller = (workspaceId: string, keyId: string) => ({ workspaceId, keyId, memberId: null });
  const cases: readonly (readonly [string, Partial<AskedCall>])[] = [
    ["endpoint", { endpoint: "messages" }],
    ["workspace", { caller: caller("ws_2", "key_1") }],
    ["key", { caller: caller("ws_1", "key_2") }],
  ];
  afterEach(() => {
    asked.length = 0;
    observed.length = 0;
    answer = () => Promise.resolve(Buffer.from('{"action":"allow"}'));
  });
  const ended = { status: "succeeded", httpStatus: 200, errorCode: null, provider: null } as const;
  const over = { ...ended, usage: undefined, costNano: 0n, durationMs: 1 };

  it("leave out a call that matches no hook: no hook is called, and the call does not wait", () => {
    expect(hooks.before(call())).toBeUndefined();
    expect([hooks.asks(call()), hooks.notifies(call())]).toEqual([false, false]);
    hooks.after({ ...call(), ...over });
    expect(asked).toEqual([]);
  });

  it.each(cases)("select calls by %s", async (name, more) => {
    expect([hooks.asks(call(more)), hooks.notifies(call(more))]).toEqual([true, true]);
    expect(await hooks.before(call(more))).toBeUndefined();
    hooks.after({ ...call(more), ...over });
    expect(asked).toEqual([`before ${name}`, `after ${name}`]);
    expect(observed[0]![0]).toBe(`before ${name} allowed`);
    expect(observed[0]![1]).toBeLessThan(5_000);
  });

  it("an overloaded gateway answers `overloaded`, which does not count as a failure of the hook", async () => {
    const lease = { turn: () => undefined, take: () => raise(overloaded("Too much.")) };
    answer = () => Promise.resolve(Buffer.from('{"action":"change","body":{"model":"b"}}'));
    const full = call({ endpoint: "messages", lease: lease as unknown as AskedCall["lease"] });
    await expect(hooks.before(full)).rejects.toMatchObject({ code: "overloaded" });
    expect(observed).toEqual([]);
    const odd = { ...lease, take: () => raise(new GatewayError("invalid_json", "Odd.")) };
    const other = call({ endpoint: "messages", lease: odd as unknown as AskedCall["lease"] });
    await expect(hooks.before(other)).rejects.toMatchObject({ code: "hook_failed" });
    observed.length = 0;
    answer = () => Promise.reject(new TypeError("odd"));
    await expect(hooks.before(call({ endpoint: "messages" }))).rejects.toMatchObject({
      code: "hook_failed",
      retryAfterSeconds: 1,
    });
    expect(observed.map(([what]) => what)).toEqual(["before endpoint failed"]);
  });

  it("a body that a hook returns counts against the memory budget like a caller's", async () => {
    const taken: number[] = [];
    const lease = { turn: () => undefined, take: (bytes: number) => taken.push(bytes) };
    answer = () => Promise.resolve(Buffer.from('{"action":"change","body":{"model":"b"}}'));
    await hooks.before(
      call({ endpoint: "messages", lease: lease as unknown as AskedCall["lease"] }),
    );
    expect(taken).toHaveLength(1);
    expect(taken[0]).toBeGreaterThan('{"model":"b"}'.length);
  });
});

function raise(error: Error): never {
  throw error;
}

it("each hook gets at most one log line a second, with the number of further failures", () => {
  let nowMs = 1_000;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => nowMs);
  const lines: object[] = [];
  const log = { warn: (line: object) => lines.push(line) } as unknown as Log;
  const noted: object[] = [];
  const failed = failureLog(log, (failure) => void noted.push(failure));
  const hook = (name: string, at: "before" | "after") =>
    ({ name, at, onFailure: "allow" }) as OpenHook["settings"];
  for (let at = 0; at < 5; at += 1) failed(hook("a", "before"), new Error("down"), `c${at}`);
  failed(hook("b", "after"), "no error", "c5");
  expect(lines).toEqual([
    { hook: "a", call: "c0", why: "down", more: 0, on_failure: "allow" },
    { hook: "b", call: "c5", why: "unknown", more: 0 },
  ]);
  nowMs += 1_000;
  failed(hook("a", "before"), new Error("x".repeat(1_000)), "c6");
  expect(lines[2]).toEqual({
    hook: "a",
    call: "c6",
    why: "x".repeat(300),
    more: 4,
    on_failure: "allow",
  });
  // Entries count the failures that have no line of their own.
  expect(noted).toMatchObject([
    { hook: "a", call: "c0", why: "down", failures: 1 },
    { hook: "b", failures: 1 },
    { hook: "a", call: "c6", failures: 5 },
  ]);
  nowMs += 1_000;
  failed(hook("a", "before"), new Error("down"), "c7");
  expect(lines[3]).toMatchObject({ more: 0 });
  clock.mockRestore();
});
