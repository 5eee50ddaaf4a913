/** A choice among allowed tools that also names tools that are not offered: Gemini and OpenAI refuse such a name. T29. */
import { expect, it } from "vitest";
import { routeOf } from "./route.ts";
import { user, type Name } from "./world.ts";

const offered = ["look", "find", "open"];
const request = (allowed: readonly string[]) => ({
  model: "acme/x",
  ...user("Hi"),
  tools: offered.map((name) => ({ type: "function", function: { name } })),
  tool_choice: {
    type: "allowed_tools",
    allowed_tools: {
      mode: "required",
      tools: allowed.map((name) => ({ type: "function", function: { name } })),
    },
  },
});

const choices: Readonly<Record<Exclude<Name, "chat"> | "converse", object>> = {
  responses: {
    tool_choice: {
      type: "allowed_tools",
      mode: "required",
      tools: [
        { type: "function", name: "find" },
        { type: "function", name: "look" },
      ],
    },
  },
  messages: { tools: [{ name: "look" }, { name: "find" }], tool_choice: { type: "any" } },
  generate_content: {
    toolConfig: {
      functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["find", "look"] },
    },
  },
  converse: {
    toolConfig: {
      tools: [{ toolSpec: { name: "look" } }, { toolSpec: { name: "find" } }],
      toolChoice: { any: {} },
    },
  },
};

it.each(Object.entries(choices) as [keyof typeof choices, object][])(
  "T29: %s gets the allowed tools that are offered; the others are reported",
  (to, expected) => {
    const { body, notes } = routeOf("chat", to, request(["find", "gone", "look"]));
    expect(body).toMatchObject(expected);
    expect(JSON.stringify(body)).not.toContain("gone");
    expect(notes.map(({ param, kind }) => [param, kind])).toEqual([["tool_choice", "rewritten"]]);
    const whole = routeOf("chat", to, request(["find", "look"]));
    expect([whole.body, whole.notes]).toEqual([body, []]);
  },
);
