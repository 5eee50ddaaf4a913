// Tools with names that the target refuses, in every direction: renamed in requests, restored in answers.
import { describe, expect, it } from "vitest";
import { createSseParser, type SseEvent } from "../../src/base/sse.ts";
import { noUsage } from "../../src/base/usage.ts";
import {
  codecs,
  protocolNames,
  type JsonObject,
  type ProtocolName,
  type Route,
} from "../../src/protocols/index.ts";
import { routeOf as routeBetween } from "./route.ts";
import { answerCalling, requestWith, streamCalling } from "./tool-wire.ts";

const long = `mcp__a_server_of_many_words__${"look_at_the_shelf_".repeat(8)}`;
const dotted = "mcp.server/look at";

const routeOf = (caller: ProtocolName, upstream: ProtocolName, body: JsonObject): Route =>
  routeBetween(caller, upstream, body, { stream: true });

/** Every tool name in a body. */
function namesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(namesIn);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (key === "name") return [String(inner)];
    return key === "allowedFunctionNames" ? (inner as string[]) : namesIn(inner);
  });
}

const framesOf = (text: string): SseEvent[] => {
  const parser = createSseParser();
  return [...parser.push(Buffer.from(text)), ...parser.end()];
};
const calledIn = (frames: readonly SseEvent[]): string[] =>
  frames
    .flatMap(({ data }) => (data === "[DONE]" ? [] : namesIn(JSON.parse(data))))
    .filter(Boolean);

const directions = protocolNames.flatMap((caller) =>
  protocolNames
    .filter((upstream) => upstream !== caller)
    .map((upstream) => [caller, upstream] as const),
);

describe.each(directions)("tool names from %s to %s", (caller, upstream) => {
  const { toolName } = codecs[upstream].limits;

  it.each([long, dotted])(
    "are replaced if the upstream refuses them, and restored in answers: %s",
    (name) => {
      expect(name).not.toMatch(toolName);
      const route = routeOf(caller, upstream, requestWith[caller](name));
      const [sent, ...others] = [...new Set(namesIn(route.body))];
      expect(others).toEqual([]);
      expect(sent).toMatch(toolName);
      // Definition, choice and call; only generateContent names the tool in a result too.
      expect(namesIn(route.body).length).toBeGreaterThanOrEqual(3);
      expect(route.notes).toMatchObject([{ param: "tools", kind: "rewritten" }]);

      const whole = route.answer(answerCalling[upstream](sent!), ["tools"], noUsage);
      expect(namesIn(whole).filter(Boolean)).toContain(name);
      expect(JSON.stringify(whole)).not.toContain(sent);

      const stream = streamCalling[upstream](sent!);
      const tap = route.tap();
      const passed = framesOf(stream).flatMap((frame) => tap.push(frame));
      const frames = [...passed, ...(tap.end?.() ?? []), ...tap.release()];
      expect(tap.seen).toMatchObject({ ended: true, error: undefined });
      expect(new Set(calledIn(frames))).toEqual(new Set([name]));

      expect(new Set(calledIn(route.framesOf(answerCalling[upstream](sent!), noUsage)))).toEqual(
        new Set([name]),
      );
      const read = route.answer(route.answerFromFrames(framesOf(stream))!, [], noUsage);
      expect(new Set(namesIn(read))).toEqual(new Set([name]));
    },
  );

  it("T16: do not keep a stream with a stop reason from being complete when they are shortened", () => {
    const route = routeOf(caller, upstream, requestWith[caller](long));
    const frames = framesOf(streamCalling[upstream](namesIn(route.body)[0]!));
    const marksEnd = upstream === "chat" || upstream === "messages";
    const tap = route.tap();
    for (const frame of marksEnd ? frames.slice(0, -1) : frames) tap.push(frame);
    expect(tap.seen).toMatchObject({ ended: true, error: undefined });
  });

  it("are unchanged without a note if the upstream accepts them", () => {
    const route = routeOf(caller, upstream, requestWith[caller]("look_at-2"));
    expect(new Set(namesIn(route.body))).toEqual(new Set(["look_at-2"]));
    expect(route.notes).toEqual([]);
  });
});

