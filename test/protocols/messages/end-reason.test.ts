/** Stop reasons of whole answers on the direct route; `tap.test.ts` has those of streams. T11. */
import { expect, it } from "vitest";
import { messagesCodec } from "../../../src/protocols/messages/index.ts";

it.each([
  ["tool_use", "end_turn", "tool_use"],
  ["tool_use", "max_tokens", "max_tokens"],
  ["server_tool_use", "end_turn", "end_turn"],
])("T11: %s with %s ends with %s", (type, said, told) => {
  const content = [{ type, id: "t", name: "f", input: {} }];
  const answer = { id: "msg_1", type: "message", role: "assistant", content, stop_reason: said };
  expect(messagesCodec.direct.answer(answer, "acme/talk")["stop_reason"]).toBe(told);
});
