// The call that a result without an id belongs to, if earlier calls were broken off. T20, T22.
import { expect, it } from "vitest";
import { routeOf } from "../../conversion/route.ts";
import { items, text, wire } from "../../transcripts/readers/index.ts";

const model = (...parts: object[]) => ({ role: "model", parts });
const user = (...parts: object[]) => ({ role: "user", parts });
const call = (where: string, id?: string) => ({
  functionCall: { name: "look", args: { where }, ...(id === undefined ? {} : { id }) },
});
const result = (output: string) => ({ functionResponse: { name: "look", response: { output } } });

/** The calls that a chat upstream receives, each with its result. */
function sent(...contents: object[]): unknown[] {
  const { body } = routeOf("generate_content", "chat", { contents });
  const messages = items(body["messages"]);
  return messages
    .flatMap((message) => items(message["tool_calls"]))
    .map((called) => [
      JSON.parse(text(wire(called["function"])["arguments"])),
      messages.find((message) => message["tool_call_id"] === called["id"])?.["content"],
    ]);
}

const asked = user({ text: "Where is the cat?" });
const other = user({ text: "Not there. Look elsewhere." });

it("T20 T22: a result belongs to the later call if an earlier one of its name was broken off", () => {
  expect(sent(asked, model(call("box")), other, model(call("bag")), user(result("a cat")))).toEqual(
    [[{ where: "bag" }, "a cat"]],
  );
  const withIds = [model(call("box", "c1")), other, model(call("bag", "c2"))];
  expect(sent(asked, ...withIds, user(result("a cat")))).toEqual([[{ where: "bag" }, "a cat"]]);
});

it("T20 T22: a late result belongs to an earlier call once the later ones have results", () => {
  const calls = [model(call("box")), other, model(call("bag"))];
  expect(sent(asked, ...calls, user(result("a cat")), user(result("a hat")))).toEqual([
    [{ where: "box" }, "a hat"],
    [{ where: "bag" }, "a cat"],
  ]);
});

it("T20 T22: calls that the model made in several turns get their results in order", () => {
  const pieces = [model(call("box")), model(call("bag"))];
  expect(sent(asked, ...pieces, user(result("a hat"), result("a cat")))).toEqual([
    [{ where: "box" }, "a hat"],
    [{ where: "bag" }, "a cat"],
  ]);
});
