/**
 * Direct routes that rewrite one member of the request. The other numbers keep their text, also those that no double holds,
 * such as 19-digit ids in arguments. TXT-07.
 */
import { describe, expect, it } from "vitest";
import { readJson } from "../../src/base/json.ts";
import { JsonSource } from "../../src/base/json-source.ts";
import { removeUnsupported } from "../../src/catalog/parameters.ts";
import { codecs, type JsonObject, type ProtocolName } from "../../src/protocols/index.ts";

const id = "12345678901234567890";
const upstream = { model: "claude-x", stream: false, refusedMembers: ["reasoning_content"] };
const marker = '"cache_control":{"type":"ephemeral"}';
const call = (callId: string) =>
  `{"type":"tool_use","id":"${callId}","name":"f","input":{"id":${id}}}`;
const turns = (said: string) =>
  `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[${said}]}]}`;

/** The text that is sent for a body. */
function sent(
  protocol: ProtocolName,
  text: string,
  model = upstream.model,
  stream = false,
): string {
  const source = new JsonSource(readJson(Buffer.from(text)));
  const { body } = codecs[protocol].direct.request(source.value as JsonObject, {
    ...upstream,
    model,
    stream,
  });
  return String(source.write(body));
}

const skip = '"thoughtSignature":"skip_thought_signature_validator"';

describe("the digits of numbers next to rewritten members", () => {
  it.each<[string, ProtocolName, string, string]>([
    [
      "thinking without a signature",
      "messages",
      turns(`{"type":"thinking","thinking":"x","signature":"gw_unsigned"},${call("a")}`),
      "gw_unsigned",
    ],
    ["ids that Claude refuses", "messages", turns(call("f:0")), "f:0"],
    [
      "cache markers above the limit",
      "messages",
      turns(
        `${[1, 2, 3, 4, 5].map((text) => `{"type":"text","text":"${text}",${marker}}`).join()},${call("a")}`,
      ),
      `"2",${marker}`,
    ],
    [
      "reasoning that the upstream refuses",
      "chat",
      `{"model":"m","messages":[{"role":"assistant","content":"x","reasoning_content":"r","vendor":{"id":${id}}}]}`,
      "reasoning_content",
    ],
    [
      "reasoning made by the gateway",
      "responses",
      `{"model":"m","input":[{"type":"reasoning","id":"rs_req_1_0","summary":[]},{"role":"user","content":"hi","vendor":${id}}]}`,
      "rs_req_1_0",
    ],
  ])("are kept when this is removed: %s", (_what, protocol, text, removed) => {
    expect(text).toContain(removed);
    const body = sent(protocol, text);
    expect(body).not.toContain(removed);
    expect(body).toContain(id);
  });

  it("are kept when the placeholder for a missing signature is removed", () => {
    const text = `{"contents":[{"role":"model","parts":[{"functionCall":{"name":"f","args":{"id":${id}}},${skip}}]}]}`;
    const body = sent("generate_content", text, "gemini-2.5-pro");
    expect(body).not.toContain(skip);
    expect(body).toContain(id);
  });

  it("are kept when a stream's usage is asked for", () => {
    const text = `{"model":"m","messages":[],"stream":true,"stream_options":{"vendor":${id}}}`;
    const body = sent("chat", text, "m", true);
    expect(body).toContain(`"stream_options":{"vendor":${id},"include_usage":true}`);
  });

  it("are kept when an unsupported parameter is removed", () => {
    const schema = `{"type":"INTEGER","maximum":9223372036854775807}`;
    const text = `{"contents":[],"generationConfig":{"temperature":1,"responseSchema":${schema}}}`;
    const source = new JsonSource(readJson(Buffer.from(text)));
    const model = { id: "acme/x", parameters: { temperature: false } } as const;
    const { body } = removeUnsupported(model, "generate_content", source.value);
    expect(String(source.write(body))).toBe(
      `{"contents":[],"generationConfig":{"responseSchema":${schema}}}`,
    );
  });
});
