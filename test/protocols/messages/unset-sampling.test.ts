/** `top_p` and `top_k` of -1 mean that they are not set. TXT-22. */
import { expect, it } from "vitest";
import { messagesCodec } from "../../../src/protocols/messages/index.ts";
import { routeOf } from "../../conversion/route.ts";
import { faultOf } from "../chat/support.ts";

const body = {
  model: "acme/x",
  max_tokens: 100,
  messages: [{ role: "user", content: "Hi" }],
  temperature: 0.5,
  top_p: -1,
  top_k: -1,
};

it.each(["messages", "chat", "generate_content"] as const)(
  "TXT-22: top_p and top_k of -1, as LangChain sends them, do not reach an upstream of %s",
  (protocol) => {
    const route = routeOf("messages", protocol, body);
    expect(JSON.stringify(route.body)).not.toMatch(/top_?p|top_?k|-1/i);
    expect(JSON.stringify(route.body)).toContain('"temperature":0.5');
    expect(route.notes).toEqual([]);
  },
);

it("TXT-22: the check takes them, and refuses other negative values as before", () => {
  const { direct } = messagesCodec;
  expect(faultOf(() => direct.validate(body))).toBe("none");
  expect(faultOf(() => direct.validate({ ...body, top_p: -0.5 }))).toBe(
    "integer_below_min_value top_p",
  );
});
