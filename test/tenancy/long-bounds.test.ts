/** Lists of the management API may have ten thousand names, or as many credentials as a body holds. */
import { expect, it } from "vitest";
import { credentialsOf } from "../../src/http/admin/provider-requests.ts";
import { settingBeyondBounds } from "../../src/tenancy/key-bounds.ts";
import { costMs } from "../support/cost.ts";

it("an allowlist of ten thousand models is compared with its bound in a moment", async () => {
  const names = Array.from({ length: 10_000 }, (_, at) => `acme/model-${10_000 + at}`);
  const none = { requestsPerMinute: null, tokensPerMinute: null, concurrency: null };
  const bounds = {
    disabled: false,
    modelAllowlist: names.toReversed(),
    rateLimits: none,
    expiresAt: null,
  };
  const now = { modelAllowlist: names, rateLimits: none, expiresAt: null };
  let beyond: string | undefined = "none";
  const cost = await costMs(() => (beyond = settingBeyondBounds(bounds, now)));
  expect(beyond).toBeUndefined();
  // Searching the list for each name took 0.5 seconds and more.
  expect(cost).toBeLessThan(100);
});

it("twenty thousand credentials with ids of their own are accepted in a moment", async () => {
  const all = Array.from({ length: 20_000 }, (_, at) => ({ id: `key-${at}`, api_key: "k" }));
  const cost = await costMs(() => expect(credentialsOf(undefined, all)).toHaveLength(20_000));
  // Comparing each with all earlier ones took more than a second.
  expect(cost).toBeLessThan(300);
  expect(() => credentialsOf(undefined, [...all, all[0]!])).toThrow("twice");
});
