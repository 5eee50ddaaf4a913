/** Conversations that a conversion must repair. CONV-601 to CONV-604, CONV-606; traps T20 to T22, T25, T27. */
import { describe, it } from "vitest";
import {
  conversions,
  pictureData,
  pictureDataUrl,
  showCase,
  titled,
  type Body,
  type Case,
  type Name,
} from "./world.ts";

const world = conversions();

const call = (id: string, name = "look"): Body => ({
  id,
  type: "function",
  function: { name, arguments: '{"where":"here"}' },
});
const calls = (...tool_calls: Body[]): Body => ({ role: "assistant", content: null, tool_calls });
const result = (id: string, content: unknown): Body => ({
  role: "tool",
  tool_call_id: id,
  content,
});
const said = (content: unknown): Body => ({ role: "user", content });
const chat = (...messages: Body[]): Body => ({ messages });
const text = (value: string): Body => ({ type: "text", text: value });
const use = (id: string): Body => ({ type: "tool_use", id });
const used = (id: string, value: string): Body => ({
  type: "tool_result",
  tool_use_id: id,
  content: [text(value)],
});

const place = '{"place":{"x":1}}';
/** A call and its result; only the call has the tool's name. */
const conversations: Readonly<Record<Exclude<Name, "generate_content">, Body>> = {
  chat: chat(said("Where?"), calls(call("c1")), result("c1", place)),
  responses: {
    input: [
      { role: "user", content: "Where?" },
      { type: "function_call", call_id: "c1", name: "look", arguments: '{"where":"here"}' },
      { type: "function_call_output", call_id: "c1", output: place },
    ],
  },
  messages: toolTurns({ content: place }),
};

/** A case from chat to messages: `messages` must arrive as `wanted`. */
const turns = (title: string, messages: Body[], wanted: Body[], reported: string[] = []): Case => ({
  title,
  from: "chat",
  to: "messages",
  body: chat(...messages),
  up: { messages: wanted },
  absent: [`messages.${wanted.length}`],
  reported,
});

const user = (...content: Body[]): Body => ({ role: "user", content });
const assistant = (...content: Body[]): Body => ({ role: "assistant", content });

describe("adjacent messages of one role", () => {
  it.each(
    titled([
      turns(
        "CONV-601: two user messages become one, in order",
        [said("One."), said("Two."), said("Three.")],
        [user(text("One."), text("Two."), text("Three."))],
      ),
      turns(
        "CONV-401 CONV-601: user messages around a system message become one; it moves, which is reported",
        [said("One."), { role: "system", content: "Be brief." }, said("Two.")],
        [user(text("One."), text("Two."))],
        ["messages"],
      ),
      turns(
        "CONV-401: a system message before the conversation does not move",
        [{ role: "developer", content: "Be kind." }, said("One.")],
        [user(text("One."))],
      ),
      {
        title: "CONV-601: adjacent messages of the model become one",
        from: "messages",
        to: "chat",
        body: {
          messages: [
            { role: "user", content: "Hi" },
            { role: "assistant", content: "One." },
            { role: "assistant", content: "Two." },
            { role: "user", content: "Go on" },
          ],
        },
        up: chat(said("Hi"), { role: "assistant", content: "One.\n\nTwo." }, said("Go on")),
        absent: ["messages.3"],
      },
      {
        title: "CONV-601: system messages become one",
        from: "responses",
        to: "chat",
        body: {
          instructions: "One.",
          input: [
            { role: "developer", content: "Two." },
            { role: "user", content: "Hi" },
          ],
        },
        up: chat({ role: "system", content: "One.\n\nTwo." }, said("Hi")),
      },
      turns(
        "CONV-601: a conversation that begins with the model gets a user turn in front",
        [{ role: "assistant", content: "Welcome." }, said("Hi")],
        [user(text("(no content)")), assistant(text("Welcome.")), user(text("Hi"))],
      ),
    ]),
  )("%s", (_title, one) => showCase(world, one));
});

