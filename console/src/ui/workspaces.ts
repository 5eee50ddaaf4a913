/** All workspaces, and all organizations, that the reader sees, newest first. */
import { client, type Schemas } from "../api/client.ts";
import { pageSize, useAllPages, type AllPages } from "./all-pages.ts";

export type Workspace = Schemas["Workspaces"]["data"][number];

/** Two thousand rows. Search finds further workspaces (Ctrl K). */
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

export const useOrganizations = (): AllPages<Schemas["Organization"]> =>
  useAllPages({
    key: ["get", "/admin/v1/organizations", "all"],
    pagesMax,
    async read(cursor, signal) {
      const params = { query: { limit: pageSize, cursor } };
      return (await client.GET("/admin/v1/organizations", { params, signal })).data!;
    },
  });

/** Choices that a field lists at once; typing searches all. */
export const choicesMax = 100;

/** Ids of the disabled workspaces: calls of their keys are refused. */
export function useDisabledWorkspaces(): ReadonlySet<string> {
  const disabled = (useWorkspaces().rows ?? []).filter(({ status }) => status === "disabled");
  return new Set(disabled.map(({ id }) => id));
}

/** Workspace names by id. */
export function useWorkspaceNames(): ReadonlyMap<string, string> {
  return new Map((useWorkspaces().rows ?? []).map(({ id, name }) => [id, name]));
}
