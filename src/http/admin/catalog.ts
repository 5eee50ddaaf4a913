/**
 * The list of models behind the vendors' presets: its versions, adopting a newer one, rollback. Also lists the vendors themselves.
 * docs/models.md.
 */
import { wireCased } from "../../base/casing.ts";
import { Type, type Static } from "../../base/json-schema.ts";
import { permit, writeAudit } from "../../admin/index.ts";
import { GatewayError } from "../../base/errors.ts";
import {
  listDiff,
  listedModels,
  listText,
  readPublicList,
  shippedList,
  vendorRows,
  type Catalog,
  type ListDiff,
  type ListMistake,
} from "../../catalog/index.ts";
import {
  addCatalogList,
  catalogList,
  catalogLists,
  catalogVersion,
  lockCatalogLists,
  shippedVersion,
  useCatalogList,
  type Queryable,
} from "../../storage/index.ts";
import { timestamp } from "../shapes/schema.ts";
import { route, type AdminRequest } from "./route.ts";
import { fullListSchema, nullable, strict, fullList } from "./schemas.ts";

const vendor = Type.Object({
  id: Type.String({ description: "The vendor's name, also the provider's id." }),
  name: Type.String(),
  active: Type.Boolean({ description: "Whether all its required variables are set." }),
  local: Type.Boolean({
    description: "A local server, whose models the gateway reads from the server.",
  }),
  variable: Type.String({ description: "The variable that holds its key." }),
  aliases: Type.Array(Type.String(), { description: "Variables that are accepted instead." }),
  missing: Type.Array(Type.String(), { description: "Required variables that are not set." }),
  base_url: Type.String(),
  base_url_variable: Type.String({ description: "The variable that sets another address." }),
  docs: Type.String(),
  models: Type.Integer({ description: "The number of its models with a price." }),
  unpriced: Type.Array(Type.String(), {
    description:
      "Models without a price: they are called only if the configuration file prices them.",
  }),
});

const listInForce = async (database: Queryable): Promise<string> =>
  (await catalogList(database)) ?? shippedList();

const offeredBy = ({ models }: Catalog, provider: string): number =>
  [...models.values()].filter(({ offers }) => offers.some((one) => one.provider === provider))
    .length;

const vendors = route({
  method: "GET",
  path: "/vendors",
  operationId: "listVendors",
  summary: "The vendors that need only an environment variable, and which are active",
  action: "vendor.read",
  query: strict({}),
  answer: { name: "Vendors", schema: fullListSchema(vendor) },
  errors: ["insufficient_permissions"],
  async handle({ services, actor }) {
    permit(actor, "vendor.read", {}, "vendors");
    const states = services.vendors(await listInForce(services.database));
    return fullList(
      states.map(({ baseUrl, baseUrlVariable, ...state }) => ({
        ...state,
        models: state.local ? offeredBy(services.catalog(), state.id) : state.models,
        base_url: baseUrl,
        base_url_variable: baseUrlVariable,
      })),
    );
  },
});

const version = Type.Object({
  version: Type.Integer({
    description: "0: the list shipped with this version of Tollgate.",
  }),
  source: Type.String({ description: "The source of the list." }),
  models: Type.Integer(),
  in_force: Type.Boolean(),
  created_at: nullable(timestamp("When it was installed; null: shipped.")),
});

const versions = route({
  method: "GET",
  path: "/catalog",
  operationId: "listCatalogVersions",
  summary: "The lists of models to which you can roll back, newest first",
  action: "catalog.read",
  query: strict({}),
  answer: { name: "CatalogVersions", schema: fullListSchema(version) },
  errors: ["insufficient_permissions"],
  async handle({ services: { database }, actor }) {
    permit(actor, "catalog.read", {}, "the catalogue");
    const inForce = await catalogVersion(database);
    const taken = (await catalogLists(database)).map((row) => ({
      ...wireCased(row),
      in_force: row.version === inForce,
    }));
    const shipped = {
      version: shippedVersion,
      source: "shipped",
      models: shippedList().trimEnd().split("\n").length,
      in_force: inForce === shippedVersion,
      created_at: null,
    };
    return fullList([...taken, shipped]);
  },
});

const price = nullable(
  Type.Unsafe<object>({
    type: "object",
    description:
      "USD per million tokens as decimal text; null: it has no price and cannot be called.",
  }),
);
const changes = Type.Array(Type.Object({ model: Type.String(), before: price, after: price }));
const change = Type.Object({
  object: Type.Literal("catalog_change"),
  version: Type.Integer({ description: "The list in force now." }),
  applied: Type.Boolean(),
  added: changes,
  gone: changes,
  dearer: changes,
  cheaper: changes,
  changed: Type.Array(Type.String(), { description: "Models with other changes." }),
});
const changeSchema = { name: "CatalogChange", schema: change };

