/** The shipped list of models, and the reading of the public one. docs/models.md. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseUsd } from "../../src/base/money.ts";
import {
  environmentCatalog,
  listDiff,
  listedModels,
  readPublicList,
  shippedList,
  upperBound,
  vendorRows,
  vendorStates,
  type TextModel,
} from "../../src/catalog/index.ts";
import { decimalOf } from "../../src/catalog/list/decimal.ts";
import { listedModel } from "../../src/catalog/list/models.ts";
import { costMs } from "../support/cost.ts";
import { every } from "./support.ts";

const rows = vendorRows();
const ids = new Set(rows.map(({ id }) => id));

describe("a price in JSON", () => {
  it.each([
    ["0.25", "0.25"],
    ["15", "15"],
    ["15.0", "15"],
    ["5e-8", "0.00000005"],
    ["1.5E+2", "150"],
    ["0.049999999999999996", "0.05"],
    ["0.0000000005", "0.000000001"],
    ["0.00000000049", "0"],
    ["-1", "-1"],
    ["123456789012345678901234567890.5", "123456789012345678901234567890.5"],
  ])("is read exactly: %s is %s", (text, decimal) => {
    expect(decimalOf(text)).toBe(decimal);
  });
});

describe("the shipped list", () => {
  const models = listedModels(shippedList(), ids);

  it("has one model a line, each once, and only of known vendors", () => {
    const lines = shippedList().trimEnd().split("\n");
    expect(models).toHaveLength(lines.length);
    expect(models.length).toBeGreaterThan(3500);
    expect(new Set(models.map(({ vendor, model }) => `${vendor} ${model}`)).size).toBe(
      lines.length,
    );
  });

  it("gives each model with a price to the catalogue, with an offer that can be priced", () => {
    const catalog = environmentCatalog(every("key"));
    expect([...catalog.providers.keys()]).toEqual(rows.map(({ id }) => id));
    const priced = models.filter(({ price }) => price !== undefined);
    expect(catalog.models.size).toBeGreaterThanOrEqual(priced.length);
    for (const model of catalog.models.values()) {
      expect(model.id).toMatch(/^[^\s/:]+\/[^\s:]+$/);
      expect(model.offers.every(({ provider }) => catalog.providers.has(provider))).toBe(true);
      if (model.kind !== "text") continue;
      expect(model.maxOutputTokens).toBeGreaterThan(0);
      expect(model.reserveOutputTokens).toBeLessThanOrEqual(model.maxOutputTokens);
      const bound = upperBound(model, model.offers, { inputTokens: 1_000_000, answers: 1 });
      expect(bound).toBeGreaterThanOrEqual(0n);
    }
  });

  it("gives each vendor its own variables and an https address", () => {
    // Both endpoints of Bedrock belong to one cloud.
    const variables = rows
      .filter(({ id }) => id !== "amazon-bedrock-mantle")
      .flatMap((row) => row.variables);
    expect(new Set(variables).size).toBe(variables.length);
    for (const { base_url: address, docs } of rows) {
      expect(address).toMatch(/^https:\/\/[^\s]+[^/]$/);
      expect(docs).toMatch(/^https?:\/\//);
    }
    const addresses = vendorStates({}, "").map(({ baseUrlVariable }) => baseUrlVariable);
    expect(new Set(addresses).size).toBe(addresses.length);
  });

  it("yields to our own records", () => {
    const own = environmentCatalog({ OPENAI_API_KEY: "k" }).models.get("openai/gpt-5.4")!;
    expect(own.created).toBe(1_795_132_800);
  });

  it("calls OpenAI models by responses if they refuse tools with an effort in chat", () => {
    const { models } = environmentCatalog({ OPENAI_API_KEY: "k" });
    const spoken = ["gpt-5.2", "gpt-5.4", "gpt-5.4-mini", "gpt-5.5", "gpt-6.2-sol"].map((name) => {
      const { offers } = models.get(`openai/${name}`) as TextModel;
      return offers.map(({ protocol }) => protocol).join();
    });
    const only = "responses";
    expect(spoken).toEqual(["chat,responses", only, only, only, only]);
  });

  it("marks reasoning models of OpenAI and xAI as without stop sequences and penalties", () => {
    const { models } = environmentCatalog({ OPENAI_API_KEY: "k", XAI_API_KEY: "k" });
    const lacked = (id: string): boolean[] => {
      const { parameters } = models.get(id) as TextModel;
      return ["stop", "presence_penalty", "logit_bias"].map((name) => parameters[name] === false);
    };
    for (const name of ["o3", "o4-mini", "gpt-5", "gpt-5-mini", "gpt-5.2", "gpt-5.4-nano"])
      expect([name, ...lacked(`openai/${name}`)]).toEqual([name, true, true, true]);
    for (const name of ["gpt-4o", "gpt-4.1", "gpt-5-chat-latest"])
      expect([name, ...lacked(`openai/${name}`)]).toEqual([name, false, false, false]);
    expect(lacked("xai/grok-4.3")).toEqual([true, true, false]);
    // Its models without reasoning refuse the penalties too.
    expect(lacked("xai/grok-4.20-0309-non-reasoning")).toEqual([false, true, false]);
  });

  it("marks Gemini 2.5 and later as without penalties, which they refuse", () => {
    const { models } = environmentCatalog({
      GEMINI_API_KEY: "k",
      GOOGLE_GENAI_USE_VERTEXAI: "true",
      GOOGLE_CLOUD_PROJECT: "p",
      GOOGLE_CLOUD_LOCATION: "global",
    });
    const lacking = (vendor: string): string[] => {
      const gemini = [...models].filter(([id]) => id.startsWith(`${vendor}/gemini-`));
      return gemini.flatMap(([id, model]) => {
        if (model.kind !== "text") return [];
        const { parameters } = model;
        const penalties = ["presence_penalty", "frequency_penalty"];
        return penalties.every((name) => parameters[name] === false) ? [id] : [];
      });
    };
    expect(lacking("google")).toEqual(
      expect.arrayContaining([
        "google/gemini-2.5-flash",
        "google/gemini-3.8-flash",
        "google/gemini-3.1-pro-preview",
      ]),
    );
    expect(lacking("google")).not.toContain("google/gemini-2.0-flash");
    expect(lacking("google-vertex")).toContain("google-vertex/gemini-2.5-pro");
  });

  it("marks OpenAI's o models in chat as refusing parallel_tool_calls", () => {
    const { models } = environmentCatalog({ OPENAI_API_KEY: "k" });
    const takes = (id: string) => {
      const { parameters } = models.get(id) as TextModel;
      return parameters["parallel_tool_calls"] !== false;
    };
    const names = ["o1", "o3", "o3-mini", "o4-mini", "gpt-4o", "gpt-5-mini"];
    expect(names.filter((name) => takes(`openai/${name}`))).toEqual(["gpt-4o", "gpt-5-mini"]);
  });

  it("marks DeepSeek's models as without structured outputs", () => {
    const { models } = environmentCatalog({ DEEPSEEK_API_KEY: "k", TOGETHER_API_KEY: "k" });
    const held = [...models.values()].flatMap((model) =>
      model.kind === "text" && model.offers[0]!.provider === "deepseek"
        ? [model.structuredOutputs]
        : [],
    );
    expect(held.length).toBeGreaterThan(2);
    expect(new Set(held)).toEqual(new Set([false]));
  });

  it("marks models of DeepSeek, Moonshot and Alibaba as refusing a forced tool call while they reason", () => {
    const { models } = environmentCatalog({
      DEEPSEEK_API_KEY: "k",
      MOONSHOT_API_KEY: "k",
      DASHSCOPE_API_KEY: "k",
    });
    const together = (id: string) => (models.get(id) as TextModel).toolChoice?.forcedWhileReasoning;
    for (const id of ["deepseek/deepseek-v4-flash", "moonshotai/kimi-k2.6", "alibaba/qwen3.6-plus"])
      expect([id, together(id)]).toEqual([id, false]);
  });

  it("CONV-412: marks Claude models from 4.5 on as having structured outputs, and no earlier ones", () => {
    const { models } = environmentCatalog({ ANTHROPIC_API_KEY: "k" });
    const structured = [...models.values()].flatMap((model) =>
      model.kind === "text" && model.structuredOutputs === true
        ? model.id.replace("anthropic/claude-", "")
        : [],
    );
    expect(structured).toEqual(
      expect.arrayContaining(["opus-5-5", "fable-5", "haiku-4-5", "opus-4-6", "sonnet-5"]),
    );
    expect(structured.filter((name) => /-4-[01]|^3|-4-20|^sonnet-4$/.test(name))).toEqual([]);
  });

  it("marks Claude models that always reason, and refuse to be told not to", () => {
    const { models } = environmentCatalog({
      ANTHROPIC_API_KEY: "k",
      AWS_BEARER_TOKEN_BEDROCK: "k",
      AWS_REGION: "us-east-1",
    });
    const isSwitched = (id: string): unknown => {
      const { reasoning } = models.get(id) as TextModel;
      return reasoning?.kind === "adaptive" && reasoning.off;
    };
    const always = ["anthropic/claude-fable-5", "amazon-bedrock/us.anthropic.claude-fable-5"];
    expect(always.map(isSwitched)).toEqual([false, false]);
    const others = ["anthropic/claude-opus-4-8", "amazon-bedrock/anthropic.claude-sonnet-5"];
    expect(others.map(isSwitched)).toEqual([true, true]);
  });

  it("marks Claude models that refuse a forced tool call, wherever an updated list has them", () => {
    const vendor = rows.find(({ id }) => id === "amazon-bedrock")!;
    const modesOf = (name: string) => {
      const price = { input: "1", output: "1" };
      const row = { vendor: vendor.id, model: `anthropic.${name}`, name, context: 9, price };
      return (listedModel(row, vendor) as TextModel).toolChoice?.modes;
    };
    for (const name of ["claude-fable-5-1", "claude-opus-5-5", "claude-mythos-5-1-v1"])
      expect([name, modesOf(name)]).toEqual([name, ["auto", "none"]]);
    expect(modesOf("claude-fable-5")).toHaveLength(4);
  });

  it("is not read if no vendor's variable is set", () => {
    const unread = (): string => {
      throw new Error("it was read");
    };
    expect(environmentCatalog({ GROQ_API_KEY: "" }, unread).models.size).toBe(0);
    expect(() => environmentCatalog({ GROQ_API_KEY: "k" }, unread)).toThrow("it was read");
  });
});

/** A list with two models of Groq in the format of models.dev. `cost` is the first one's, as text. */
const publicList = (cost: string): string => `{
  "groq": {
    "id": "groq",
    "models": {
      "llama-3.3": {
        "id": "llama-3.3",
        "limit": { "context": 131072, "output": 32768 },
        "modalities": { "input": ["text"], "output": ["text"] },
        "cost": ${cost}
      },
      "whisper-1": {
        "limit": { "context": 0, "output": 0 },
        "modalities": { "input": ["audio"], "output": ["text"] },
        "cost": { "input": 1, "output": 0 }
      }
    }
  },
  "nobody": { "models": {} }
}`;