describe("calls and their results", () => {
  it.each(
    titled([
      turns(
        "CONV-602 T20: a result without its call is removed and reported",
        [said("Hi"), result("call_unknown", "lost"), said("Go on")],
        [user(text("Hi"), text("Go on"))],
        ["messages.tool_call_id"],
      ),
      turns(
        "CONV-603 T20: a call without its result is removed and reported",
        [said("Hi"), calls(call("c1")), said("Go on")],
        [user(text("Hi"), text("Go on"))],
        ["messages.tool_calls"],
      ),
      turns(
        "CONV-603 T20: only the one of two calls that has no result is removed",
        [said("Hi"), calls(call("c1"), call("c2")), result("c2", "two")],
        [user(text("Hi")), assistant(use("c2")), user(used("c2", "two"))],
        ["messages.tool_calls"],
      ),
      turns(
        "T20: late results move right after their calls, in the calls' order",
        [
          said("Hi"),
          calls(call("c1"), call("c2")),
          said("Wait."),
          result("c2", "two"),
          result("c1", "one"),
        ],
        [
          user(text("Hi")),
          assistant(use("c1"), use("c2")),
          user(used("c1", "one"), used("c2", "two"), text("Wait.")),
        ],
      ),
      turns(
        "T21: a repeated id belongs to the latest call, and is replaced",
        [
          said("Hi"),
          calls(call("call_0")),
          result("call_0", "one"),
          calls(call("call_0")),
          result("call_0", "two"),
          said("Go on"),
        ],
        [
          user(text("Hi")),
          assistant(use("call_0")),
          user(used("call_0", "one")),
          assistant(use("call_0_2")),
          user(used("call_0_2", "two"), text("Go on")),
        ],
      ),
      turns(
        "T21: a call without a result does not take the result of a later call",
        [
          said("Hi"),
          calls(call("call_0")),
          said("Again"),
          calls(call("call_0", "leap")),
          result("call_0", "two"),
        ],
        [
          user(text("Hi"), text("Again")),
          assistant({ ...use("call_0"), name: "leap" }),
          user(used("call_0", "two")),
        ],
        ["messages.tool_calls"],
      ),
      {
        title: "RESP-08: messages, calls and results of one input are converted",
        from: "responses",
        to: "chat",
        body: {
          input: [
            { role: "user", content: "Where?" },
            { type: "function_call", call_id: "c1", name: "look", arguments: '{"a":1}' },
            { type: "function_call_output", call_id: "c1", output: "Here." },
          ],
        },
        up: chat(
          said("Where?"),
          {
            role: "assistant",
            tool_calls: [{ ...call("c1"), function: { name: "look", arguments: '{"a":1}' } }],
          },
          result("c1", "Here."),
        ),
      },
      ...(["chat", "responses", "messages"] as const).map((from): Case => ({
        title: "T22: a result towards generateContent has the name of its call",
        from,
        to: "generate_content",
        body: conversations[from],
        up: {
          contents: [
            { role: "user" },
            { role: "model", parts: [{ functionCall: { name: "look", args: { where: "here" } } }] },
            {
              role: "user",
              parts: [{ functionResponse: { name: "look", response: { place: { x: 1 } } } }],
            },
          ],
        },
      })),
    ]),
  )("%s", (_title, one) => showCase(world, one));
});

