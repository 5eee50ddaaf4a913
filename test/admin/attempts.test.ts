/** Attempts of calls and tasks, as the management API and exports show them. */
import { expect, it } from "vitest";
import { renderAttempts } from "../../src/admin/index.ts";

const attempt = {
  provider: "one",
  outcome: "asked",
  credential: "main",
  upstream_model: "clip-1",
  message: "busy",
  key_hash: "0a1b2c3d",
};

it("T84: attempts never show the hash of a key; credential, upstream model and message are for administrators only", () => {
  const { key_hash: _hash, credential: _credential, upstream_model: _model, ...others } = attempt;
  const { message: _message, ...seen } = others;
  expect(renderAttempts([attempt], false)).toEqual([seen]);
  expect(renderAttempts([attempt], true)).toEqual([
    { ...others, credential: "main", upstream_model: "clip-1" },
  ]);
});
