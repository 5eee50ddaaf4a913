/**
 * Detects refusals of the operator's account or key that status and type do not show. Anthropic sends 400 for an account without money, xAI
 * for a wrong key, DashScope for an unpaid bill. They are not the caller's fault, so the caller does not see them. docs/routing.md.
 */
import type { WireError } from "../protocols/index.ts";

const codes =
  /^(invalid_?api_?key|authentication|arrearage|access_?denied|invalid_?account|account_|account_?overdue|set_?limit_?exceeded|quota_?exceeded|insufficient_quota|credit_balance|billing_|organization_restricted|(organization|project)_spend_limit)/i;

/** Anchored, because a message may quote a prompt. */
const messagePattern =
  /^(incorrect api key provided|your team .{0,80}(credits|spending limit)|your credit balance is too low|you have reached your specified api usage limits|this organization has been disabled|user location is not supported|gemini api free tier is not available)/i;

/** Amazon's 400 for an account that may not use Bedrock, or not this model. It means the same as 403. */
const noAccess =
  /^(operation not allowed\.?$|your account is not authorized to invoke this|access to anthropic models is not allowed from)/i;

/** Z.ai sends this with 429, as for a rate limit, and MiniMax with 500. */
const noMoney = /^(insufficient balance|余额不足)/i;

/**
 * Codes and types for an account without money or at its own spend limit. OpenAI, Moonshot, Anthropic and DashScope send them with 429, as
 * for a rate.
 */
const spent =
  /^(insufficient_quota|exceeded_current_quota_error|credit_balance_exhausted|(organization|project|enforced|contract)_spend_limit_\w+|(pre|post)paidbilloverdue|commoditynotpurchased)$/i;

/**
 * The words of Alibaba's chat endpoint for tokens per minute. Its code is OpenAI's `insufficient_quota`, and often its words are as well
 * ("You exceeded your current quota, please check your plan and billing details."): then only the link tells.
 */
const tokenRate = /\berror-code#token-limit\b|^allocated quota exceeded\b/i;

/** True if the refusal is about the account's tokens per minute, whatever its code says. */
export const isTokenRate = (message: string): boolean => tokenRate.test(message);

/** True if the operator's account may spend nothing more: waiting does not help, as it does for a rate. */
export const hasSpentAll = ({ code = "", type = "", message }: WireError): boolean =>
  !isTokenRate(message) && (spent.test(code) || spent.test(type));

/** True if a refusal with 400 is about the account's access to a model. */
export const lacksAccess = (message: string): boolean => noAccess.test(message);

/** LiteLLM's budget of a key, a team or a model, also behind another LiteLLM. Figures of the operator's account follow. */
const budget = /^(?:litellm\.\w+: \S+ - )?budget has been exceeded\b/i;
/** The budget of the end user that a request names: other requests may pass. */
const endUsersBudget = /\bend user=/i;

/** True if the operator's budget at LiteLLM is spent. LiteLLM says so with 400 in older versions, and with 429. */
export const hasSpentBudget = ({ type, message }: WireError): boolean =>
  budget.test(message) || (type === "budget_exceeded" && !endUsersBudget.test(message));

/** True if the operator's key at LiteLLM may not call this model: older versions send 401, as for a wrong key. */
export const lacksModel = ({ type = "" }: WireError): boolean =>
  type.endsWith("_model_access_denied");

/** True if a refusal is due to an account without money, whatever its status. */
export const lacksMoney = (message: string): boolean => noMoney.test(message);

/** True if a refusal is due to the operator's account or key, by the vendor's code or message. */
export const isAboutAccount = (code: string, message: string): boolean =>
  !isTokenRate(message) &&
  (codes.test(code) || spent.test(code) || messagePattern.test(message) || lacksMoney(message));
