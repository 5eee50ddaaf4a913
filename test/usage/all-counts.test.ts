/** Calls with every count that a usage can have: similar ones are added up number by number, and no number is left out. */
import { expect, it } from "vitest";
import { idTime } from "../../src/base/ids.ts";
import type { Usage } from "../../src/base/usage.ts";
import { createRequestLog } from "../../src/request-log/index.ts";
import { seesEverything } from "../../src/tenancy/index.ts";
import { foldUsage, readUsage } from "../../src/usage/index.ts";
import { addKey, addWorkspace } from "../ledger/support.ts";
import { describeDatabase, silentLog } from "../support/postgres.ts";

const usage: Required<Usage> = {
  inputTokens: 101,
  cacheReadTokens: 2,
  cacheWriteTokens: 3,
  cacheWrite1hTokens: 4,
  outputTokens: 105,
  reasoningTokens: 6,
  audioInputTokens: 7,
  audioCacheReadTokens: 8,
  imageInputTokens: 9,
  audioOutputTokens: 10,
  imageOutputTokens: 11,
  webSearches: 12,
  fileSearches: 13,
  mapSearches: 14,
  attachmentSearches: 18,
  codeRuns: 19,
  xPosts: 20,
  xProfiles: 21,
  imageToolTextTokens: 15,
  imageToolImageTokens: 16,
  imageToolOutputTokens: 17,
  explicitCache: 1,
  unbilled: 1,
};

/** By their names on the wire, for one call. */
const counts: Readonly<Record<string, number>> = {
  input_tokens: 101,
  cache_read_tokens: 2,
  cache_write_tokens: 3,
  cache_write_1h_tokens: 4,
  output_tokens: 105,
  reasoning_tokens: 6,
  audio_input_tokens: 7,
  audio_cache_read_tokens: 8,
  image_input_tokens: 9,
  audio_output_tokens: 10,
  image_output_tokens: 11,
  web_searches: 12,
  web_search_answers: 1,
  file_searches: 13,
  map_searches: 14,
  map_answers: 1,
  attachment_searches: 18,
  code_runs: 19,
  x_posts: 20,
  x_profiles: 21,
  image_tool_text_tokens: 15,
  image_tool_image_tokens: 16,
  image_tool_output_tokens: 17,
};

describeDatabase("usage of calls with every count", (open) => {
  it("has each of them for every call, of similar calls too", async () => {
    const database = await open();
    await addWorkspace(database, "w");
    await addKey(database, { workspaceId: "w", id: "k" });
    const log = createRequestLog(database, silentLog);
    const nowMs = Date.UTC(2026, 10, 20, 10);
    for (const at of [1, 2, 3, 4]) {
      log.add({
        workspaceId: "w",
        id: `req_${idTime(nowMs + at)}0000000000000000`,
        createdAt: new Date(nowMs + at),
        keyId: "k",
        model: "a/b",
        status: "succeeded",
        usage,
        costNano: 0n,
      });
      await log.flush();
    }
    const [stored] = await database.query<{ counted: number }>(
      "select count(usage_counts)::int as counted from requests",
    );
    expect(stored!.counted).toBeGreaterThan(1);
    const read = async () =>
      readUsage(database, {
        visibility: seesEverything,
        granularity: "total",
        from: new Date(nowMs - 1),
        to: new Date(nowMs + 3_600_000),
      });
    const fourfold = Object.entries(counts).map(([name, count]) => [name, 4 * count]);
    expect(await read()).toEqual([expect.objectContaining(Object.fromEntries(fourfold))]);
    await foldUsage(database);
    expect(await read()).toEqual([expect.objectContaining(Object.fromEntries(fourfold))]);
  });
});