const updateBody = strict({
  source: Type.String({ minLength: 1, maxLength: 500, description: "The source of the list." }),
  list: Type.String({
    description:
      "The text of models.dev's api.json. It is read as text, so that no price passes through a float.",
  }),
  dry_run: Type.Optional(Type.Boolean({ description: "Only report the changes." })),
});

const mistakesShown = 50;

/** Lists the mistakes, one per line, as the command line prints them. */
function mistakesText(mistakes: readonly ListMistake[]): string {
  const lines = mistakes
    .slice(0, mistakesShown)
    .map(({ line, column, path, message }) => `${line}:${column} ${path} ${message}`);
  const more = mistakes.length - lines.length;
  if (more > 0) lines.push(`and ${more} more`);
  return `The list is refused, and nothing was changed:\n${lines.join("\n")}`;
}

/** Checks the list of the body, and returns its models. @throws GatewayError with every mistake */
function readList(text: string) {
  const result = readPublicList(text, vendorRows());
  if ("mistakes" in result)
    throw new GatewayError("invalid_value", mistakesText(result.mistakes), { param: "list" });
  return result.models;
}

/** The models of a stored list, by which lists are compared. */
const modelsOf = (list: string) => listedModels(list, new Set(vendorRows().map(({ id }) => id)));

const hasNoChanges = ({ added, gone, dearer, cheaper, changed }: ListDiff): boolean =>
  [added, gone, dearer, cheaper, changed].every((list) => list.length === 0);

async function takeOver(
  request: AdminRequest<Static<typeof updateBody>, unknown>,
): Promise<Static<typeof change>> {
  const { services, actor, body, requestId } = request;
  const { database, clock } = services;
  const models = readList(body.list);
  const compared = async (reader: Queryable) => {
    const diff = listDiff(modelsOf(await listInForce(reader)), models, vendorRows());
    const version = await catalogVersion(reader);
    const answer = { object: "catalog_change", ...diff, version, applied: false };
    return { isSame: hasNoChanges(diff), answer: answer as unknown as Static<typeof change> };
  };
  if (body.dry_run === true) return (await compared(database)).answer;
  const answer = await database.transaction(async (tx) => {
    await lockCatalogLists(tx);
    const { isSame, answer: current } = await compared(tx);
    if (isSame) return current;
    const added = await addCatalogList(tx, database.signals, {
      createdAt: new Date(clock.now()),
      source: body.source,
      models: models.length,
      list: listText(models),
    });
    await writeAudit(
      { database: tx, clock },
      {
        actor,
        requestId,
        action: "catalog.change",
        object: { type: "catalog", id: String(added) },
        place: {},
        before: { version: current.version },
        after: { version: added, source: body.source },
      },
    );
    return { ...current, version: added, applied: true };
  });
  await database.signals.confirmedEverywhere();
  return answer;
}

const update = route({
  method: "POST",
  path: "/catalog",
  operationId: "updateCatalog",
  summary: "Update the list of models",
  description:
    "A list with a price that is invalid, half missing, negative or too high is refused as a whole. Only models of vendors that " +
    "have a preset are taken, and never an address. A list that changes nothing is not stored. The newest 100 of the others are.",
  action: "catalog.change",
  body: updateBody,
  example: { source: "https://models.dev/api.json", list: "{}", dry_run: true },
  answer: changeSchema,
  errors: ["insufficient_permissions"],
  async handle(request) {
    permit(request.actor, "catalog.change", {}, "the catalogue");
    return { body: await takeOver(request) };
  },
});

/** The maximum of the database's version column. */
const versionMax = 2 ** 31 - 1;
const rollbackBody = strict({
  version: Type.Integer({ minimum: 0, maximum: versionMax, description: "0: shipped." }),
});

const rollback = route({
  method: "POST",
  path: "/catalog/rollback",
  operationId: "rollbackCatalog",
  summary: "Roll back to another list of models",
  action: "catalog.change",
  body: rollbackBody,
  example: { version: 0 },
  answer: changeSchema,
  errors: ["insufficient_permissions", "not_found"],
  async handle({ services: { database, clock }, actor, body, requestId }) {
    permit(actor, "catalog.change", {}, "the catalogue");
    const [was, is] = await database.transaction(async (tx) => {
      await lockCatalogLists(tx);
      const before = await catalogVersion(tx);
      const replaced = await listInForce(tx);
      if (!(await useCatalogList(tx, database.signals, body.version)))
        throw new GatewayError(
          "not_found",
          `There is no list of models with version ${body.version}.`,
        );
      await writeAudit(
        { database: tx, clock },
        {
          actor,
          requestId,
          action: "catalog.change",
          object: { type: "catalog", id: String(body.version) },
          place: {},
          before: { version: before },
          after: { version: body.version },
        },
      );
      return [replaced, await listInForce(tx)] as const;
    });
    await database.signals.confirmedEverywhere();
    const diff = listDiff(modelsOf(was), modelsOf(is), vendorRows());
    return { body: { object: "catalog_change", version: body.version, applied: true, ...diff } };
  },
});

export const catalogRoutes = [vendors, versions, update, rollback];
