/**
 * Detects refusals of reasoning that another vendor or account has signed or encrypted in an earlier answer. A direct route passes it on
 * unchanged, and only its origin can verify it. So another provider may accept it. T43; docs/routing.md.
 */
import type { WireError } from "../protocols/index.ts";

const codes: ReadonlySet<string> = new Set([
  "invalid_encrypted_content",
  // Sent by CLIProxyAPI.
  "thinking_signature_invalid",
]);

/** Anthropic, on each cloud; Google; OpenAI and Azure, which send no code. A missing proof is not matched: all providers refuse it. */
const messagePatterns = [
  /\binvalid `(?:signature|data)` in `(?:redacted_)?thinking` block/i,
  /\b(?:corrupted|invalid) thought[ _]signature\b/i,
  /\bthought[ _]signature is (?:not valid|invalid)\b/i,
  /\bencrypted (?:function output )?content\b.{0,200}\bcould not be (?:verified|decrypted)\b/i,
];

/** True if a refusal is about a proof from another vendor or account. */
export const isForeignProof = ({ code, message }: WireError): boolean =>
  (code !== undefined && codes.has(code)) ||
  messagePatterns.some((pattern) => pattern.test(message));