const read = (text: string) => readPublicList(text, rows);
const modelsOf = (text: string) => {
  const result = read(text);
  if ("mistakes" in result) throw new Error(JSON.stringify(result.mistakes));
  return result.models;
};

describe("the public list", () => {
  it("is read exactly, including tiers, and names vendors without a preset", () => {
    const cost = `{ "input": 0.1, "output": 0.30000000000000004, "cache_read": 0.01,
      "tiers": [{ "tier": { "size": 200000 }, "input": 0.2, "output": 0.6 }] }`;
    expect(read(publicList(cost))).toEqual({
      models: [
        {
          vendor: "groq",
          model: "llama-3.3",
          context: 131_072,
          output: 32_768,
          price: {
            input: "0.1",
            output: "0.3",
            cache_read: "0.01",
            above: [{ tokens: 200_000, input: "0.2", output: "0.6" }],
          },
        },
      ],
      others: ["nobody"],
    });
  });

  const at = 'groq.models["llama-3.3"].cost';
  it.each([
    [`{ "input": "0.1", "output": 1 }`, `9:28 ${at}.input must be a number`],
    [`{ "input": null, "output": 1 }`, `9:28 ${at}.input must be a number`],
    [`{ "output": 1 }`, `9:17 ${at}.input is missing beside the other prices`],
    [`{ "input": 1 }`, `9:17 ${at}.output is missing beside the other prices`],
    [`{ "input": 1, "output": -0.5 }`, `9:41 ${at}.output must not be negative (-0.5)`],
    [
      `{ "input": 1, "output": 10001 }`,
      `9:41 ${at}.output 10001 USD for a million tokens is absurd`,
    ],
    [`{ "input": 1e30, "output": 1 }`, `9:28 ${at}.input 1e30 USD for a million tokens is absurd`],
    [
      `{ "input": 2.5e-6, "output": 0.00001 }`,
      `9:28 ${at}.input 2.5e-6 USD for a million tokens is absurd (the least is 0.0001, or 0)`,
    ],
    [
      `{ "input": 1e-30, "output": 1 }`,
      `9:28 ${at}.input 1e-30 USD for a million tokens is absurd`,
    ],
    [`"free"`, `9:17 ${at} must be an object of prices`],
    [
      `{ "input": 1, "output": 1, "tiers": [{ "input": 1 }] }`,
      `9:54 ${at}.tiers["0"].tier must name a size of context in tokens`,
    ],
  ])("is refused with the line of the mistake: %s", (cost, message) => {
    const result = read(publicList(cost));
    const [first] = "mistakes" in result ? result.mistakes : [];
    expect(`${first?.line}:${first?.column} ${first?.path} ${first?.message}`).toContain(message);
  });

  it("is refused with a position if it is not JSON, and refused if it is not a list", () => {
    expect(read("{\n]")).toMatchObject({ mistakes: [{ line: 2, column: 1, path: "" }] });
    expect(read("[]")).toMatchObject({ mistakes: [{ message: "is no JSON object" }] });
    expect(read("{}")).toMatchObject({ mistakes: [{ path: "" }] });
  });

  it("is refused in linear time if each of its prices is for one token", async () => {
    const models = Array.from({ length: 2_000 }, (_, at) => [
      `m${at}`,
      { name: "x".repeat(200), cost: { input: 5e-7, output: 2e-6 } },
    ]);
    const text = JSON.stringify({ groq: { models: Object.fromEntries(models) } }, undefined, 1);
    const cost = await costMs(() => {
      const result = read(text);
      const mistakes = "mistakes" in result ? result.mistakes : [];
      expect(mistakes).toHaveLength(4_000);
      expect(mistakes.at(-1)).toMatchObject({
        line: text.split("\n").findLastIndex((line) => line.includes('"output"')) + 1,
        column: 16,
        path: "groq.models.m1999.cost.output",
      });
    });
    expect(cost).toBeLessThan(2_000);
  });

  it("gives no price to a model with a rate for something that is not counted", () => {
    const [model] = modelsOf(publicList(`{ "input": 1, "output": 1, "request": 5 }`));
    expect(model).not.toHaveProperty("price");
  });

  it("omits a rate of 0 for cache or reasoning if the model has a price", () => {
    const zeros = `"cache_read": 0, "cache_write": 0.0, "reasoning": 0`;
    const priceOf = (cost: string) => modelsOf(publicList(cost))[0]?.price;
    expect(priceOf(`{ "input": 1, "output": 2, ${zeros} }`)).toEqual({ input: "1", output: "2" });
    expect(
      priceOf(
        `{ "input": 1, "output": 2, "tiers": [{ "tier": { "size": 9 }, "input": 3, "output": 4, ${zeros} }] }`,
      ),
    ).toMatchObject({ above: [{ tokens: 9, input: "3", output: "4" }] });
    const free = { cache_read: "0", cache_write: "0", reasoning: "0" };
    expect(priceOf(`{ "input": 0, "output": 0, ${zeros} }`)).toMatchObject(free);
  });

  it("has no free part in the shipped version if the model has a price", () => {
    const free = listedModels(shippedList(), ids).filter(({ price }) =>
      [price, ...(price?.above ?? [])].some(
        (rates) =>
          (rates?.input !== "0" && [rates?.cache_read, rates?.cache_write].includes("0")) ||
          (rates?.output !== "0" && rates?.reasoning === "0"),
      ),
    );
    expect(free.map(({ vendor, model }) => `${vendor} ${model}`)).toEqual([]);
  });

  it("has only valid decimal rates in the shipped version", () => {
    for (const { price } of listedModels(shippedList(), ids)) {
      const { above = [], ...base } = price ?? { input: "0", output: "0" };
      for (const { tokens, ...rates } of [...above, { tokens: 0, ...base }]) {
        expect(tokens).toBeGreaterThanOrEqual(0);
        for (const rate of Object.values(rates)) expect(parseUsd(rate)).toBeGreaterThanOrEqual(0n);
      }
    }
  });
});

