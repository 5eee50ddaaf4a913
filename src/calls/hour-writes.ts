/** Cache writes for an hour in chat, which only some gateways in front of Claude report apart. T54; docs/models.md "Prices". */
import type { TextOffer } from "../catalog/index.ts";
import { isClaude } from "../protocols/index.ts";
import type { Metered } from "./meter.ts";

/** True if the offer's writes may be for an hour although its protocol does not report that. */
export const isClaudeInChat = ({
  protocol,
  upstreamModel,
}: Pick<TextOffer, "protocol" | "upstreamModel">): boolean =>
  protocol === "chat" && isClaude(upstreamModel);

/** Counts all cache writes as those for an hour, unless the vendor reports them apart. */
export function withHourWrites({ usage, source }: Metered): Metered {
  const { cacheWriteTokens, cacheWrite1hTokens } = usage;
  if (cacheWrite1hTokens > 0) return { usage, source };
  return { usage: { ...usage, cacheWrite1hTokens: cacheWriteTokens }, source };
}
