/** Names that callers make up have no end: what a call was spelled with is forgotten with it. */
import { beforeAll, expect, it } from "vitest";
import { codecs, type JsonObject } from "../../src/protocols/index.ts";
import { routeOf } from "../conversion/route.ts";
import { heldBytes } from "../support/held-bytes.ts";
import { inForm } from "../support/long.ts";

const names = Object.keys(codecs) as (keyof typeof codecs)[];

/** The least body of each protocol whose wish for reasoning the model below does not know. */
const wishing: Readonly<Record<(typeof names)[number], JsonObject>> = {
  chat: { messages: [{ role: "user", content: "Hi" }], reasoning_effort: "high" },
  responses: { input: "Hi", reasoning: { effort: "high" } },
  messages: {
    max_tokens: 9,
    messages: [{ role: "user", content: "Hi" }],
    output_config: { effort: "high" },
  },
  generate_content: {
    contents: [{ role: "user", parts: [{ text: "Hi" }] }],
    generationConfig: { thinkingConfig: { thinkingLevel: "high" } },
  },
};

/** Of a megabyte each: kept, they would be more than what may be held afterwards. */
const callsEach = inForm(20, 40);

/** What was held before a test, which is what was held after the one before: to collect all garbage takes half a second. */
let held = 0;
beforeAll(() => {
  held = heldBytes();
});

it.each(names)("fields of %s that a caller makes up are not kept after its call", (name) => {
  const abilities = { reasoning: { kind: "effort", off: true, values: ["low"] } } as const;
  const call = (own: string) =>
    routeOf(name, name, { ...wishing[name], model: "acme/x", [own]: 1 }, { abilities });
  const { notes } = call("mine");
  expect(notes.length).toBeGreaterThan(0);
  for (let index = 0; index < callsEach; index += 1)
    call(`${name}${index}${"y".repeat(1_000_000)}`);
  const before = held;
  held = heldBytes();
  expect(held - before).toBeLessThan(15e6);
});
