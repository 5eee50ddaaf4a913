/**
 * Content in a turn of the wrong role: calls and thoughts in a user's turn, refusals in a user's, a system's or a tool's turn. It
 * is sent on in the right role, or refused; it never vanishes. CONV-101 to CONV-113; traps T20, T33.
 */
import { describe, expect, it } from "vitest";
import { GatewayError } from "../../src/base/errors.ts";
import {
  codecs,
  createRoute,
  protocolNames,
  upstreamCodecs,
  upstreamProtocols,
  type JsonObject,
  type ProtocolName,
  type UpstreamProtocol,
} from "../../src/protocols/index.ts";

const thinking = { type: "thinking", thinking: "mark-thought", signature: "s" };
const use = { type: "tool_use", id: "t1", name: "look", input: { at: "mark-call" } };
const result = (content: unknown): JsonObject =>
  ({ type: "tool_result", tool_use_id: "t1", content }) as JsonObject;
const refusal = (text: string) => ({ type: "refusal", refusal: text });
const text = (said: string) => ({ type: "text", text: said });

/** Requests with content of the wrong role, and the marks that must arrive of each. */
const requests: Readonly<Record<ProtocolName, [body: JsonObject, marks: string[]][]>> = {
  chat: [
    [
      {
        model: "m",
        messages: [
          { role: "system", content: [text("mark-rule"), refusal("mark-no-system")] },
          { role: "user", content: [text("mark-question"), refusal("mark-no-user")] },
          {
            role: "assistant",
            tool_calls: [
              { id: "t1", type: "function", function: { name: "look", arguments: "{}" } },
            ],
          },
          { role: "tool", tool_call_id: "t1", content: [refusal("mark-no-tool")] },
        ],
      },
      ["mark-rule", "mark-no-system", "mark-question", "mark-no-user", "mark-no-tool"],
    ],
  ],
  responses: [
    [
      {
        model: "m",
        input: [
          { role: "developer", content: [refusal("mark-no-developer")] },
          { role: "user", content: [refusal("mark-no-user"), text("mark-question")] },
        ],
      },
      ["mark-no-developer", "mark-no-user", "mark-question"],
    ],
  ],
  messages: [
    [
      {
        model: "m",
        max_tokens: 10,
        messages: [
          { role: "user", content: [text("mark-question"), use, text("mark-after")] },
          { role: "user", content: [result("mark-result")] },
        ],
      },
      ["mark-question", "mark-call", "mark-after", "mark-result"],
    ],
    [
      {
        model: "m",
        max_tokens: 10,
        messages: [
          { role: "user", content: [text("mark-question"), use] },
          { role: "user", content: [result([text("mark-result"), thinking])] },
        ],
      },
      ["mark-thought"],
    ],
    [
      {
        model: "m",
        max_tokens: 10,
        system: [use],
        messages: [{ role: "user", content: "Hi" }],
      },
      ["mark-call"],
    ],
  ],
  generate_content: [
    [
      {
        contents: [
          { parts: [{ text: "mark-question" }] },
          { parts: [{ functionCall: { name: "look", args: { at: "mark-call" } } }] },
          { parts: [{ functionResponse: { name: "look", response: { output: "mark-result" } } }] },
        ],
      },
      ["mark-question", "mark-call", "mark-result"],
    ],
  ],
};

const routeOf = (caller: ProtocolName, upstream: UpstreamProtocol, body: JsonObject) =>
  createRoute({
    caller: codecs[caller],
    upstream: upstreamCodecs[upstream],
    body,
    stream: false,
    requestedModel: "acme/talk",
    model: "acme/talk",
    upstreamModel: "talk-large",
    maxOutputTokens: 1000,
    inputEstimate: 1,
    id: "req_1",
    createdAt: 1,
  });

/** The body that is sent, as JSON. Undefined if the gateway refuses the content. */
function sentOr400(caller: ProtocolName, upstream: UpstreamProtocol, body: JsonObject) {
  try {
    return JSON.stringify(routeOf(caller, upstream, body).body);
  } catch (error) {
    if (error instanceof GatewayError && error.code === "unsupported_content") return undefined;
    throw error;
  }
}

const cases = protocolNames.flatMap((caller) =>
  upstreamProtocols
    .filter((name) => name !== caller)
    .flatMap((upstream) =>
      requests[caller].map(([body, marks]) => [caller, upstream, marks, body] as const),
    ),
);

describe("content in a turn of the wrong role", () => {
  it.each(cases)("T33: arrives or is refused: %s to %s, %s", (caller, upstream, marks, body) => {
    const sent = sentOr400(caller, upstream, body);
    // Only content without a meaning at its place is refused.
    const missing =
      sent === undefined ? marks.slice(1) : marks.filter((mark) => !sent.includes(mark));
    expect(missing).toEqual([]);
  });

  it("T20: moves to a model's turn before its result if it is a call", () => {
    const rolesOf = ({ body }: { body: JsonObject }) =>
      (body["messages"] as JsonObject[]).map(({ role }) => role);
    const [unnamed] = requests.generate_content[0]!;
    for (const upstream of ["messages", "converse"] as const)
      expect(rolesOf(routeOf("generate_content", upstream, unnamed))).toEqual([
        "user",
        "assistant",
        "user",
      ]);
    const [misnamed] = requests.messages[0]!;
    const roles = rolesOf(routeOf("messages", "chat", misnamed));
    expect(roles).toEqual(["user", "assistant", "tool", "user"]);
  });
});
