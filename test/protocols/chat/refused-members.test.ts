/** Members of earlier answers that a chat vendor refuses: what can be said otherwise stays, the rest is reported. Traps T39, T41. */
import { expect, it } from "vitest";
import type { JsonObject } from "../../../src/protocols/canonical/request.ts";
import { removeRefused } from "../../../src/protocols/chat/refused-members.ts";

it.each<[string, JsonObject, JsonObject, string[]]>([
  ["one text", { reasoning: "Hm." }, { reasoning_content: "Hm." }, []],
  [
    "the same text by both names",
    { reasoning_content: "Hm.", reasoning: "Hm." },
    { reasoning_content: "Hm." },
    [],
  ],
  [
    "two texts",
    { reasoning_content: "Hm.", reasoning: "Well." },
    { reasoning_content: "Hm." },
    ["messages.reasoning"],
  ],
])("T41: reasoning of %s goes by the name that the vendor takes", (_what, said, kept, lost) => {
  const answer = { role: "assistant", content: "Yes." };
  const body: JsonObject = { messages: [{ ...answer, ...said }] };
  const notes = removeRefused(body, ["reasoning", "reasoning_details"]);
  expect(body["messages"]).toEqual([{ ...answer, ...kept }]);
  expect(notes.map(({ param }) => param)).toEqual(lost);
});
