/** What a key's page asks for. */
import { api, type Schemas } from "../../api/client.ts";

export type Key = Schemas["KeyRecord"];

export const useKey = (id: string) =>
  api.useQuery("get", "/admin/v1/keys/{id}", { params: { path: { id } } });
