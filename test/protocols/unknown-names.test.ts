/** The number of names that callers may make up is unlimited, so the gateway forgets a call's names at its end. */
import { beforeAll, expect, it } from "vitest";
import { codecs, type JsonObject } from "../../src/protocols/index.ts";
import { routeOf } from "../conversion/route.ts";
import { heldBytes } from "../support/held-bytes.ts";
import { shortOrLong } from "../support/long.ts";

const names = Object.keys(codecs) as (keyof typeof codecs)[];

/** A minimal body of each protocol with a reasoning setting that the model below does not support. */
const reasoningRequests: Readonly<Record<(typeof names)[number], JsonObject>> = {
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

/** The calls hold a megabyte each. If they were kept, they would exceed the allowed growth. */
const callsEach = shortOrLong(20, 40);

/** The heap before a test, which is the heap after the test before: a full garbage collection takes half a second. */
let held = 0;
beforeAll(() => {
  held = heldBytes();
});

it.each(names)("unknown fields in calls of %s are not kept after their calls", (name) => {
  const abilities = { reasoning: { kind: "effort", off: true, values: ["low"] } } as const;
  const call = (own: string) =>
    routeOf(name, name, { ...reasoningRequests[name], model: "acme/x", [own]: 1 }, { abilities });
  const { notes } = call("mine");
  expect(notes.length).toBeGreaterThan(0);
  for (let index = 0; index < callsEach; index += 1)
    call(`${name}${index}${"y".repeat(1_000_000)}`);
  const before = held;
  held = heldBytes();
  expect(held - before).toBeLessThan(15e6);
});
