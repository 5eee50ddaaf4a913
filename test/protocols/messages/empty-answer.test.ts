/** Ollama's answer of a model that wrote nothing. Its server marshals the missing list as null. TXT-10. */
import { expect, it } from "vitest";
import type { JsonObject } from "../../../src/protocols/canonical/request.ts";
import { messagesCodec } from "../../../src/protocols/messages/index.ts";

const { direct } = messagesCodec;

it("a whole answer with null as its content is an empty one, and gets a list", () => {
  const empty: JsonObject = { id: "msg_1", type: "message", role: "assistant", content: null };
  expect(direct.failure(empty)).toBeUndefined();
  expect(direct.answer(empty, "acme/talk")).toMatchObject({ model: "acme/talk", content: [] });
});

it.each<JsonObject>([{ content: null }, { type: "message" }, { type: "error", content: null }])(
  "what is no message stays a failure: %o",
  (body) => expect(direct.failure(body)).toBeDefined(),
);
