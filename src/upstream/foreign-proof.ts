/**
 * Refusals of reasoning that another vendor or another account proved: a signature, or encrypted content, of an earlier answer. On a
 * direct route it goes on as it came, and nobody but who gave it knows it. So another provider may take it. T43; docs/routing.md.
 */
import type { WireError } from "../protocols/index.ts";

const codes: ReadonlySet<string> = new Set([
  "invalid_encrypted_content",
  // CLIProxyAPI's.
  "thinking_signature_invalid",
]);

/** Anthropic, on each cloud; Google; OpenAI and Azure, which names no code and quotes the content. That a proof is missing is another thing: every provider says so. */
const said = [
  /\binvalid `(?:signature|data)` in `(?:redacted_)?thinking` block/i,
  /\b(?:corrupted|invalid) thought[ _]signature\b/i,
  /\bthought[ _]signature is (?:not valid|invalid)\b/i,
  /\bencrypted content\b.{0,200}\bcould not be (?:verified|decrypted)\b/i,
];

/** Whether a refusal is of a proof that another vendor or account gave. */
export const isForeignProof = ({ code, message }: WireError): boolean =>
  (code !== undefined && codes.has(code)) || said.some((pattern) => pattern.test(message));
