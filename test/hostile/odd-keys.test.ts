/** Objects with keys that JavaScript itself looks up: they are data, and a refusal can still show them. */
import { describe, expect, it } from "vitest";
import { entries, readError, useWorld } from "./support.ts";

const world = useWorld();

/** Content that each protocol refuses. JavaScript's own conversion of it to text throws. */
const odd = { type: "input_text", toString: "Look", valueOf: 1, toJSON: true };

describe.each(entries.map((entry) => [entry.name, entry] as const))(
  "%s bodies with objects that override toString",
  (name, entry) => {
    const spots: [string, object][] = [
      ["content", [{ role: "user", content: [odd] }]],
      ["parts", [{ role: "user", parts: [odd, { text: odd }] }]],
      ["a message", [odd]],
    ];
    it.each(spots)(
      "an object with its own toString in %s is no internal error",
      async (_, list) => {
        const field = { chat: "messages", messages: "messages", responses: "input" } as const;
        const key = name === "generate_content" ? "contents" : field[name];
        const response = await world.gateway.post(entry.path, { ...entry.good, [key]: list });
        const text = await response.text();
        if (response.status === 200) return;
        expect(`${response.status} ${text}`).toMatch(/^400 /);
        const { message } = readError(name, JSON.parse(text)) as { message?: string };
        expect(message ?? text).not.toContain("[object Object]");
      },
    );
  },
);
