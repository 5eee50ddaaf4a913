/** The workspaces that the reader sees: all of them, newest first. */
import { client, type Schemas } from "../api/client.ts";
import { pageSize, useAllPages, type AllPages } from "./all-pages.ts";

export type Workspace = Schemas["Workspaces"]["data"][number];

/** Two thousand; beyond that they are found by search (Ctrl K). */
const pagesMax = 20;

export const useWorkspaces = (): AllPages<Workspace> =>
  useAllPages({
    key: ["get", "/admin/v1/workspaces", "all"],
    pagesMax,
    async read(cursor, signal) {
      const params = { query: { limit: pageSize, cursor } };
      return (await client.GET("/admin/v1/workspaces", { params, signal })).data!;
    },
  });

/** So many choices a field lists at once; what is typed is looked for in all. */
export const choicesMax = 100;

/** Their names by their ids. */
export function useWorkspaceNames(): ReadonlyMap<string, string> {
  return new Map((useWorkspaces().rows ?? []).map(({ id, name }) => [id, name]));
}
