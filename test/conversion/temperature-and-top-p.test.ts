/** Claude models that refuse temperature together with top_p, or either with reasoning. Requirements: CONV-404, CONV-419, TXT-14. */
import { describe, expect, it } from "vitest";
import { routeOf } from "./route.ts";
import { at } from "../rows/protocols.ts";
import type { Body } from "./world.ts";

const messages = [{ role: "user", content: "Hi" }];

/** Temperature and top_p in the upstream's body, and the parameters reported to the caller. */
function sent(to: "messages" | "converse", upstreamModel: string, fields: Body) {
  const { body, notes } = routeOf(
    "chat",
    to,
    { model: "acme/x", messages, ...fields },
    { upstreamModel },
  );
  const place = to === "messages" ? body : body["inferenceConfig"];
  const [temperature, topP] = ["temperature", to === "messages" ? "top_p" : "topP"].map((name) =>
    at(place, name),
  );
  return { temperature, topP, reported: notes.map(({ param }) => param) };
}

const both = { temperature: 0.5, top_p: 0.9 };

describe.each([
  ["messages", "claude-sonnet-4-5-20250929"],
  ["messages", "claude-sonnet-4-6"],
  ["messages", "claude-opus-4-1@20250805"],
  ["messages", "us.anthropic.claude-haiku-4-5-20251001-v1:0"],
  ["converse", "anthropic.claude-opus-4-5-20251101-v1:0"],
] as const)("temperature and top_p towards %s, for %s", (to, model) => {
  it("CONV-404 TXT-14: are reduced to the temperature, and top_p is reported", () => {
    const expected = { temperature: 0.5, topP: undefined, reported: ["top_p"] };
    expect(sent(to, model, both)).toEqual(expected);
  });

  it("CONV-404: are reduced without a report if one of them has no effect", () => {
    const reported: string[] = [];
    const top = { temperature: undefined, topP: 0.9, reported };
    expect(sent(to, model, { temperature: 1, top_p: 0.9 })).toEqual(top);
    const warm = { temperature: 0.5, topP: undefined, reported };
    expect(sent(to, model, { temperature: 0.5, top_p: 1 })).toEqual(warm);
  });

  it.each([{ temperature: 1 }, { temperature: 0 }, { top_p: 0.5 }])(
    "CONV-404: are unchanged if only one is set: %o",
    (fields) => {
      const { temperature, top_p: topP } = { temperature: undefined, top_p: undefined, ...fields };
      expect(sent(to, model, fields)).toEqual({ temperature, topP, reported: [] });
    },
  );
});

describe.each([
  ["messages", "claude-sonnet-4-20250514"],
  ["messages", "claude-opus-4-0"],
  ["messages", "claude-3-7-sonnet-20250219"],
  ["messages", "kimi-k2.5"],
  ["converse", "anthropic.claude-opus-4-20250514-v1:0"],
  ["converse", "amazon.nova-pro-v1:0"],
] as const)("temperature with top_p towards %s, for %s", (to, model) => {
  it("CONV-404: is sent unchanged", () => {
    expect(sent(to, model, both)).toEqual({ temperature: 0.5, topP: 0.9, reported: [] });
  });
});

describe("Claude's reasoning in Converse", () => {
  const reasoning = { kind: "budget", min: 1024, off: false, field: "thinking" } as const;
  const fields = { temperature: 0.5, top_p: 0.9 };

  it.each([
    ["anthropic.claude-sonnet-4-5-20250929-v1:0", {}, ["temperature", "top_p"]],
    ["anthropic.claude-3-7-sonnet-20250219-v1:0", {}, ["temperature", "top_p"]],
    ["mistral.magistral-small-2509", { temperature: 0.5, topP: 0.9 }, []],
  ])(
    "CONV-419 CONV-420: removes temperature and top_p at %s",
    (upstreamModel, config, reported) => {
      const body = { model: "acme/x", messages, reasoning_effort: "low", ...fields };
      const options = { upstreamModel, maxOutputTokens: 32_000, abilities: { reasoning } };
      const route = routeOf("chat", "converse", body, options);
      expect(route.body["inferenceConfig"] ?? {}).toEqual(config);
      expect(route.notes.map(({ param }) => param)).toEqual(reported);
    },
  );
});
