/** Cache writes for an hour in chat: counted as such unless the vendor reports them apart. T54. */
import { expect, it } from "vitest";
import { noUsage } from "../../src/base/usage.ts";
import { isClaudeInChat, withHourWrites } from "../../src/calls/hour-writes.ts";

it("T54: cache writes count as those for an hour, unless the vendor reports these apart", () => {
  const writes = { ...noUsage, inputTokens: 100, cacheWriteTokens: 30 };
  const counted = (cacheWrite1hTokens: number) =>
    withHourWrites({ usage: { ...writes, cacheWrite1hTokens }, source: "upstream" });
  expect(counted(0)).toEqual({
    usage: { ...writes, cacheWrite1hTokens: 30 },
    source: "upstream",
  });
  expect(counted(4)).toEqual({ usage: { ...writes, cacheWrite1hTokens: 4 }, source: "upstream" });
});

it("T54: writes may be for an hour in chat with Claude alone", () => {
  const at = (protocol: "chat" | "messages", upstreamModel: string) =>
    isClaudeInChat({ protocol, upstreamModel });
  expect(at("chat", "anthropic/claude-sonnet-4-6")).toBe(true);
  expect(at("messages", "claude-sonnet-4-6")).toBe(false);
  expect(at("chat", "gpt-5.4")).toBe(false);
});
