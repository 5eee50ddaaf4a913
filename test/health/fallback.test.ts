/** A fallback is an attempt like the first: checks, changes, reports, charges and logs are its own. T76; docs/routing.md. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { json } from "../support/recorder.ts";
import { chat } from "../rows/protocols.ts";
import {
  answering,
  costAtFirstNano,
  costAtSecondNano,
  startWorld,
  type World,
} from "../rows/world.ts";

const offer = (provider: string, protocol: string, factor: number) =>
  `      - { provider: ${provider}, protocol: ${protocol}, upstream_model: talk-2024-11-20, price: { input: "${factor}", cache_read: "${factor / 10}", cache_write: "${factor * 1.25}", output: "${factor * 10}" } }`;

let world: World;
beforeAll(async () => {
  world = await startWorld({
    models: [
      "  - id: acme/mixed",
      "    kind: text",
      "    endpoints: [chat_completions]",
      "    context_length: 100000",
      "    max_output_tokens: 8000",
      "    offers:",
      offer("first", "chat", 1),
      offer("second", "messages", 2),
    ].join("\n"),
  });
});
afterAll(() => world.close());

it("T76: conversion, dropped fields, key, price, limits and log belong to the attempt that answers", async () => {
  const rateLimits = { requestsPerMinute: 10, tokensPerMinute: 10_000 };
  const { key } = await world.makeKey({ rateLimits });
  const ask = async () => {
    const before = await world.charged();
    const answer = await world.call(chat, { key, model: "acme/mixed:@price", extra: { seed: 7 } });
    expect(answer.status).toBe(200);
    const { gw } = (await answer.json()) as { gw?: { droppedParams: string[] } };
    const { provider, dropped, attempts } = await world.row(answer);
    const charged = (await world.charged()) - before;
    return {
      told: gw?.droppedParams ?? [],
      left: Number(answer.headers.get("x-ratelimit-remaining-requests")),
      provider,
      dropped: dropped ?? [],
      charged,
      asked: attempts.map((one) => one.provider),
    };
  };
  world.answer(answering);
  expect(await ask()).toEqual({
    told: [],
    left: 9,
    provider: "first",
    dropped: [],
    charged: costAtFirstNano,
    asked: ["first"],
  });
  expect(world.first.requests[0]!.body["seed"]).toBe(7);

  world.first.answer(json({ error: { message: "down" } }, 500));
  expect(await ask()).toEqual({
    told: ["seed"],
    left: 8,
    provider: "second",
    dropped: ["seed"],
    charged: costAtSecondNano,
    asked: ["first", "second"],
  });
  const [request] = world.second.requests;
  expect(request!.path).toBe("/v1/messages");
  expect(request!.body).not.toHaveProperty("seed");
  expect(request!.headers["x-api-key"] ?? request!.headers.authorization).toContain(
    "second-secret",
  );
  // Both calls used their tokens once: 120 each.
  const next = await world.call(chat, { key, model: "acme/none" });
  expect(next.headers.get("x-ratelimit-remaining-tokens")).toBe("9760");
});
