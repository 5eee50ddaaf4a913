/** Lists of many pages: a command that looks for one workspace among thousands requests few pages. */
import { expect, it } from "vitest";
import { listAll } from "../../src/cli/api.ts";
import type { Api } from "../../src/cli/remote-api.ts";

it("lists ask for the first page without a limit, and for the largest pages after it", async () => {
  const asked: (Readonly<Record<string, string>> | undefined)[] = [];
  const rows = Array.from({ length: 250 }, (_, id) => ({ id }));
  const call: Api["call"] = ({ query }) => {
    asked.push(query);
    const from = Number(query?.["cursor"] ?? 0);
    const to = from + Number(query?.["limit"] ?? 20);
    const next_cursor = to < rows.length ? String(to) : null;
    return Promise.resolve({ data: rows.slice(from, to), next_cursor });
  };
  const api = { call } as Api;
  expect(await listAll(api, "/workspaces", { q: "x" })).toEqual(rows);
  expect(asked).toEqual([
    { q: "x" },
    { q: "x", cursor: "20", limit: "100" },
    { q: "x", cursor: "120", limit: "100" },
    { q: "x", cursor: "220", limit: "100" },
  ]);
});
