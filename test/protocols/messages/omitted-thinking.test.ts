/** Thinking of which a client kept only the signature. TXT-22. */
import { expect, it } from "vitest";
import type { JsonObject } from "../../../src/protocols/canonical/request.ts";
import { messagesCodec } from "../../../src/protocols/messages/index.ts";
import { routeOf } from "../../conversion/route.ts";
import { faultOf } from "../chat/support.ts";

const bodyWith = (block: JsonObject): JsonObject & { messages: JsonObject[] } => ({
  model: "acme/x",
  max_tokens: 100,
  messages: [
    { role: "user", content: "Hi" },
    {
      role: "assistant",
      content: [
        { type: "thinking", ...block },
        { type: "text", text: "Hm" },
      ],
    },
    { role: "user", content: "Go on" },
  ],
});
const signed = bodyWith({ signature: "c2ln" });
const faultIn = (body: JsonObject) => faultOf(() => messagesCodec.direct.validate(body));

it("TXT-22: thinking with only a signature, as LangChain sends it back, gets its empty text", () => {
  expect(faultIn(signed)).toBe("none");
  const [, answer] = routeOf("messages", "messages", signed).body["messages"] as object[];
  expect(answer).toEqual(bodyWith({ signature: "c2ln", thinking: "" }).messages[1]);
});

it("TXT-22: such thinking does not stop a conversion", () => {
  const { body } = routeOf("messages", "chat", signed);
  expect(body["messages"]).toHaveLength(3);
});

it("TXT-22: thinking without text and signature is refused as before", () => {
  expect(faultIn(bodyWith({}))).toBe("missing_required_parameter messages[1].content[0].thinking");
});
