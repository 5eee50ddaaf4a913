import { expect, it } from "vitest";
import { statusOf } from "../../src/cli/keys.ts";

it.each([
  ["active", null, "active"],
  ["active", "2999-01-01T00:00:00.000Z", "active"],
  ["active", "2020-01-01T00:00:00.000Z", "expired"],
  ["revoked", "2020-01-01T00:00:00.000Z", "revoked"],
])("keys list shows a key that is %s and expires %s as %s", (status, expires_at, told) => {
  expect(statusOf({ status, expires_at })).toBe(told);
});
