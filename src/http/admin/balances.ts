/** Balances over the management API: of one workspace, and of all in one list. docs/management.md. */
import {
  listByAvailable,
  readSettledBalances,
  sumBalances,
  visibilityOf,
  workspaceKind,
  type Balance,
} from "../../admin/index.ts";
import { Type } from "../../base/json-schema.ts";
import { formatUsd } from "../../base/money.ts";
import {
  getWorkspace,
  listWorkspaces,
  notFound,
  renderCreditLine,
  unlimited,
  type Workspace,
} from "../../tenancy/index.ts";
import { usd } from "../shapes/schema.ts";
import { readRoute } from "./read-route.ts";
import { route } from "./route.ts";
import {
  creditLine,
  filterText,
  pageOfQuery,
  pageQuery,
  pageSchema,
  renderPage,
  strict,
} from "./schemas.ts";

const balance = Type.Object({
  object: Type.Literal("balance"),
  workspace_id: Type.String(),
  workspace_name: Type.String(),
  credits: usd("All credits, minus removed credit."),
  charged: usd("All charges."),
  held: usd("Reservations of calls and tasks in flight."),
  credit_line: creditLine,
  available: Type.String({
    pattern: String.raw`^(-?\d+(\.\d+)?|unlimited)$`,
    description: 'credits + credit_line - charged - held; "unlimited" with such a credit line.',
    examples: ["24.00125"],
  }),
});

const sum = Type.Object(
  {
    workspaces: Type.Integer(),
    credits: usd("All credits, minus removed credit."),
    charged: usd("All charges."),
    held: usd("All reservations, including the unused part of allowances."),
  },
  { description: "The sum of all matching workspaces. On the first page only." },
);

const render = ({ id, name }: Pick<Workspace, "id" | "name">, now: Balance): object => ({
  object: "balance",
  workspace_id: id,
  workspace_name: name,
  credits: formatUsd(now.creditsNano),
  charged: formatUsd(now.chargedNano),
  held: formatUsd(now.heldNano),
  credit_line: renderCreditLine(now.creditLineNano),
  available: now.creditLineNano === null ? unlimited : formatUsd(now.availableNano),
});

const one = readRoute({
  path: "/workspaces/{id}/balance",
  operationId: "getBalance",
  summary: "The balance of a workspace",
  action: "balance.read",
  answer: { name: "Balance", schema: balance },
  kind: workspaceKind,
  load: (services, { id }) => getWorkspace(services, id!),
  async render({ database }, workspace) {
    const balances = await readSettledBalances(database, [workspace.id]);
    const now = balances.get(workspace.id);
    if (now === undefined) throw notFound(workspaceKind.label);
    return { body: render(workspace, now) };
  },
});

async function sumOf(...asked: Parameters<typeof sumBalances>): Promise<object> {
  const { workspaces, creditsNano, chargedNano, heldNano } = await sumBalances(...asked);
  return {
    workspaces,
    credits: formatUsd(creditsNano),
    charged: formatUsd(chargedNano),
    held: formatUsd(heldNano),
  };
}

const list = route({
  method: "GET",
  path: "/balances",
  operationId: "listBalances",
  summary: "The balances of workspaces",
  description:
    "The same numbers as for one workspace, all of a page from one moment. Newest workspace first, or lowest balance first. In the second order a workspace whose balance changes meanwhile may appear twice or not at all.",
  action: "balance.read",
  query: strict({
    organization_id: filterText,
    order: Type.Optional(
      Type.Unsafe<"available">({
        type: "string",
        enum: ["available"],
        description: "Lowest balance first, workspaces without limit last.",
      }),
    ),
    ...pageQuery,
  }),
  answer: {
    name: "Balances",
    schema: Type.Object({ ...pageSchema(balance).properties, sum: Type.Optional(sum) }),
  },
  async handle({ services, actor, query }) {
    const filter = {
      organizationId: query.organization_id,
      visibility: visibilityOf(actor, "balance.read"),
    };
    const asked = { ...pageOfQuery(query), ...filter };
    const page =
      query.order === undefined
        ? await listWorkspaces(services, asked)
        : await listByAvailable(services.database, asked);
    const balances = await readSettledBalances(
      services.database,
      page.records.map(({ id }) => id),
    );
    const data = page.records.flatMap((workspace) => {
      const now = balances.get(workspace.id);
      return now === undefined ? [] : [render(workspace, now)];
    });
    const all = query.cursor === undefined ? await sumOf(services.database, filter) : undefined;
    return { body: { ...renderPage(page, data), ...(all && { sum: all }) } };
  },
});

export const balanceRoutes = [one, list];
