/** Embedding answers with status 200 that are none. T60. */
import { expect, it } from "vitest";
import { embeddingRoute } from "../../src/protocols/embeddings.ts";

const route = embeddingRoute({ body: { input: "Hi" }, model: "acme/vector", upstreamModel: "v" });
const vector = { object: "embedding", index: 0, embedding: [0.5] };

it.each([
  [{ data: [] }, true],
  [{ data: [null] }, true],
  [{ data: [vector], error: { message: "no" } }, true],
  [{ data: [vector], error: null }, false],
  [{ data: [vector] }, false],
])("T60: %j is no answer: %s", (answer, isFailure) => {
  expect(route.failure(answer) !== undefined).toBe(isFailure);
});
