/** `prompt_caching: auto`: which calls are marked for Claude's prompt cache, and where a conversation stays. docs/decisions.md "Prompt caches". */
import { describe, expect, it } from "vitest";
import { readJson } from "../../src/base/json.ts";
import { JsonSource } from "../../src/base/json-source.ts";
import { CallBody } from "../../src/calls/call-body.ts";
import type { TextCall, TextServices } from "../../src/calls/context.ts";
import { conversationOf } from "../../src/calls/conversation.ts";
import { prepare } from "../../src/calls/prepare.ts";
import type { Catalog } from "../../src/catalog/index.ts";
import { catalogIn } from "../support/config-text.ts";
import { leastCostMs } from "../support/cost.ts";
import { anyCaller, newHealth, providerRow, recordAt, textRow } from "./support.ts";

const rates = 'cache_read: "0.1", cache_write: "1.25", ';
const offer = (provider: string, protocol = "messages", cached = rates) =>
  `provider: ${provider}, protocol: ${protocol}, upstream_model: claude-sonnet-5, price: { input: "1", ${cached}output: "1" }`;
const row = (id: string, offers: readonly string[], more = "") =>
  textRow(`acme/${id}`, offers, more).replaceAll("upstream_model: up, ", "");
const providers = ["a", "b", "c", "d"];

const catalogOf = (setting: string): Catalog =>
  catalogIn(
    [
      setting,
      "providers:",
      ...providers.map((id) => providerRow(id)),
      "models:",
      row("claude", [offer("a")]),
      row(
        "spread",
        providers.map((id) => offer(id)),
      ),
      row("off-by-record", [offer("a")], "parameters: { prompt_cache_key: false }"),
      row("off-at-offer", [`${offer("a")}, record: { parameters: { prompt_cache_key: false } }`]),
      row("no-rates", [offer("a", "messages", "")]),
      row("in-chat", [offer("a", "chat")]),
      row("other", [offer("a", "chat", "")], "fallbacks: [acme/spread]"),
    ].join("\n"),
  );
const catalogs = {
  auto: catalogOf("prompt_caching: auto"),
  asked: catalogOf("prompt_caching: asked"),
  absent: catalogOf(""),
};

interface Asked {
  readonly model?: string;
  readonly protocol?: string;
  readonly setting?: keyof typeof catalogs;
  readonly keyId?: string;
  readonly session?: string;
}

function prepared(more: object, asked: Asked = {}) {
  const { model = "acme/claude", protocol = "chat", setting = "auto", session } = asked;
  const services = {
    catalog: () => catalogs[setting],
    health: newHealth(),
    allowPrivateAddresses: false,
    forceConversion: false,
  } as unknown as TextServices;
  const source = new JsonSource(readJson(Buffer.from(JSON.stringify({ model, ...more }))));
  const caller = { ...anyCaller, keyId: asked.keyId ?? "key_1" };
  const body = new CallBody(source);
  const call = { id: "req_1", protocol, model, stream: false, body, caller, session };
  const record = recordAt(1_700_000_000_000);
  return { ...prepare(services, call as unknown as TextCall, record), record };
}

const isMarked = (more: object, asked: Asked = {}): boolean =>
  JSON.stringify(prepared(more, asked).candidates[0]!.route().body).includes("cache_control");

/** A conversation after this many answers, in each protocol. */
const talk = (answers: number, question = "Where?") => {
  const turns = Array.from({ length: answers }, (_, at) => at);
  return {
    chat: {
      messages: [
        { role: "user", content: question },
        ...turns.flatMap((at) => [
          { role: "assistant", content: `Here ${at}.` },
          { role: "user", content: `And ${at}?` },
        ]),
      ],
    },
    responses: {
      input: [
        { role: "user", content: question },
        ...turns.flatMap((at) => [
          { type: "function_call", call_id: `c${at}`, name: "look", arguments: "{}" },
          { type: "function_call_output", call_id: `c${at}`, output: "There." },
        ]),
      ],
    },
    generate_content: {
      contents: [
        { parts: [{ text: question }] },
        ...turns.flatMap((at) => [
          { role: "model", parts: [{ text: `Here ${at}.` }] },
          { role: "user", parts: [{ text: `And ${at}?` }] },
        ]),
      ],
    },
  } as const;
};
const protocols = ["chat", "responses", "generate_content"] as const;

/** The beginning that an application gives each conversation. */
const greeted = [
  { role: "system", content: "Be brief." },
  { role: "assistant", content: "Hello! How can I help?" },
] as const;

