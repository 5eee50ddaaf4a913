/** `@google/genai` at generateContent, under the paths that it sends. Requirements: TXT; docs/decisions.md "Other spellings". */
import { GoogleGenAI, type CallableTool, type Model } from "@google/genai";
import { describe, expect, it } from "vitest";
import { generateContent } from "./generate-content-sdk.ts";
import {
  failsAs,
  failureNames,
  leavesInMidStream,
  paysOnce,
  scenarios,
  stopsAtSequence,
  waitsOutRateLimit,
} from "./scenarios.ts";
import { failureOf, scripted, useWorld } from "./support.ts";

describe("@google/genai over generateContent", () => {
  const world = useWorld();

  it.each(scenarios)("$title", (scenario) => scenario.run(world, generateContent));
  it("stop sequences end the text", () => stopsAtSequence(world, generateContent));
  it("BILL-21 T62: leaving in mid-stream stops the upstream at once and is charged", () =>
    leavesInMidStream(world, generateContent));
  it.each(failureNames)("%s is thrown as the SDK's own error", (name) =>
    failsAs(world, generateContent, name),
  );
  it("BILL-23 ERR-09: the SDK does not retry a 402, which never reaches the upstream", () =>
    paysOnce(world, generateContent));
  it("the SDK waits for a temporary rate limit, and then succeeds", () =>
    waitsOutRateLimit(world, generateContent));

  it.each(["sandbox/generate-content", "sandbox/chat"])(
    "the SDK calls parallel tools of a stream of %s by itself, and gets the answer to their results",
    async (model) => {
      const { models } = new GoogleGenAI({
        apiKey: world.key,
        httpOptions: { baseUrl: world.url },
      });
      const asked: string[] = [];
      const weather: CallableTool = {
        tool: () =>
          Promise.resolve({
            functionDeclarations: [{ name: "weather", parametersJsonSchema: { type: "object" } }],
          }),
        callTool: (calls) => {
          asked.push(...calls.map(({ args }) => String(args?.["city"])));
          return Promise.resolve(
            calls.map(({ id, name }) => ({
              functionResponse: { ...(id && { id }), name: name!, response: { output: "mild" } },
            })),
          );
        },
      };
      const cities = ["Köln", "Bonn"];
      const calls = cities.map((city) => ({ name: "weather", arguments: { city } }));
      const script = { tool_calls: calls, next: { reply: "Both are mild." } };
      let text = "";
      const chunks = await models.generateContentStream({
        model,
        contents: scripted("And there?", script),
        config: { tools: [weather] },
      });
      for await (const { candidates } of chunks)
        for (const part of candidates?.[0]?.content?.parts ?? []) text += part.text ?? "";
      expect(asked).toEqual(cities);
      expect(text).toBe("Both are mild.");
    },
  );

  it.each([
    ["v1", "/v1/models/sandbox/generate-content"],
    ["v1beta", "/v1beta/models/sandbox/generate-content"],
  ])(
    "TXT-04: calls under the version prefix %s carry the key as x-goog-api-key, and are answered",
    async (apiVersion, path) => {
      const sent: { url: string; headers: Headers }[] = [];
      const { models } = new GoogleGenAI({
        apiKey: world.key,
        // v1 is the default of this SDK version.
        ...(apiVersion === "v1" ? {} : { apiVersion }),
        httpOptions: {
          baseUrl: world.url,
          fetch: (url, init) => {
            sent.push({ url: String(url), headers: new Headers(init?.headers) });
            return fetch(url, init);
          },
        },
      });
      const asked = {
        model: generateContent.model,
        contents: scripted("Hi", { reply: "Here I am." }),
      };
      expect((await models.generateContent(asked)).text).toBe("Here I am.");
      let streamed = "";
      for await (const chunk of await models.generateContentStream(asked))
        streamed += chunk.text ?? "";
      expect(streamed).toBe("Here I am.");
      expect(sent.map(({ url }) => url)).toEqual([
        `${world.url}${path}:generateContent`,
        `${world.url}${path}:streamGenerateContent?alt=sse`,
      ]);
      for (const { headers } of sent) {
        expect(headers.get("x-goog-api-key")).toBe(world.key);
        expect(headers.get("authorization")).toBeNull();
      }
    },
  );

  it.each(["v1", "v1beta"])(
    "TXT-04 ERR-01: under %s, models are listed and read in Google's format",
    async (apiVersion) => {
      const { models } = new GoogleGenAI({
        apiKey: world.key,
        apiVersion,
        httpOptions: { baseUrl: world.url },
      });
      const listed: Model[] = [];
      for await (const model of await models.list()) listed.push(model);
      const expected = {
        name: "models/sandbox/generate-content",
        inputTokenLimit: 200_000,
        outputTokenLimit: 32_000,
        supportedActions: ["generateContent", "countTokens"],
      };
      expect(listed).toContainEqual(expect.objectContaining(expected));
      expect(await models.get({ model: "sandbox/generate-content" })).toMatchObject(expected);
      expect(await models.get({ model: "models/sandbox/generate-content" })).toMatchObject(
        expected,
      );
      const error = await failureOf(models.get({ model: "sandbox/nothing" }));
      expect(error).toMatchObject({ name: "ApiError", status: 404 });
      expect(JSON.parse(error.message)).toMatchObject({
        error: { code: 404, status: "NOT_FOUND" },
      });
    },
  );
});
