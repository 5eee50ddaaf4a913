/**
 * Refusals of our account or key that neither status nor type tells: Anthropic has 400 for an account without money, xAI for a
 * wrong key, DashScope for an unpaid bill. They are ours, not the caller's, who reads nothing of them. docs/routing.md.
 */

const codes =
  /^(invalid_?api_?key|authentication|arrearage|access_?denied|invalid_?account|account_|account_?overdue|set_?limit_?exceeded|quota_?exceeded|insufficient_quota|credit_balance|billing_|organization_restricted|(organization|project)_spend_limit)/i;

/** Anchored, because a message may quote a prompt. */
const said =
  /^(incorrect api key provided|your team .{0,80}(credits|spending limit)|your credit balance is too low|you have reached your specified api usage limits|this organization has been disabled|user location is not supported)/i;

/** As Z.ai says with 429, as of a limited rate, and MiniMax with 500. */
const noMoney = /^(insufficient balance|余额不足)/i;

/** Whether a refusal is of an account without money, whatever its status. */
export const lacksMoney = (message: string): boolean => noMoney.test(message);

/** Whether a refusal is of our account or key, by the vendor's code or words. */
export const isAboutAccount = (code: string, message: string): boolean =>
  codes.test(code) || said.test(message) || lacksMoney(message);