describe("a conversation without a session", () => {
  it.each(protocols)(
    "CONV-418: over %s is marked where the operator says so, and only there",
    (protocol) => {
      const later = talk(1)[protocol];
      expect(isMarked(later, { protocol })).toBe(true);
      expect(isMarked(talk(0)[protocol], { protocol })).toBe(false);
      for (const setting of ["asked", "absent"] as const)
        expect(isMarked(later, { protocol, setting })).toBe(false);
    },
  );

  it.each(["off-by-record", "off-at-offer", "no-rates", "in-chat"])(
    "CONV-418: is not marked at the model %s",
    (name) => {
      const { candidates } = prepared(talk(1).chat, { model: `acme/${name}` });
      expect(JSON.stringify(candidates[0]!.route().body)).not.toContain("cache_control");
      expect(candidates[0]!.notes()).toEqual([]);
      expect(candidates[0]!.session).toBeUndefined();
    },
  );

  it("CONV-418: is not marked in its first call, if it begins with a greeting", () => {
    const [system, greeting] = greeted;
    for (const begun of [[greeting], greeted]) {
      const first = { messages: [...begun, ...talk(0).chat.messages] };
      expect(isMarked(first)).toBe(false);
      expect(prepared(first).candidates[0]!.session).toBeUndefined();
      expect(isMarked({ messages: [...begun, ...talk(1).chat.messages] })).toBe(true);
    }
    expect(isMarked({ messages: [system, ...talk(1).chat.messages] })).toBe(true);
  });

  it("TXT-07: reaches Claude as it is, if it is of Claude's own protocol", () => {
    const own = { max_tokens: 9, ...talk(1).chat };
    const { candidates } = prepared(own, { protocol: "messages", model: "acme/spread" });
    expect(candidates[0]!.route().body).toEqual({ model: "claude-sonnet-5", ...own });
    expect(candidates[0]!.notes()).toEqual([]);
    expect(candidates[0]!.session).toBeUndefined();
  });
});

describe("the provider of a conversation without a session", () => {
  const spread = { model: "acme/spread" };
  const firstOf = (body: object, asked: Asked = {}): string =>
    prepared(body, { ...spread, ...asked }).candidates[0]!.provider.id;

  it.each(protocols)("T43: is the same in all its calls over %s", (protocol) => {
    const later = [1, 2, 3, 4, 5, 6, 7, 8].map((answers) => talk(answers)[protocol]);
    const found = later.map((body) => prepared(body, { ...spread, protocol }));
    expect(new Set(found.map(({ candidates }) => candidates[0]!.provider.id)).size).toBe(1);
    expect(new Set(found.map(({ candidates }) => candidates[0]!.session)).size).toBe(1);
    const { provider } = found[0]!.candidates[0]!;
    expect(found[0]!.record.plan).toMatchObject({ affinity_provider: provider.id });
  });

  it("differs between conversations, and between keys that begin alike", () => {
    const talks = Array.from({ length: 40 }, (_, at) => talk(1, `Question ${at}`).chat);
    expect(new Set(talks.map((body) => firstOf(body))).size).toBe(4);
    const keys = talks.map((_, at) => firstOf(talk(1).chat, { keyId: `key_${at}` }));
    expect(new Set(keys).size).toBe(4);
  });

  it("differs between conversations that begin with a greeting", () => {
    const sessionOf = (answers: number, question: string) => {
      const messages = [...greeted, ...talk(answers, question).chat.messages];
      return prepared({ messages }, spread).candidates[0]!.session;
    };
    expect(sessionOf(1, "Where?")).toBeDefined();
    expect(sessionOf(2, "Where?")).toBe(sessionOf(1, "Where?"));
    expect(sessionOf(1, "When?")).not.toBe(sessionOf(1, "Where?"));
  });

  it("T43: is the same in all its calls where Claude is the fallback of another model", () => {
    const orders = [1, 2, 3, 4, 5, 6, 7, 8].map((answers) => {
      const [own, ...others] = prepared(talk(answers).chat, { model: "acme/other" }).candidates;
      expect(own!.session).toBeUndefined();
      expect(others[0]!.session).toBeDefined();
      return others.map(({ provider }) => provider.id).join();
    });
    expect(new Set(orders).size).toBe(1);
  });

  it("costs little to name, however long a conversation begins", async () => {
    const { messages } = talk(1, 'a"\n'.repeat(7_000_000)).chat;
    const call = { protocol: "chat", caller: anyCaller } as const;
    const name = () => conversationOf(call, { messages: [...messages] }, catalogs.auto);
    expect(await leastCostMs(() => name()("acme/claude"), 60)).toBeLessThan(60);
  });

  it.each([
    ["by its key in the body", { prompt_cache_key: "s1" }, {}],
    ["by its end user", { user: "s1" }, {}],
    ["by a header", {}, { session: "s1" }],
  ])("RESP-37: a session that the caller names %s comes first", (_how, more, asked) => {
    for (const answers of [0, 1, 2])
      expect(
        prepared({ ...talk(answers).chat, ...more }, { ...spread, ...asked }).candidates[0]!
          .session,
      ).toBe("s1");
  });

  it("is open for a first call, and where the operator does not say so", () => {
    expect(prepared(talk(0).chat, spread).candidates[0]!.session).toBeUndefined();
    const { candidates } = prepared(talk(1).chat, { ...spread, setting: "asked" });
    expect(candidates[0]!.session).toBeUndefined();
    expect(
      prepared({ input: "Where?" }, { ...spread, protocol: "responses" }).candidates[0]!.session,
    ).toBeUndefined();
  });
});
