/** The meaning of media vendors' refusals for the caller, for failover and for health. */
import { describe, expect, it } from "vitest";
import { outcomeOfRefusal } from "../../src/upstream/index.ts";
import { dialectOf } from "./media-support.ts";

type Row = readonly [
  title: string,
  status: number,
  code: string | undefined,
  message: string,
  expected: object,
];

const caller = { fault: "caller", retrySame: false, hurtsHealth: false, uncertain: false };
const argument = { ...caller, code: "invalid_argument" };
const content = { ...caller, code: "content_policy_violation" };
const ours = {
  fault: "provider",
  retrySame: false,
  hurtsHealth: true,
  credential: undefined,
  uncertain: false,
  code: "upstream_error",
};
/** The provider is healthy, but refuses this key or account; another may work. */
const account = { ...ours, hurtsHealth: false, credential: { of: "credential" } };

/** The key may lack only this model. */
const accessHere = { ...account, credential: { of: "model" } };

const secret = "account 2100 of sk-abc owes money";

const rows: readonly Row[] = [
  ["openai, a bad value", 400, "invalid_value", "Bad size.", { ...argument, message: "Bad size." }],
  [
    "openai, moderation",
    400,
    "moderation_blocked",
    "Rejected.",
    { ...content, message: "Rejected." },
  ],
  ["openai, our key", 401, "invalid_api_key", secret, account],
  ["openai, our balance", 429, "insufficient_quota", secret, account],
  ["openai, our limit of spending", 429, "organization_spend_limit_exceeded", secret, account],
  [
    "openai, our billing, said as a bad request",
    400,
    "billing_hard_limit_reached",
    secret,
    account,
  ],
  [
    "openai, its rate",
    429,
    "rate_limit_exceeded",
    secret,
    {
      fault: "provider",
      retrySame: true,
      hurtsHealth: false,
      credential: { of: "model" },
      uncertain: false,
      code: "rate_limit_exceeded",
    },
  ],
  ["xai, a bad value", 400, "Client specified an invalid argument", "Bad ratio.", argument],
  [
    "xai, our key, said as a bad request",
    400,
    undefined,
    "Incorrect API key provided: sk-abc",
    account,
  ],
  ["xai, our credits", 429, "x", "Your team 12 has used all available credits", account],
  [
    "xai, a prompt that quotes such words",
    400,
    "c",
    'Bad prompt: "incorrect api key provided"',
    argument,
  ],
  ["xai, moderation", 400, "imagine:content-moderated", "Rejected.", content],
  [
    "xai, moderation, in words alone",
    400,
    "Client specified an invalid argument",
    "Generated image rejected by content moderation.",
    content,
  ],
  [
    "xai, moderation, said as if our key were refused",
    403,
    "The caller does not have permission to execute the specified operation",
    "Content violates usage guidelines. Team: team-1, API key ID: sk-abc, Model: m, Failed check: SAFETY_CHECK_TYPE_BIO",
    {
      ...content,
      message: "Content violates usage guidelines. Model: m, Failed check: SAFETY_CHECK_TYPE_BIO",
    },
  ],
  [
    "xai, a prompt that quotes moderation",
    400,
    "c",
    'Bad prompt: "content violates usage guidelines"',
    argument,
  ],
  ["azure, moderation", 400, "contentFilter", "Filtered.", content],
  [
    "openrouter, moderation at OpenAI, in words alone",
    400,
    undefined,
    "Your request was rejected as a result of our safety system.",
    content,
  ],
  [
    "openai, a prompt that quotes moderation",
    400,
    "invalid_value",
    'Bad prompt: "your request was rejected by the safety system"',
    argument,
  ],
  ["ark, a risk", 400, "InputImageRiskDetection", "Risky.", content],
  ["dashscope, moderation", 400, "DataInspectionFailed", "Unsafe.", content],
  [
    "dashscope, a picture whose address it cannot fetch",
    400,
    "InvalidParameter.DataInspection",
    "Unable to download the media resource during the data inspection process.",
    argument,
  ],
  [
    "dashscope, a picture that it cannot read",
    400,
    "InvalidParameter.DataInspection",
    "Failed to decode the image during the data inspection.",
    argument,
  ],
  ["dashscope, a protected figure", 400, "IPInfringementSuspect", "Infringes.", content],
  ["dashscope, our bill, said as a bad request", 400, "Arrearage", secret, account],
  ["dashscope, our bill, said as a rate", 429, "PrepaidBillOverdue", secret, account],
  ["dashscope, our access", 403, "AccessDenied.Unpurchased", secret, accessHere],
  [
    "dashscope, a model that it does not serve as a task",
    403,
    "AccessDenied",
    "current user api does not support asynchronous calls.",
    accessHere,
  ],
  ["dashscope, our model", 404, "ModelNotFound", secret, ours],
  [
    "dashscope, throttled",
    429,
    "Throttling.RateQuota",
    secret,
    {
      fault: "provider",
      retrySame: true,
      hurtsHealth: false,
      credential: { of: "model" },
      uncertain: false,
      code: "rate_limit_exceeded",
    },
  ],
  ["ark, moderation", 400, "InputTextSensitiveContentDetected", "Sensitive.", content],
  ["ark, our account", 403, "AccountOverdueError", secret, account],
  ["ark, our own limit", 429, "SetLimitExceeded", secret, account],
  ["ark, our endpoint", 404, "InvalidEndpointOrModel.NotFound", secret, ours],
  ["too large", 413, "BadRequest.TooLarge", "Too large.", argument],
  ["a fault", 500, "InternalError", secret, { ...ours, retrySame: true }],
  [
    "an overload",
    503,
    "ModelServingError",
    secret,
    { ...ours, retrySame: true, code: "no_provider_available" },
  ],
  [
    "a gateway that gave up, so that the job may exist",
    504,
    undefined,
    secret,
    { ...ours, uncertain: true, code: "upstream_timeout" },
  ],
  ["a gateway that lost its vendor", 502, undefined, secret, { ...ours, uncertain: true }],
  ["a success that cannot be read", 200, undefined, secret, { ...ours, uncertain: true }],
];

describe("a media vendor's refusal", () => {
  it.each(rows)("has the right outcome: %s (%i)", (...[, status, code, message, expected]) => {
    const outcome = outcomeOfRefusal({ state: "refused", status, code, message });
    expect(outcome).toMatchObject(expected);
    expect(outcome.message).not.toContain("sk-abc");
    expect(outcome.message).not.toBe("");
  });
});

it("a job that failed because DashScope could not fetch a file for its inspection is not said to be blocked", () => {
  const message = "Download the media resource timed out during the data inspection process.";
  const output = {
    task_status: "FAILED",
    code: "InvalidParameter.DataInspection",
    message,
  };
  const body = Buffer.from(JSON.stringify({ output }));
  const state = dialectOf("dashscope", "video").readPoll(200, body, "job-1");
  expect(state).toEqual({ state: "failed", code: "invalid_argument", message });
});