describe("empty content", () => {
  it.each(
    titled([
      ...(["", "  \n"] as const).map((empty) =>
        turns(
          "CONV-604 T25: empty content gets a placeholder",
          [said(empty)],
          [user(text("(no content)"))],
        ),
      ),
      turns(
        "CONV-604 T25: an empty text next to another is removed",
        [said([text(""), text("Hi")])],
        [user(text("Hi"))],
      ),
      turns(
        "CONV-604 T25: a tool that printed nothing but a line break has an empty result",
        [
          said("Where?"),
          calls(call("c1"), call("c2")),
          result("c1", "\n"),
          result("c2", [text(" "), text("there")]),
        ],
        [
          user(text("Where?")),
          { role: "assistant", content: [use("c1"), use("c2")] },
          user({ type: "tool_result", tool_use_id: "c1", content: [] }, used("c2", "there")),
        ],
      ),
      {
        title: "CONV-604: empty parts get a placeholder",
        from: "generate_content",
        to: "chat",
        body: { contents: [{ role: "user", parts: [] }] },
        up: chat(said("(no content)")),
      },
      {
        title: "CONV-604: an empty system prompt is omitted",
        from: "messages",
        to: "chat",
        body: { system: "" },
        up: chat(said("How big?")),
        nowhere: ["no content"],
      },
      turns(
        "CONV-604: a request with only a system prompt gets a user turn",
        [{ role: "system", content: "Be brief." }],
        [user(text("(no content)"))],
      ),
    ]),
  )("%s", (_title, one) => showCase(world, one));
});

describe("special content of messages", () => {
  it.each(
    titled([
      {
        title: "T27: a tool's pictures reach a chat upstream in the next user turn",
        from: "messages",
        to: "chat",
        body: pictureResult(),
        up: chat(
          said("Where?"),
          { role: "assistant" },
          result("c1", "A map:"),
          said([
            text("Returned by tool call c1:"),
            { type: "image_url", image_url: { url: pictureDataUrl } },
          ]),
        ),
      },
      {
        title: "T27: a tool's pictures reach a responses upstream within the result",
        from: "messages",
        to: "responses",
        body: pictureResult(),
        up: {
          input: [
            {},
            { type: "function_call" },
            {
              type: "function_call_output",
              call_id: "c1",
              output: [
                { type: "input_text", text: "A map:" },
                { type: "input_image", image_url: pictureDataUrl },
              ],
            },
          ],
        },
      },
      {
        title: "T27: a tool's pictures reach a generateContent upstream within the result",
        from: "messages",
        to: "generate_content",
        body: pictureResult(),
        up: {
          contents: [
            {},
            {},
            {
              parts: [
                {
                  functionResponse: {
                    response: { output: "A map:" },
                    parts: [{ inlineData: { mimeType: "image/png", data: pictureData } }],
                  },
                },
              ],
            },
          ],
        },
      },
      {
        title: "CONV-606: a dropped document without other content leaves a placeholder",
        from: "messages",
        to: "chat",
        body: {
          messages: [
            user({
              type: "document",
              source: { type: "base64", media_type: "application/pdf", data: "JVBERg==" },
            }),
          ],
        },
        up: chat(said("(no content)")),
        reported: ["messages.content.document"],
      },
      {
        title: "CONV-113: names of participants are dropped and reported",
        from: "chat",
        to: "messages",
        body: chat({ ...said("Hi"), name: "ann" }, { ...said("Ho"), name: "bob" }),
        up: { messages: [user(text("Hi"), text("Ho"))] },
        nowhere: ["ann", "bob"],
        reported: ["messages.name"],
      },
      {
        title: "CONV-113: a result loses its error flag, and keeps its text",
        from: "messages",
        to: "chat",
        body: toolTurns({ content: "No such place.", is_error: true }),
        up: chat({}, {}, result("c1", "No such place.")),
        reported: ["messages.content.is_error"],
      },
    ]),
  )("%s", (_title, one) => showCase(world, one));
});

/** A question, a call and its result in the messages protocol, then `last`. */
function toolTurns(last: Body): Body {
  return {
    messages: [
      { role: "user", content: "Where?" },
      {
        role: "assistant",
        content: [{ type: "tool_use", id: "c1", name: "look", input: { where: "here" } }],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", ...last }] },
    ],
  };
}

function pictureResult(): Body {
  const source = { type: "base64", media_type: "image/png", data: pictureData };
  return toolTurns({ content: [text("A map:"), { type: "image", source }] });
}
