/** The API paths whose responses a change affects. Their queries are read again. */
import type { QueryClient } from "@tanstack/react-query";

const audit = "/admin/v1/audit";

export const invalidatedPaths = {
  key: ["/admin/v1/keys", audit],
  member: ["/admin/v1/workspaces/{id}/members", "/admin/v1/keys", audit],
  workspace: ["/admin/v1/workspaces", "/admin/v1/keys", audit],
  organization: ["/admin/v1/organizations", "/admin/v1/workspaces", "/admin/v1/keys", audit],
  delivery: ["/admin/v1/webhook_deliveries", audit],
  token: ["/admin/v1/tokens"],
  session: ["/admin/v1/sessions"],
  task: ["/admin/v1/tasks", "/admin/v1/requests", audit],
  provider: ["/admin/v1/providers", "/admin/v1/models", "/admin/v1/vendors", audit],
  catalog: ["/admin/v1/catalog", "/admin/v1/models", "/admin/v1/vendors", audit],
} as const satisfies Record<string, readonly string[]>;

/** Reads again all shown queries at or below these paths; others are read when needed. */
export const refetchPaths = (queries: QueryClient, paths: readonly string[]): Promise<void> =>
  queries.invalidateQueries({
    predicate: ({ queryKey: [, path] }) =>
      typeof path === "string" && paths.some((one) => path === one || path.startsWith(`${one}/`)),
  });