describe("shortened tool names", () => {
  const chatTools = (...names: string[]) => {
    const route = routeOf("messages", "chat", {
      model: "acme/talk",
      max_tokens: 9,
      messages: [{ role: "user", content: "Hi" }],
      tools: names.map((name) => ({ name, input_schema: { type: "object" } })),
    });
    return { route, names: namesIn(route.body["tools"]) };
  };

  it("keep as much of the original name as the target allows", () => {
    expect(chatTools("server.look").names).toEqual(["server_look"]);
    const [name] = chatTools(long).names;
    expect(name).toHaveLength(64);
    expect(name!.slice(0, 50)).toBe(long.slice(0, 50));
  });

  it("differ from each other and from all other tools", () => {
    const wanted = ["a.b", "a:b", "a_b", `${long}1`, `${long}2`, "天気", "気天", ""];
    const { names, route } = chatTools(...wanted.slice(0, 7));
    expect(new Set(names).size).toBe(7);
    expect(names[2]).toBe("a_b");
    for (const [index, name] of names.entries()) {
      expect(name).toMatch(codecs.chat.limits.toolName);
      const answer = route.answer(answerCalling.chat(name), [], noUsage);
      expect(namesIn(answer)).toEqual([wanted[index]]);
    }
  });

  it("are the same in the next turn, so that a prompt cache still matches", () => {
    expect(chatTools(long, "x").names).toEqual(chatTools(long, "x").names);
  });

  it("do not affect a name that the model invented", () => {
    const { route } = chatTools(long);
    expect(namesIn(route.answer(answerCalling.chat("made_up"), [], noUsage))).toEqual(["made_up"]);
  });

  it("are used in a history without current tools too, and noted under messages", () => {
    const { tools: _tools, tool_choice: _choice, ...body } = requestWith.messages(long);
    const route = routeOf("messages", "chat", body);
    expect(namesIn(route.body)[0]).toMatch(codecs.chat.limits.toolName);
    expect(route.notes).toMatchObject([{ param: "messages", kind: "rewritten" }]);
  });

  it("are not needed for dots and colons in generateContent", () => {
    const route = routeOf("chat", "generate_content", requestWith.chat("mcp.server:look"));
    expect(new Set(namesIn(route.body))).toEqual(new Set(["mcp.server:look"]));
  });
});

describe("the name of a called tool", () => {
  const called = (name: string, ...offered: string[]) => {
    const route = routeOf("messages", "chat", {
      model: "acme/talk",
      max_tokens: 9,
      messages: [{ role: "user", content: "Hi" }],
      tools: offered.map((one) => ({ name: one, input_schema: { type: "object" } })),
    });
    const tap = route.tap();
    const frames = framesOf(streamCalling.chat(name)).flatMap((frame) => tap.push(frame));
    const whole = namesIn(route.answer(answerCalling.chat(name), [], noUsage));
    expect(calledIn([...frames, ...tap.release()])).toEqual(whole);
    return whole;
  };

  it.each([
    "functions.look",
    "functions.look:0",
    "look:12",
    "functions__look:0",
    "default_api.look",
    "default_api:look",
    "their.product.look",
  ])("is that of the offered tool without what the model made up: %s", (name) => {
    expect(called(name, "look", "look.at")).toEqual(["look"]);
  });

  it.each([
    ["server.look", ["server.look", "look"]],
    ["functions.look", ["server.look"]],
    ["mcp__server__look", ["look"]],
    ["look.", ["look"]],
  ])("stays if it is offered, or means none of the offered: %s", (name, offered) => {
    expect(called(name, ...offered)).toEqual([name]);
  });

  it("is the caller's, also of a shortened tool", () => {
    expect(called("functions.server_look", "server.look")).toEqual(["server.look"]);
  });
});
