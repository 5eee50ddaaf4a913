/** Renders keys for the management API: the record, its spend, and which of its models are out of reach now. */
import { Type } from "../../base/json-schema.ts";
import type { KeyRecord } from "../../tenancy/index.ts";
import { renderKey, renderKeySettings, usersOf } from "../../tenancy/index.ts";
import { etagOf, readSpends } from "../../admin/index.ts";
import { apiKeySchema } from "../shapes/key.ts";
import { orNull } from "../shapes/schema.ts";
import type { AdminServices } from "../services.ts";
import type { AdminAnswer } from "./route.ts";
import { layersOfWorkspace, scopeOfLayer } from "./scope.ts";
import { scopeFields } from "./shapes.ts";

const record = Type.Object({
  ...apiKeySchema.properties,
  owner_email: orNull(
    Type.String({ description: "E-mail address of `created_by`; null without an owner." }),
  ),
  disabled_by_admin: Type.Boolean({
    description: "True: an admin disabled it, and only an admin may enable it.",
  }),
  ...scopeFields,
});

const secret = {
  key: Type.String({ description: "The API key in full.", examples: ["gw_live_..."] }),
};

export const keySchema = { name: "KeyRecord", schema: record };
export const keyWithSecretSchema = {
  name: "KeyRecordWithKey",
  schema: Type.Object({ ...record.properties, ...secret }),
};

/** Renders several keys. Reads the layers once per workspace, and the spend of all keys at once. */
export async function renderKeys(
  services: AdminServices,
  records: readonly KeyRecord[],
): Promise<object[]> {
  const workspaceIds = [...new Set(records.map(({ workspaceId }) => workspaceId))];
  const layers = new Map(
    await Promise.all(
      workspaceIds.map(async (id) => [id, await layersOfWorkspace(services, id)] as const),
    ),
  );
  const ids = new Set(records.flatMap(({ createdBy }) => createdBy ?? []));
  const owners = await usersOf(services, [...ids]);
  const spends = await readSpends(services.database, "key", records);
  const catalog = services.catalog();
  return records.map((key, at) => ({
    ...renderKey(key, spends[at]!),
    owner_email: owners.get(key.createdBy ?? "")?.email ?? null,
    disabled_by_admin: key.status === "disabled" && key.bounds.disabled,
    ...scopeOfLayer(catalog, key.modelAllowlist, layers.get(key.workspaceId)!),
  }));
}

/** Answers with one key; `key` is its value in full, if it is to be shown. */
export async function keyAnswer(
  services: AdminServices,
  record: KeyRecord,
  key?: string,
): Promise<AdminAnswer> {
  const [rendered] = await renderKeys(services, [record]);
  return {
    body: key === undefined ? rendered! : { ...rendered, key },
    etag: etagOf(renderKeySettings(record)),
  };
}
