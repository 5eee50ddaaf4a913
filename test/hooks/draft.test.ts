// The changes of several hooks to one request, and their report: only the difference from the caller's request.
import { describe, expect, it } from "vitest";
import { ByteBudget } from "../../src/base/byte-budget.ts";
import { readJson } from "../../src/base/json.ts";
import { JsonSource } from "../../src/base/json-source.ts";
import { readAnswer } from "../../src/hooks/answer.ts";
import { Draft } from "../../src/hooks/draft.ts";

/** A draft of a chat call with this body. */
function draftOf(text: string, more: Partial<ConstructorParameters<typeof Draft>[0]> = {}): Draft {
  const source = new JsonSource(readJson(Buffer.from(text)));
  return new Draft({
    id: "req_1",
    endpoint: "chat_completions",
    model: source.value["model"] as string | undefined,
    stream: false,
    caller: { workspaceId: "ws_1", keyId: "key_1", memberId: null },
    body: source.value,
    source,
    modelInBody: true,
    fallbacksField: "models",
    lease: new ByteBudget(1_000_000).lease(),
    ...more,
  });
}

type Body = Record<string, unknown>;
/** Applies a hook that gets the body as JSON and returns another one. */
function applyHook(draft: Draft, hook: string, make: (body: Body) => Body): void {
  const body = make(JSON.parse(draft.text()) as Body);
  draft.change(hook, { action: "change", body, model: undefined });
}
const model = (draft: Draft, hook: string, name: string): void =>
  draft.change(hook, { action: "change", body: undefined, model: name });

const notesOf = (draft: Draft): string[] =>
  draft.changed()!.notes.map(({ param, kind, detail }) => `${kind} ${param}: ${detail}`);
const sent = (draft: Draft): string => Buffer.from(draft.changed()!.source.bytes).toString();

const without =
  (name: string) =>
  ({ [name]: _gone, ...rest }: Body): Body =>
    rest;

describe("the notes of a draft", () => {
  it("do not name a field that one hook adds and another removes", () => {
    const draft = draftOf('{"model":"a","messages":[]}');
    applyHook(draft, "one", (body) => ({ ...body, user: "x" }));
    applyHook(draft, "two", without("user"));
    expect(notesOf(draft)).toEqual([]);
  });

  it("do not name a field that one hook removes and another restores", () => {
    const draft = draftOf('{"model":"a","seed":12345678901234567890}');
    applyHook(draft, "one", without("seed"));
    applyHook(draft, "two", (body) => ({ ...body, seed: Number("12345678901234567890") }));
    expect(notesOf(draft)).toEqual([]);
    expect(sent(draft)).toContain("12345678901234567890");
  });

  it("name only the last hook that changed a field", () => {
    const draft = draftOf('{"model":"a","user":"x","n":1}');
    applyHook(draft, "one", (body) => ({ ...body, user: "y", n: 2 }));
    applyHook(draft, "two", (body) => ({ ...body, user: "z" }));
    expect(notesOf(draft)).toEqual([
      'rewritten user: changed by the hook "two"',
      'rewritten n: changed by the hook "one"',
    ]);
  });

  it("report a field that one hook changed and a later one removed as dropped", () => {
    const draft = draftOf('{"model":"a","user":"x"}');
    applyHook(draft, "one", (body) => ({ ...body, user: "y", more: 1 }));
    applyHook(draft, "two", without("user"));
    expect(notesOf(draft)).toEqual([
      'dropped user: removed by the hook "two"',
      'rewritten more: added by the hook "one"',
    ]);
  });
});