describe("the difference between two lists", () => {
  const before = (cost: string) => modelsOf(publicList(cost));
  const cheap = `{ "input": 1, "output": 2 }`;
  it.each([
    [cheap, cheap, {}],
    [cheap, `{ "input": 1, "output": 3 }`, { dearer: 1 }],
    [cheap, `{ "input": 0.5, "output": 3 }`, { dearer: 1 }],
    [cheap, `{ "input": 0.5, "output": 2 }`, { cheaper: 1 }],
    [cheap, `{ "input": 1, "output": 2, "cache_read": 0.1 }`, { cheaper: 1 }],
    [`{ "input": 1, "output": 2, "cache_read": 0.1 }`, cheap, { dearer: 1 }],
    [
      cheap,
      `{ "input": 1, "output": 2, "tiers": [{ "tier": { "size": 9 }, "input": 2, "output": 2 }] }`,
      { dearer: 1 },
    ],
    [`{ "input": 1, "output": 2, "request": 1 }`, cheap, { added: 1 }],
    [cheap, `{ "input": 1, "output": 2, "request": 1 }`, { gone: 1 }],
  ])("from %s to %s is %j", (old, next, counts) => {
    const diff = listDiff(before(old), before(next), rows);
    const found = Object.entries(diff).flatMap(([kind, list]) =>
      list.length > 0 ? [[kind, list.length]] : [],
    );
    expect(Object.fromEntries(found)).toEqual(counts);
  });
});

it("the notice that the list's licence requires is shipped", () => {
  const notice = readFileSync(new URL("../../catalog/NOTICE.md", import.meta.url), "utf8");
  expect(notice).toContain("Copyright (c) 2025 models.dev");
});
