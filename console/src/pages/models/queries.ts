/** Queries of the model pages. */
import { api } from "../../api/client.ts";

const freshMs = 60_000;

/** All models at once: the browser filters them, so that typing needs no request. */
export const useModels = (key: string | undefined) =>
  api.useQuery(
    "get",
    "/admin/v1/models",
    { params: { query: { ...(key !== undefined && { key_id: key }) } } },
    { staleTime: freshMs },
  );

/** Models by id, with their parameters. */
export const useModelsById = (ids: readonly string[]) =>
  api.useQuery(
    "get",
    "/admin/v1/models",
    { params: { query: { ids: ids.join(",") } } },
    { staleTime: freshMs, enabled: ids.length > 0 },
  );
