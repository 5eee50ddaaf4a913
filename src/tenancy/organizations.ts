/** Organizations: the outermost layer of model allowlists and routing. Requirements: CAP, ALLOW, ROUTE. */
import { camelCased, type SnakeCased } from "../base/casing.ts";
import { newId } from "../base/ids.ts";
import { changeRow } from "./changes.ts";
import { checkName, mergeAllowlist } from "./checks.ts";
import type { ChangeContext, Page, PageRequest, ReadOptions, RowContext } from "./context.ts";
import { cursorOf, onlyRow, pageLimit, pageOf, recordById, type RowKind } from "./context.ts";
import type { RoutingJson, RoutingPatch, RoutingSettings } from "./routing-settings.ts";
import { followRouting, mergeRouting, renderRouting, routingOfRow } from "./routing-settings.ts";

export interface Organization {
  readonly id: string;
  readonly name: string;
  readonly modelAllowlist: readonly string[];
  readonly routing: RoutingSettings;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

type OrganizationRow = SnakeCased<Omit<Organization, "routing">> & {
  readonly routing: Partial<RoutingJson> | null;
};

/** Absent: unchanged. null: none. */
export interface OrganizationPatch {
  readonly name?: string | undefined;
  readonly modelAllowlist?: readonly string[] | null | undefined;
  readonly routing?: RoutingPatch | null | undefined;
}

const columns = "id, name, model_allowlist, routing, created_at, updated_at";

const ofRow = (row: OrganizationRow): Organization => ({
  ...camelCased(row),
  routing: routingOfRow(row.routing),
});

const kind: RowKind<OrganizationRow, Organization> = {
  table: "organizations",
  columns,
  what: "organization",
  record: ofRow,
};

/** @throws GatewayError `missing_required_parameter`, `invalid_value` */
export async function createOrganization(
  context: RowContext,
  input: OrganizationPatch & { readonly name: string },
): Promise<Organization> {
  const nowMs = context.clock.now();
  const rows = await context.database.query<OrganizationRow>(
    `insert into organizations (id, name, model_allowlist, routing, created_at, updated_at)
     values ($1, $2, $3::jsonb, $4::jsonb, $5, $5) returning ${columns}`,
    [
      newId("org", nowMs),
      checkName(input.name),
      JSON.stringify(mergeAllowlist([], input.modelAllowlist)),
      JSON.stringify(renderRouting(mergeRouting(followRouting, input.routing))),
      new Date(nowMs),
    ],
  );
  return ofRow(onlyRow(rows, "organization"));
}

/** @throws GatewayError `not_found` */
export const getOrganization = (
  context: RowContext,
  id: string,
  options?: ReadOptions,
): Promise<Organization> => recordById(kind, context, id, options);

/** Newest first. With `organizationIds`, only those. */
export async function listOrganizations(
  context: RowContext,
  page: PageRequest & { readonly organizationIds?: readonly string[] | undefined },
): Promise<Page<Organization>> {
  const limit = pageLimit(page.limit);
  const rows = await context.database.query<OrganizationRow>(
    `select ${columns} from organizations where ($1::text is null or id < $1)
       and ($3::text[] is null or id = any($3)) order by id desc limit $2`,
    [cursorOf(page, "org"), limit + 1, page.organizationIds ?? null],
  );
  return pageOf(rows.map(ofRow), limit);
}

/** Changes only the fields that the patch names. @throws GatewayError `not_found`, `invalid_value` */
export function changeOrganization(
  context: ChangeContext,
  id: string,
  patch: OrganizationPatch,
): Promise<Organization> {
  return changeRow(context.database, "organizations", async (tx) => {
    const current = await recordById(kind, { database: tx }, id, { forUpdate: true });
    const allowlist = mergeAllowlist(current.modelAllowlist, patch.modelAllowlist);
    const rows = await tx.query<OrganizationRow>(
      `update organizations set name = $2, model_allowlist = $3::jsonb, routing = $4::jsonb, updated_at = $5
       where id = $1 returning ${columns}`,
      [
        id,
        patch.name === undefined ? current.name : checkName(patch.name),
        JSON.stringify(allowlist),
        JSON.stringify(renderRouting(mergeRouting(current.routing, patch.routing))),
        new Date(context.clock.now()),
      ],
    );
    return ofRow(onlyRow(rows, "organization"));
  });
}
