/** What the pages of models ask for. */
import { api } from "../../api/client.ts";

const freshMs = 60_000;

/** All models at once: they are filtered here, so that typing waits for nothing. */
export const useModels = (key: string | undefined) =>
  api.useQuery(
    "get",
    "/admin/v1/models",
    { params: { query: { ...(key !== undefined && { key_id: key }) } } },
    { staleTime: freshMs },
  );

/** Some models by their ids, with their parameters. */
export const useNamed = (ids: readonly string[]) =>
  api.useQuery(
    "get",
    "/admin/v1/models",
    { params: { query: { ids: ids.join(",") } } },
    { staleTime: freshMs, enabled: ids.length > 0 },
  );