describe("a field that no hook changed keeps the caller's digits", () => {
  const digits = '"seed":12345678901234567890,"temperature":0.70000000000000000001';

  it("in a body that a hook read and wrote", () => {
    const draft = draftOf(`{"model":"a","messages":[],${digits}}`);
    applyHook(draft, "one", (body) => ({ ...body, messages: [{ role: "user", content: "x" }] }));
    expect(sent(draft)).toContain(digits);
    expect(notesOf(draft)).toEqual(['rewritten messages: changed by the hook "one"']);
  });

  it("inside a nested value, even if the hook returns its members in another order", () => {
    const nested = '"metadata":{"b":12345678901234567890,"a":[0.10000000000000000001]}';
    const draft = draftOf(`{"model":"a","user":"x",${nested}}`);
    applyHook(draft, "one", () => ({
      metadata: { a: [0.1], b: Number("12345678901234567890") },
      user: "y",
      model: "a",
    }));
    expect(sent(draft)).toContain(nested);
    expect(notesOf(draft)).toEqual(['rewritten user: changed by the hook "one"']);
  });

  it("if a hook changed only the model", () => {
    const draft = draftOf(`{"model":"a","messages":[],${digits}}`);
    model(draft, "one", "b");
    expect(sent(draft)).toBe(`{"model":"b","messages":[],${digits}}`);
  });

  const conversation = (first: string, id: string) =>
    `[${first}{"role":"assistant","content":[{"type":"tool_use","input":{"order":${id},"n":1}}]}]`;
  const id = "9223372036854775807";

  it.each([
    ["redacted a text next to it", '{"content":"card 1"},', '{"content":"[gone]"},'],
    ["put a message before it", "", '{"content":"Be kind."},'],
    ["removed a message", '{"content":"a"},{"content":"b"},', '{"content":"b"},'],
  ])("if a hook %s", (_what, before, after) => {
    const draft = draftOf(`{"model":"a","messages":${conversation(before, id)}}`);
    applyHook(draft, "one", (body) => ({
      ...body,
      messages: JSON.parse(conversation(after, id)) as unknown,
    }));
    expect(sent(draft)).toBe(`{"model":"a","messages":${conversation(after, id)}}`);
    applyHook(draft, "two", (body) => ({ ...body, user: "x" }));
    expect(sent(draft)).toBe(`{"model":"a","messages":${conversation(after, id)},"user":"x"}`);
  });

  it("a hook that returns its own exact digits gets those sent", () => {
    const draft = draftOf(`{"model":"a","messages":${conversation("", id)},"seed":${id}}`);
    const own = "9223372036854775806";
    const answer = `{"action":"change","body":{"model":"a","messages":${conversation("", own)},"seed":${own}}}`;
    const given = readAnswer(Buffer.from(answer));
    if (given.action === "change") draft.change("one", given);
    expect(sent(draft)).toBe(`{"model":"a","messages":${conversation("", own)},"seed":${own}}`);
    expect(notesOf(draft)).toHaveLength(2);
  });

  it("a member named `__proto__` is a field like others", () => {
    const draft = draftOf('{"model":"a","__proto__":{"n":1}}');
    applyHook(draft, "one", (body) => ({ ...body, user: "x" }));
    expect(JSON.parse(sent(draft))).toEqual(
      JSON.parse('{"model":"a","__proto__":{"n":1},"user":"x"}'),
    );
    expect(({} as { n?: number }).n).toBeUndefined();
  });
});

describe("a hook that names another model", () => {
  it("removes the fallback models of the header, and the next hook sees none", () => {
    const draft = draftOf('{"model":"a"}', { fallbackModels: "forbidden" });
    model(draft, "one", "house");
    expect(draft.fallbackModels).toBeUndefined();
    expect(draft.changed()).toMatchObject({ model: "house", fallbackModels: undefined });
    expect(notesOf(draft)).toEqual([
      'rewritten model: changed by the hook "one"',
      'dropped x-gw-fallback-models: removed by the hook "one"',
    ]);
  });

  it("removes the fallback models of the body unless it returns its own", () => {
    const draft = draftOf('{"model":"a","models":["forbidden"]}');
    model(draft, "one", "house");
    expect(sent(draft)).toBe('{"model":"house"}');
    expect(notesOf(draft)).toContain('dropped models: removed by the hook "one"');
    const own = draftOf('{"model":"a","models":["forbidden"]}');
    applyHook(own, "one", (body) => ({ ...body, model: "house", models: ["other"] }));
    expect(own.changed()!.source.value["models"]).toEqual(["other"]);
    const both = draftOf('{"model":"a","models":["forbidden"]}');
    const body = { model: "a", models: ["other"] };
    both.change("one", { action: "change", model: "house", body });
    expect(both.changed()!.source.value).toEqual({ model: "house", models: ["other"] });
  });

  it("overrides a model in the path; a body field named `model` is then a plain field", () => {
    const more = { modelInBody: false, model: "a", fallbackModels: "forbidden" };
    const draft = draftOf('{"contents":[]}', more);
    model(draft, "one", "house");
    expect(notesOf(draft)).toEqual([
      'rewritten model: changed by the hook "one"',
      'dropped x-gw-fallback-models: removed by the hook "one"',
    ]);
    const same = draftOf('{"contents":[],"model":"x"}', more);
    applyHook(same, "one", (body) => ({ ...body, model: "y" }));
    expect(same.changed()).toMatchObject({ model: "a", fallbackModels: "forbidden" });
    expect(notesOf(same)).toEqual(['rewritten model: changed by the hook "one"']);
  });

  it("changes nothing if it names the same model", () => {
    const draft = draftOf('{"model":"a","models":["b"]}', { fallbackModels: "c" });
    model(draft, "one", "a");
    expect(draft.changed()).toMatchObject({ fallbackModels: "c", notes: [] });
    expect(sent(draft)).toBe('{"model":"a","models":["b"]}');
  });
});
