/** Ids that are longer than an upstream accepts, for example Claude Code's end-user id. Requirements: CONV. */
import { describe, expect, it } from "vitest";
import { conversions, type Body } from "./world.ts";

const world = conversions();

/** Claude Code's id: an object as JSON text of 150 characters. */
const agentId = JSON.stringify({
  device_id: "0".repeat(64),
  account_uuid: "",
  session_id: "00000000-0000-0000-0000-000000000000",
});
const short = /^[0-9a-f]{32}$/;

describe("an end-user id", () => {
  it.each(["chat", "responses"] as const)(
    "becomes the same hash each time towards %s if it has 150 characters, which is reported",
    async (to) => {
      const sent = { metadata: { user_id: agentId } };
      const first = await world.send("messages", to, sent);
      const second = await world.send("messages", to, sent);
      expect(first.up!["user"]).toMatch(short);
      expect(second.up!["user"]).toBe(first.up!["user"]);
      expect(first.reported).toEqual(["metadata.user_id"]);
    },
  );

  it.each(["chat", "responses"] as const)("is unchanged at 64 characters to %s", async (to) => {
    const id = "u".repeat(64);
    const { up, reported } = await world.send("messages", to, { metadata: { user_id: id } });
    expect(up!["user"]).toBe(id);
    expect(reported).toEqual([]);
  });

  it.each([
    ["chat", { user: "ada@example.com" }, "user"],
    ["responses", { user: '{"mail":"ada@example.com"}' }, "user"],
  ] as const)(
    "becomes a hash towards messages if it has an e-mail address, which Claude refuses (%s)",
    async (from, sent, param) => {
      const { up, reported } = await world.send(from, "messages", sent);
      expect(up!["metadata"]).toEqual({ user_id: expect.stringMatching(short) as string });
      expect(reported).toEqual([param]);
    },
  );

  it.each(["ada", "@ada", "ada@home", "a@b."])(
    "is unchanged towards messages if it only looks like an address: %s",
    async (user) => {
      const { up, reported } = await world.send("chat", "messages", { user });
      expect(up!["metadata"]).toEqual({ user_id: user });
      expect(reported).toEqual([]);
    },
  );

  it("is unchanged towards responses if it has an e-mail address", async () => {
    const { up } = await world.send("chat", "responses", { user: "ada@example.com" });
    expect(up!["user"]).toBe("ada@example.com");
  });

  it("is unchanged at 150 characters on a direct route", async () => {
    const sent = { metadata: { user_id: agentId } };
    const { up } = await world.send("messages", "messages", sent);
    expect(up!["metadata"]).toEqual(sent.metadata);
  });
});

describe("the ids of calls", () => {
  it("are shortened above 40 characters, differ, and match their results", async () => {
    const ids = ["first", "second"].map((name) => `${name}_${"x".repeat(35)}`);
    const { up, reported } = await world.send("messages", "chat", {
      messages: [
        { role: "user", content: "Go" },
        {
          role: "assistant",
          content: ids.map((id) => ({ type: "tool_use", id, name: "go", input: {} })),
        },
        {
          role: "user",
          content: ids.map((id) => ({ type: "tool_result", tool_use_id: id, content: id })),
        },
      ],
    });
    const [, turn, ...results] = up!["messages"] as Body[];
    const called = (turn!["tool_calls"] as Body[]).map(({ id }) => id as string);
    expect(results.map((result) => result["tool_call_id"])).toEqual(called);
    expect(results.map((result) => result["content"])).toEqual(ids);
    expect(new Set(called).size).toBe(2);
    for (const id of called) expect(id.length).toBeLessThanOrEqual(40);
    expect(reported).toEqual([]);
  });

  /** A conversation with a call and its result per id, in separate turns. */
  const turnsOf = (ids: readonly string[]): Body => ({
    messages: ids.flatMap((id, index) => [
      { role: "user", content: `Go ${index}` },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id, type: "function", function: { name: "go", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: id, content: `went ${index}` },
    ]),
  });
  const cases: [what: string, ids: string[]][] = [
    ["differ only in characters that the vendor refuses", ["a.1", "a_1", "a:1", "a/1"]],
    ["repeat next to an id that equals a replacement", ["a", "a", "a_2", "a"]],
    ["are empty", ["", "", "call"]],
  ];
  it.each(cases)("T21: differ and match their results if they %s", async (_what, ids) => {
    const { up, reported } = await world.send("chat", "messages", turnsOf(ids));
    const blocks = (up!["messages"] as Body[]).flatMap(({ content }) =>
      Array.isArray(content) ? (content as Body[]) : [],
    );
    const called = blocks.filter(({ type }) => type === "tool_use").map(({ id }) => id as string);
    const results = blocks.filter(({ type }) => type === "tool_result");
    expect(new Set(called).size).toBe(ids.length);
    for (const id of called) expect(id).toMatch(/^[a-zA-Z0-9_-]+$/);
    expect(results.map((result) => result["tool_use_id"])).toEqual(called);
    expect(results.map((result) => JSON.stringify(result["content"]))).toEqual(
      ids.map((_, index) => JSON.stringify([{ type: "text", text: `went ${index}` }])),
    );
    expect(reported).toEqual([]);
  });

  it("T21: stay within 40 characters if ids of that length repeat", async () => {
    const id = "x".repeat(40);
    const { up } = await world.send("messages", "chat", {
      messages: [1, 2, 3].flatMap(() => [
        { role: "user", content: "Go" },
        { role: "assistant", content: [{ type: "tool_use", id, name: "go", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "went" }] },
      ]),
    });
    const called = (up!["messages"] as Body[]).flatMap(({ tool_calls: calls = [] }) =>
      (calls as Body[]).map((call) => call["id"] as string),
    );
    expect(new Set(called).size).toBe(3);
    for (const one of called) expect(one.length).toBeLessThanOrEqual(40);
  });
});
