/** Refusals of LiteLLM as an upstream: they are about the operator's key there, whatever the status. docs/routing.md. */
import { describe, expect, it } from "vitest";
import { codecs } from "../../src/protocols/index.ts";
import { outcomeOfStatus } from "../../src/upstream/index.ts";

const spent = "Budget has been exceeded! Current cost: 14.2, Max budget: 10.0";
const nested = `litellm.BadRequestError: Litellm_proxyException - ${spent}`;
const forModel = "LiteLLM Virtual Key: sk-1, key_alias: None, exceeded budget for model=gpt-9";
const denied = "key not allowed to access model. This key can only access models=['a']";

const outcomeOf = (status: number, message: string, type: string | null) => {
  const error = { message, type, param: null, code: String(status) };
  const wire = codecs.chat.decodeError(status, { error });
  return outcomeOfStatus({ status, wire, headers: {} }, 0);
};

describe("LiteLLM's refusal of the operator's key", () => {
  it.each([
    ["a budget, in older versions", 400, spent, "budget_exceeded"],
    ["a budget", 429, spent, "budget_exceeded"],
    ["the budget of a LiteLLM behind it", 400, nested, null],
    ["the budget of a model", 429, forModel, "budget_exceeded"],
    ["access to a model, in older versions", 401, denied, "key_model_access_denied"],
    ["access to a model", 403, denied, "team_model_access_denied"],
  ])(
    "for %s pauses it for this model, and callers read no figures",
    (_what, status, message, type) => {
      const outcome = outcomeOf(status, message, type);
      expect(outcome).toMatchObject({
        fault: "provider",
        retrySame: false,
        hurtsHealth: false,
        credential: { of: "model" },
        error: { code: "upstream_error" },
      });
      expect(outcome.error.message).not.toMatch(/budget|14\.2|models=/i);
    },
  );

  it("for an end user's budget is the caller's", () => {
    const message = "ExceededBudget: End User=ann over budget. Spend=2, Budget=1";
    expect(outcomeOf(400, message, "budget_exceeded")).toMatchObject({ fault: "caller" });
  });

  it("names no parameter if it is about none", () => {
    const error = { message: "Bad", type: "None", param: "None", code: "None" };
    expect(codecs.chat.decodeError(400, { error })).toEqual({ message: "Bad" });
  });
});
